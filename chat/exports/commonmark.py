"""Words and code as CommonMark that reads as it was meant, whatever they hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

import comrak

#: Longer texts are not read as Markdown.
TAME_LIMIT_CHARS = 256 * 1024

_SPECIAL = re.compile(r"[\\`*_\[\]<>&~$|!#]")
_LINE_START = re.compile(r"^(?=[-+=:])|^(\d{1,9})(?=[.)])")
_LEADING_BLANKS = re.compile(r"^[ \t]+")
_FENCE = re.compile(r"^[ >\t]*?(`{3,}|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`+")
_SENTINEL = "plotline8f3b2c71sentinel"
_OPENING = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})")
_CLOSING = re.compile(r"[ \t>]*(`{3,}|~{3,})[`~]*[ \t]*\Z")
#: Code and escapes, which stay, and what begins raw HTML or an image. A run of many backticks is none that anybody
#: writes, and each length that nothing closes costs a look through the whole text.
_ARMED = re.compile(
    r"""
    ^(?:[ ]{4}|\t)[^\n]*$
    | (?<!`)(?P<ticks>`{1,8})(?!`).+?(?<!`)(?P=ticks)(?!`)
    | \\.
    | (?P<html><(?=[A-Za-z/!?])(?![A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>|[\w.+-]+@[\w.-]+>))
    | (?P<image>!\[)
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
#: What ends each kind of HTML block that blank lines do not end.
_HTML_ENDS = ("-->", "</pre>", "</script>", "</style>", "</textarea>", "?>", "]]>", ">")


def _options(*, escape: bool) -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape, options.unsafe_ = escape, not escape
    return options


_ESCAPE = _options(escape=True)
_UNSAFE = _options(escape=False)


def plain(text: str) -> str:
    """Text that reads as it was typed: nothing in it is markup, each line stays a line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(_joined([_plain_line(line) for line in lines]))


def _plain_line(line: str) -> str:
    blanks = _LEADING_BLANKS.match(line)
    width = len(blanks[0].expandtabs(4)) if blanks else 0
    rest = _SPECIAL.sub(lambda found: f"\\{found[0]}", line[len(blanks[0]) if blanks else 0 :].rstrip())
    rest = _LINE_START.sub(lambda found: f"{found[1]}\\" if found[1] else "\\", rest, count=1)
    return "&nbsp;" * width + rest if rest else ""


def _joined(lines: list[str]) -> list[str]:
    """With a hard break between lines of one paragraph."""
    after = [*lines[1:], ""]
    return [f"{line}\\" if line and following else line for line, following in zip(lines, after, strict=True)]


def unplain(text: str) -> str:
    """The inverse of `plain`, but for blanks at ends of lines."""
    text = text.replace("\\\n", "\n").replace("&nbsp;", " ")
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def in_line(text: str) -> str:
    """One line of plain text, fit for a heading or a link's words."""
    return plain(" ".join(text.split()))


def fenced(code: str, info: str = "") -> str:
    """A block of code; its fence is longer than any in it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{code}{'' if code.endswith(chr(10)) or not code else chr(10)}{fence}"


def quoted(text: str) -> str:
    """As a block quote, which also ends whatever is open in it."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def tame(text: str) -> str:
    """A model's Markdown as the page reads it: raw HTML and images are text, and nothing in it swallows what follows.

    What cannot be made so stands as a block of plain text.
    """
    if len(text) > TAME_LIMIT_CHARS:
        return fenced(text, "text")
    closed = _closed(text)
    if closed is not None and ("<" in closed or "![" in closed):
        closed = next((candidate for candidate in _disarmed(closed) if _is_tame(candidate)), None)
    return fenced(text, "text") if closed is None else closed


def _closed(text: str) -> str | None:
    """With the fence or HTML block closed that was left open; None where that does not help."""
    if _lets_go(text):
        return text
    fences = [found[1] for found in _FENCE.finditer(text)]
    endings = (f"{text.rstrip()}\n{end}" for end in [*reversed(fences[-8:]), *_HTML_ENDS])
    return next((candidate for candidate in endings if _lets_go(candidate)), None)


def _lets_go(text: str) -> bool:
    return comrak.render_markdown(f"{text}\n\n{_SENTINEL}").rstrip().endswith(f"<p>{_SENTINEL}</p>")


def _disarmed(text: str) -> Iterator[str]:
    """Escaped where it is no code, by ever simpler ideas of what code is."""
    if _is_tame(text):
        yield text
    yield "".join(piece if is_code else _ARMED.sub(_disarm, piece) for piece, is_code in _pieces(text))
    yield text.replace("<", "&lt;").replace("![", "\\!\\[")


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, those told apart that are code between fences. Reads each line about once."""
    lines = text.split("\n")
    start = number = 0
    hopeless: dict[str, int] = {}
    while number < len(lines):
        opening = _OPENING.match(lines[number])
        fence = opening[1] if opening else ""
        if fence and len(fence) < hopeless.get(fence[0], len(text)):
            end = next((after for after in range(number + 1, len(lines)) if _closes(lines[after], fence)), None)
            if end is not None:
                yield "".join(f"{line}\n" for line in lines[start:number]), False
                yield "\n".join(lines[number : end + 1]) + ("\n" if end + 1 < len(lines) else ""), True
                start = number = end + 1
                continue
            # Nor will anything further down close a fence as long as this.
            hopeless[fence[0]] = len(fence)
        number += 1
    yield "\n".join(lines[start:]), False


def _closes(line: str, fence: str) -> bool:
    closing = _CLOSING.match(line)
    return closing is not None and closing[1].startswith(fence)


def _disarm(found: re.Match[str]) -> str:
    if found["html"]:
        return "&lt;"
    return "\\!\\[" if found["image"] else found[0]


def _is_tame(text: str) -> bool:
    """Whether it holds no raw HTML, which an escaping renderer would write otherwise, and no image."""
    escaped = comrak.render_markdown(text, None, None, _ESCAPE)
    return "<img" not in escaped and escaped == comrak.render_markdown(text, None, None, _UNSAFE)
