"""Reads Markdown as plain text, for excerpts. Messages themselves are rendered by `chat.page.rendering`."""

from __future__ import annotations

import html
import re
from html.entities import html5

import comrak

WINDOW_CHARS = 1_500
"""Number of characters before and after a match that are read, so that long texts and large tables cost little."""


def _extensions() -> comrak.ExtensionOptions:
    options = comrak.ExtensionOptions()
    options.table = options.strikethrough = options.tasklist = True
    options.math_dollars = options.math_latex = options.cjk_friendly_emphasis = True
    return options


def _render_options() -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape = True
    return options


_EXTENSIONS, _RENDER_OPTIONS, _PARSE_OPTIONS = _extensions(), _render_options(), comrak.ParseOptions()
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
# comrak escapes `<` in text, so tags that models write begin with an entity.
_TYPED_TAG = re.compile(
    r"(<code\b.*?</code>)|&lt;/?(?:(br|details|summary)|b|strong|i|em|u|s|ins|small|del|mark|sub|sup|kbd|code) ?/?&gt;",
    re.DOTALL,
)
_INLINE_TAG = re.compile(r"</?(?:a|em|strong|del|code|span)\b[^<>]*>")
_IMAGE = re.compile(r'<img [^<>]*alt="([^"]*)"[^<>]*>')
_TAG = re.compile(r"<[^<>]*>")
_FORMULA = re.compile(r'<span data-math-style="[a-z]+">([^<]*)</span>')
_GROUP = r" *\{((?>(?:[^{}]|\{[^{}]*\})*))\}"
_FRACTION = re.compile(rf"\\[dt]?frac{_GROUP}{_GROUP}")
_BRACED = re.compile(
    r"\\(?:text|math|operator|begin|end)[a-z]* *(?:\{(?:[a-z]*matrix|[a-z]*aligned|cases|array)\*?\}|(?=\{))"
)
_COMMAND_OR_BRACE = re.compile(r"\\([A-Za-z]+|.)|[{}&]", re.DOTALL)
# Names of LaTeX commands that HTML does not have, or has for another sign.
_SIGNS = dict.fromkeys(["left", "right", "displaystyle", "limits", "bar", "hat", "tilde", "vec", "big", "Big", "!"], "")
_SIGNS |= dict.fromkeys(["dots", "ldots", "cdots"], "…") | dict.fromkeys(("quad", "qquad"), " ")
_SIGNS |= {"cdot": "·", "circ": "°", "infty": "∞", "neq": "≠", "partial": "∂", "to": "→", "sqrt": "√", "colon": ":"}
_SIGNS |= {sign: sign for sign in "{}%$_#&"}


def find_window(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the span of text around a match that is read: whole lines, unless they are long."""
    start, stop = max(0, first - WINDOW_CHARS), min(len(text), last + WINDOW_CHARS)
    if start:
        start = text.find("\n", start, first) + 1 or start
    if stop < len(text):
        stop = max(text.rfind("\n", last, stop), 0) or stop
    return start, stop


def read_plain_text(text: str, start: int, stop: int, *, has_tags: bool) -> str:
    """Return `text[start:stop]`, a span of Markdown, as plain text. Code is its source, and formulas are signs.

    `has_tags`: whether tags are HTML elements, as in texts of models. In texts of people, tags are shown as typed.
    """
    fences = _FENCE.findall(text, 0, start)
    opening = fences[-1] + "\n" if len(fences) % 2 else ""
    raw_html = comrak.render_markdown(opening + text[start:stop], _EXTENSIONS, _PARSE_OPTIONS, _RENDER_OPTIONS)
    raw_html = _FORMULA.sub(lambda match: html.escape(_read_formula(html.unescape(match[1]))), raw_html)
    if has_tags:
        raw_html = _TYPED_TAG.sub(lambda match: match[1] or (" " if match[2] else ""), raw_html)
    return html.unescape(_TAG.sub(" ", _INLINE_TAG.sub("", _IMAGE.sub(r"\1", raw_html))))


def _read_formula(source: str) -> str:
    """Return a LaTeX formula as text: commands become signs, and commands for its layout are left out."""
    return _COMMAND_OR_BRACE.sub(_read_command, _BRACED.sub("", _FRACTION.sub(_read_fraction, source)))


def _read_fraction(match: re.Match[str]) -> str:
    return "/".join(part if part.isalnum() else rf"({part})" for part in match.groups())


def _read_command(match: re.Match[str]) -> str:
    name = match[1] or ""
    if (sign := _SIGNS.get(name, html5.get(f"{name};"))) is not None:
        return sign
    return name if name.isalpha() else " " if name else ""
