"""A mark that changes how the parser reads a place of the source, and is removed from its HTML."""

from __future__ import annotations

import re
from urllib.parse import quote

MARK = "\ufdd0"
"""A code point that is no character. Unicode reserves it for use within programs."""
_URL_MARK = "%EF%B7%90"

_DASH_MARK = f" {MARK * 3}"
_SHORT_DASHES = re.compile(r"(?:\A|(?<=[\r\n]))([ \t>]*+)(--?)([ \t]*+)(?=[\r\n]|\Z)")
# A mark follows the spaces: at the end of a line they would make a line break.
_EMPTY_LINE = rf"{MARK * 3}[ \t]*+{MARK}"
_MARKED_ITEM = re.compile(rf"<p(?: [^<>]*+)?>{_EMPTY_LINE}</p>\n?|(?<=>){_EMPTY_LINE}(?:\n|(?=<))")
_HIDDEN_MARK = MARK * 4
# Strong text that ends in a punctuation mark before a letter or digit, as in `**价格(元):**100`.
_STRONG_TEXT = re.compile(r"(?<![*\\A-Za-z0-9])\*\*(?![\s*])[^*`\r\n]{1,200}[]:;.,!?)}%\"'»›”’…।؟؛،](?=\*\*[^\W_])")
# Strong text that begins with a punctuation mark after a letter of a script without spaces, such as Thai. In Chinese,
# Japanese and Korean it needs no mark.
_STRONG_START = re.compile(r"\*\*(?<=[^\W\d_A-Za-z]\*\*)(?=[(\[{\"'«‹“‘„][^*\r\n]{1,200}\*\*)")
_HIDDEN = re.compile(
    rf"<p(?: [^<>]*+)?>{_HIDDEN_MARK}--?[ \t]*+</p>\n?|\n?{_HIDDEN_MARK}--?[ \t]*+(?=</(?!code|pre)[a-z])"
)

_SPACE_MARK = MARK * 5
# The address of a file with spaces. In Markdown, the address of a link has spaces only between `<` and `>`.
_SPACED_PATH = re.compile(
    r"\]\((?:sandbox:)?(?! )(?:[^\r\n()<>:\"]|\([^\r\n()<>:\"]{0,40}\)){1,200}(?<=[^\s.(])\.[a-z]\w{1,6}(?=\))",
    re.IGNORECASE,
)
_STAR_MARK = MARK * 6
# A word with an asterisk. Chinese, Japanese and Korean characters are no part of it, because they have no spaces
# between words.
_WORD_WITH_STAR = re.compile(r"(?<![^\s\u2e80-\U0010ffff])[^\s*\u2e80-\U0010ffff]*+\*[^\s\u2e80-\U0010ffff]*+")
_STAR = re.compile(r"(?<!\*)\*(?!\*)")
_INNER_STAR = re.compile(r"\*(?<=[A-Za-z\u00c0-\u024f\d]\*)(?=[A-Za-z\u00c0-\u024f\d])")
_FACTOR = re.compile(r"(?<![^\W_])(?:[A-Za-z]|\d+(?:[.,]\d+)?)\*(?=[A-Za-z\d])")
# A list item that is still empty, or a link in it whose address has not ended. A check box with text does not match.
_OPEN_ITEM = re.compile(r"[ \t>]*[-*+](?:[ \t]+(?:\[[^\]]{0,300}(?:\](?:\([^()]{0,300})?)?)?)?")


def hide_open_item(text: str) -> str:
    """Return the source without a list item at its end that has no text yet, or only the beginning of a link.

    The link may become the button of a question. If its source were shown first, the text beside it would move later.
    """
    start = max(text.rfind("\n"), text.rfind("\r")) + 1
    is_open = _OPEN_ITEM.fullmatch(text, start) and text.count("```", 0, start) % 2 == 0
    return text[:start] if is_open else text


def mark_dashes(text: str, *, may_grow: bool) -> str:
    """Remove marks that the source itself contains, and mark each line of one or two dashes.

    Below a line of text, the parser would take such a line as part of a table of one column. With the mark, one dash
    begins a list, and two are text. If the text may grow, dashes at its end are hidden, because the text after them
    decides whether they begin a list or a rule.
    """
    text = text.replace(MARK, "")
    if may_grow and (dashes := open_dashes(text)):
        text = text.removesuffix(dashes) + _HIDDEN_MARK + dashes
    return _SHORT_DASHES.sub(_marked_dashes, text) if "-" in text else text


def open_dashes(text: str) -> str:
    """Return the dashes at the end of a text that later text may turn into a list or a rule; empty: no dashes."""
    start = max(text.rfind("\n"), text.rfind("\r")) + 1
    dashes = text[start:].lstrip(" \t>")
    return dashes if dashes.rstrip(" \t") in ("-", "--") and _ends_in_text(text[:start]) else ""


def hides_end(text: str) -> bool:
    """Return whether some of the end of a text is hidden while it may grow."""
    return bool(open_dashes(text)) or hide_open_item(text) != text


def mark_strong_ends(text: str) -> str:
    """Return the source with marks where strong text ends or begins in punctuation beside a letter or digit.

    CommonMark sees no end or beginning there, except beside Chinese, Japanese or Korean characters. Models mean one.
    """
    if "**" not in text:
        return text
    return _STRONG_START.sub(rf"\g<0>{MARK}", _STRONG_TEXT.sub(rf"\g<0>{MARK}", text))


def mark_stars(text: str) -> str:
    """Return the source with marks in place of asterisks that are plain characters: `Lehrer*innen`, `l*w*h`, `3*4`.

    These are a single asterisk within a word, and those of a product. Others may be emphasis.
    """
    return _WORD_WITH_STAR.sub(_marked_stars, text) if _INNER_STAR.search(text) else text


def _marked_stars(match: re.Match[str]) -> str:
    word = match[0]
    inner = len(_INNER_STAR.findall(word))
    is_sign = inner and inner == len(_STAR.findall(word)) and (inner == 1 or inner == len(_FACTOR.findall(word)))
    return _INNER_STAR.sub(_STAR_MARK, word) if is_sign else word


def mark_spaces(text: str) -> str:
    """Return the source with marks in place of the spaces in addresses of files: `[Table](my table.csv)`."""
    return _SPACED_PATH.sub(lambda path: path[0].replace(" ", _SPACE_MARK), text) if "](" in text else text


def _ends_in_text(text: str) -> bool:
    """Return whether the last line is neither blank nor a row of a table."""
    text = text.removesuffix("\n").removesuffix("\r")
    last_line = text[max(text.rfind("\n"), text.rfind("\r")) + 1 :].strip(" \t>")
    return bool(last_line) and not last_line.endswith("|")


def _marked_dashes(match: re.Match[str]) -> str:
    prefix, dashes, blanks = match.groups()
    return f"{prefix}-{_DASH_MARK}{blanks}{MARK}" if dashes == "-" else f"{prefix}{MARK}--{blanks}"


def remove_marks(raw_html: str) -> str:
    """Return the parser's HTML without marks."""
    if MARK not in raw_html and _URL_MARK not in raw_html:
        return raw_html
    for mark, sign in ((6, "*"), (5, " ")):
        raw_html = raw_html.replace(MARK * mark, sign).replace(_URL_MARK * mark, quote(sign, safe="*"))
    if _HIDDEN_MARK in raw_html:
        raw_html = _HIDDEN.sub("", raw_html)
    if MARK * 3 in raw_html:
        raw_html = _MARKED_ITEM.sub("", raw_html)
    return raw_html.replace(_DASH_MARK, "").replace(MARK, "").replace(_URL_MARK, "")
