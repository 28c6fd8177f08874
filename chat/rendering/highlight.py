"""Colours for code: Pygments' short class names on spans, never an inline style.

Invariant: the text inside the HTML is the code, character for character; only spans are added.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from django.utils.safestring import SafeString
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

#: What people call a language, and its name among ours. A closed list, because the name comes from the model and some
#: of Pygments' several hundred lexers need hours for hostile input.
LANGUAGES: dict[str, str] = {
    name: language
    for language, names in {
        "bash": "bash sh shell zsh",
        "c": "c h",
        "console": "console shell-session",
        "cpp": "cpp c++ cc hpp",
        "csharp": "csharp c# cs",
        "css": "css",
        "dart": "dart",
        "diff": "diff patch",
        "docker": "docker dockerfile",
        "go": "go golang",
        "html": "html",
        "ini": "ini cfg conf",
        "java": "java",
        "javascript": "javascript js jsx mjs node",
        "json": "json jsonc",
        "julia": "julia jl",
        "kotlin": "kotlin kt",
        "lua": "lua",
        "make": "make makefile",
        "pycon": "pycon",
        "python": "python py python3 ipython",
        "pytb": "pytb traceback",
        "r": "r",
        "ruby": "ruby rb",
        "rust": "rust rs",
        "sql": "sql postgresql mysql sqlite",
        "swift": "swift",
        "tex": "tex latex",
        "toml": "toml",
        "typescript": "typescript ts tsx",
        "xml": "xml",
        "yaml": "yaml yml",
    }.items()
    for name in names.split()
}

#: Languages that another lexer reads. Pygments' own for these needs up to 8 s for 4 KB of short words on lines of
#: their own, or of blank lines; JavaScript's knows their comments, strings, numbers and most keywords.
_LEXERS = dict.fromkeys(("c", "cpp", "csharp", "java"), "javascript")

#: Longer code, some 450 lines, stays plain: Pygments needs about 3 ms for each 1,000 characters, and the event loop
#: waits for it.
HIGHLIGHT_LIMIT_CHARS = 16 * 1024

#: So does code with a longer line or white space, or with so many more openings than ends: lexers look for what is not
#: there from each place anew, which is quadratic.
LINE_LIMIT_CHARS = 1000
OPEN_LIMIT = 100
_LONG_WHITE_SPACE = re.compile(r"\s{200}")
_PAIRS = (("/*", "*/"), ("<!--", "-->"), ("<?", "?>"), ("[[", "]]"))

#: Token classes that no colour scheme of ours paints; without their spans the HTML is about half as long.
UNPAINTED = frozenset({"", "n", "p", "w", "esc", "err"})

CLASSES: frozenset[str] = frozenset(STANDARD_TYPES.values()) - UNPAINTED


@lru_cache(maxsize=len(set(LANGUAGES.values())))
def _lexer(language: str) -> Lexer:
    return get_lexer_by_name(_LEXERS.get(language, language))


def language_of(info: str) -> str:
    """Name the language of a fence's info string or a part's language (`PYTHON`); empty when it is none of ours."""
    word = re.split(r"[\s,{:]", info.strip(), maxsplit=1)[0]
    return LANGUAGES.get(word.lower(), "")


def highlight_code(code: str, language: str) -> SafeString:
    """Render code for the inside of `<pre><code>`; what is no language of ours, or would be slow, is escaped only."""
    known = language_of(language)
    if not known or _is_slow(code):
        return SafeString(escape(code, quote=False))
    return _highlight(code, known)


def _is_slow(code: str) -> bool:
    return (
        len(code) > HIGHLIGHT_LIMIT_CHARS
        or max(map(len, code.split("\n"))) > LINE_LIMIT_CHARS
        or any(code.count(opening) > code.count(end) + OPEN_LIMIT for opening, end in _PAIRS)
        or _LONG_WHITE_SPACE.search(code) is not None
    )


# An open list or quote is rendered again with every update: its finished fences come from here.
@lru_cache(maxsize=128)
def _highlight(code: str, language: str) -> SafeString:
    # `get_tokens` would change line ends, strip a BOM and add a newline.
    tokens = [(token, value) for _, token, value in _lexer(language).get_tokens_unprocessed(code)]
    if "".join(value for _, value in tokens) != code:
        # Some lexers rely on the final newline and lose a line without it.
        return SafeString(escape(code, quote=False))
    pieces: list[str] = []
    last = ""
    for token, value in tokens:
        css_class = STANDARD_TYPES.get(token, "")
        css_class = "" if css_class in UNPAINTED else css_class
        if css_class != last:
            if last:
                pieces.append("</span>")
            if css_class:
                pieces.append(f'<span class="{css_class}">')
            last = css_class
        pieces.append(escape(value, quote=False))
    if last:
        pieces.append("</span>")
    return SafeString("".join(pieces))
