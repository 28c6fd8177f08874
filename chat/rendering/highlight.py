"""Syntax highlighting with Pygments: spans with its short class names, without inline styles.

Invariant: the text content of the HTML equals the code, character for character; only spans are added.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from django.utils.safestring import SafeString
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

#: Canonical name of each accepted language name. The list is closed because the name comes from the model, and some of
#: Pygments' several hundred lexers need hours for hostile input.
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

#: Languages that another language's lexer highlights. Their own Pygments lexers take up to 8 s for 4 KB that consists
#: of one short word per line or of blank lines. The JavaScript lexer recognizes their comments, strings, numbers and
#: most keywords.
_LEXERS = dict.fromkeys(("c", "cpp", "csharp", "java"), "javascript")

#: Longer code (more than about 450 lines) is not highlighted: Pygments blocks the event loop for about 3 ms per 1,000
#: characters.
HIGHLIGHT_LIMIT_CHARS = 16 * 1024

#: Code with a longer line, a long run of whitespace, or many more opening than closing delimiters is not highlighted
#: either: lexers search for the missing end again from each position, which takes quadratic time.
LINE_LIMIT_CHARS = 1000
UNCLOSED_DELIMITERS_LIMIT = 100
_LONG_WHITESPACE = re.compile(r"\s{200}")
_DELIMITERS = (("/*", "*/"), ("<!--", "-->"), ("<?", "?>"), ("[[", "]]"))

#: Token classes that need no color and are not emitted; this halves the length of the HTML.
UNSTYLED_CLASSES = frozenset({"", "n", "p", "w", "esc", "err"})

TOKEN_CLASSES: frozenset[str] = frozenset(STANDARD_TYPES.values()) - UNSTYLED_CLASSES


@lru_cache(maxsize=len(set(LANGUAGES.values())))
def _get_lexer(language: str) -> Lexer:
    return get_lexer_by_name(_LEXERS.get(language, language))


def find_language(info: str) -> str:
    """Return the canonical language for a fence's info string or a part's language (`PYTHON`).

    The result is empty if the language is not in `LANGUAGES`.
    """
    word = re.split(r"[\s,{:]", info.strip(), maxsplit=1)[0]
    return LANGUAGES.get(word.lower(), "")


def highlight_code(code: str, language: str) -> SafeString:
    """Return the inner HTML of `<pre><code>`.

    Code in an unknown language, and code that would take long to highlight, is only escaped.
    """
    canonical_language = find_language(language)
    if not canonical_language or _is_slow_to_highlight(code):
        return SafeString(escape(code, quote=False))
    return _highlight(code, canonical_language)


def _is_slow_to_highlight(code: str) -> bool:
    return (
        len(code) > HIGHLIGHT_LIMIT_CHARS
        or max(map(len, code.split("\n"))) > LINE_LIMIT_CHARS
        or any(code.count(start) > code.count(end) + UNCLOSED_DELIMITERS_LIMIT for start, end in _DELIMITERS)
        or _LONG_WHITESPACE.search(code) is not None
    )


# An open list or quote is rendered again with every update; the cache avoids highlighting its closed fences again.
@lru_cache(maxsize=128)
def _highlight(code: str, language: str) -> SafeString:
    # `get_tokens` would normalize line endings, remove a byte order mark and append a newline.
    tokens = [(token, value) for _, token, value in _get_lexer(language).get_tokens_unprocessed(code)]
    if "".join(value for _, value in tokens) != code:
        # Some lexers rely on a final newline and drop the last line without it.
        return SafeString(escape(code, quote=False))
    pieces: list[str] = []
    open_class = ""
    for token, value in tokens:
        css_class = STANDARD_TYPES.get(token, "")
        css_class = "" if css_class in UNSTYLED_CLASSES else css_class
        if css_class != open_class:
            if open_class:
                pieces.append("</span>")
            if css_class:
                pieces.append(f'<span class="{css_class}">')
            open_class = css_class
        pieces.append(escape(value, quote=False))
    if open_class:
        pieces.append("</span>")
    return SafeString("".join(pieces))
