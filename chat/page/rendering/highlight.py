"""Syntax highlighting in linear time: spans with the class names of Pygments, without inline styles.

Invariant: the text content of the HTML equals the code, character for character; only spans are added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from django.utils.safestring import SafeString

from chat.page.rendering.grammars import GRAMMARS, NAME, Grammar

#: Canonical name of each accepted language name.
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

#: Longer code is not highlighted. Code of this length takes about 15 ms, and the code of a live answer is highlighted
#: again with each update.
HIGHLIGHT_LIMIT_CHARS = 32 * 1024


@dataclass(frozen=True)
class _Scanner:
    """A grammar as one regular expression."""

    grammar: Grammar
    pattern: re.Pattern[str]
    classes: tuple[str, ...]
    """Class of each group of the pattern."""


@lru_cache(maxsize=len(GRAMMARS))
def _scanner(language: str) -> _Scanner:
    grammar = GRAMMARS[language]
    pattern = re.compile("|".join(f"({pattern})" for _, pattern in grammar.tokens))
    return _Scanner(grammar, pattern, ("", *(css_class for css_class, _ in grammar.tokens)))


def find_language(info: str) -> str:
    """Return the canonical language for a fence's info string or a part's language (`PYTHON`).

    Return an empty string if the language is not in `LANGUAGES`.
    """
    word = re.split(r"[\s,{:]", info.strip(), maxsplit=1)[0]
    return LANGUAGES.get(word.lower(), "")


def highlight_code(code: str, language: str) -> SafeString:
    """Return the inner HTML of `<pre><code>`. Code that is long or in an unknown language is only escaped."""
    canonical_language = find_language(language)
    if not canonical_language or len(code) > HIGHLIGHT_LIMIT_CHARS:
        return SafeString(escape(code, quote=False))
    return _highlight(code, canonical_language)


# An open list or quote is rendered again with every update; the cache avoids highlighting its closed fences again.
@lru_cache(maxsize=128)
def _highlight(code: str, language: str) -> SafeString:
    pieces: list[str] = []
    end = 0
    for start, stop, css_class in _iter_tokens(code, language):
        pieces.append(escape(code[end:start], quote=False))
        pieces.append(f'<span class="{css_class}">{escape(code[start:stop], quote=False)}</span>')
        end = stop
    pieces.append(escape(code[end:], quote=False))
    return SafeString("".join(pieces))


def _iter_tokens(code: str, language: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, class) of each token that has a class."""
    scanner, position, previous = _scanner(language), 0, ""
    while match := scanner.pattern.search(code, position):
        position, text = match.end(), match[0]
        css_class = scanner.classes[match.lastindex or 0]
        if css_class == NAME:
            grammar = scanner.grammar
            word = text.lower() if grammar.ignores_case else text
            css_class = grammar.words.get(word) or grammar.introducers.get(previous, "")
            previous = word
        elif css_class != "c":
            previous = ""
        if css_class:
            yield match.start(), position, css_class
        for start, embedded_language in scanner.grammar.embedded.items():
            if text[: len(start)].lower() == start:
                scanner = _scanner(embedded_language)
