"""Makes the title of a conversation from its first question. Pure."""

from __future__ import annotations

import re

LENGTH = 60
"""Maximum number of characters of a title."""
READ_LENGTH = 20_000
"""Maximum number of characters of a question that are read for its title."""
_FENCE = re.compile(r"\s*(```|~~~)")
_CODE_LINE = re.compile(
    # Names before `=` may have indexes: `df["a"] = 1`.
    r"import [\w. ,]+|from [\w.]+ import .+|(?:async )?(?:def|class) \w.*:"
    r"|(?:for|while|if|elif|with|except|try|else)\b.*:"
    r"|[\w.]+(?:\[[^\]]*\])? *(?:[-+*/|&]|//)?= *[^=\s].*|[\w.]+\(.*|@\w[\w.]*(?:\(.*)?|[#%!)\]}].*|(?:\t| {2}).*"
    r"""|r?(?:"{3}|'{3}).*"""
)
"""A line of Python code that a person pasted without a fence."""
_NAMES = (
    # First the title of what a program draws, its docstring or its first comment; then the name of a definition.
    re.compile(r"""\b(?:title|set_title|suptitle)\(\s*r?["']([^"'\n]{3,})["']"""),
    re.compile(r"""^r?(?:"{3}|'{3})\s*([^"'\s][^"'\n]{2,})""", re.MULTILINE),
    re.compile(r"^#[#% \t]*((?!In ?\[)\w[^\n]{2,})$", re.MULTILINE),
    re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE),
    # Then the label of the y axis, and the file that the program reads or writes.
    re.compile(r"""\b(?:set_)?ylabel\(\s*r?["']([^"'\n]{3,})["']"""),
    re.compile(r"""["']([^"'\n]{1,200}\.(?:csv|tsv|xlsx?|ods|parquet|jsonl?|txt))["']"""),
    # Last, the first line that is no import.
    re.compile(r"^(?!import |from )(\S[^\n]*)$", re.MULTILINE),
)


def title_of(text: str) -> str:
    """Return a title made of the words of a question.

    Fenced code, and Python that is pasted without a fence, are left out if there are other words. If the question is
    only code, the title is what the code draws, says, defines or reads, else its first line that is no import.
    """
    prose, code = _split(text[:READ_LENGTH])
    words = " ".join(prose.split())
    if not words:
        words = next((found[1].strip() for name in _NAMES if (found := name.search(code))), "")
        words = words or " ".join(code.split()) or "Code"
    return words if len(words) <= LENGTH else words[: LENGTH - 1].rstrip() + "…"


def _split(text: str) -> tuple[str, str]:
    """Return the text that a person has written, and the code in it."""
    lines: list[tuple[str, bool]] = []
    fenced: list[str] = []
    fence = ""
    for line in text.splitlines():
        if (match := _FENCE.match(line)) and fence in ("", match[1]):
            fence = "" if fence else match[1]
        elif fence:
            fenced.append(line)
        else:
            lines.append((line, _CODE_LINE.fullmatch(line) is not None))
    pasted = [line for line, is_code in lines if is_code]
    # A single line of code, such as `x = 5`, may be the question itself.
    pasted = pasted if len(pasted) > 1 else []
    prose = [line for line, is_code in lines if not (is_code and pasted)]
    return "\n".join(prose), "\n".join(pasted + fenced)
