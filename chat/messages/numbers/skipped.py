"""Finds the ranges of a Markdown text whose digits are no claims: code, links, dates, versions, names, list numbers.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from chat.messages.numbers.calendar_names import MONTH
from chat.messages.numbers.numerals import YEAR

_MONTHS: Final = rf"(?:{MONTH}|(?:mar|ago|mrz|sept|juil)(?![^\W\d_]))"
"""Names of months. `mar` and `ago` are no days in `calendar_names`, because they may mean something else."""
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d|[.,]\d| ?[%°$€£₹])"
_NAMES: Final = (
    "version|python|pandas|numpy|scipy|matplotlib|seaborn|windows|excel|gemini|gpt|claude|opus|sonnet|haiku|llama|qwen|grok|"
    "mistral|deepseek|phi|gemma|kimi|glm|"
    "step|table|figure|fig|chapter|section|phase|page|quarter|task|option|part|"
    "week|line|row|semaine|semana|woche|iso|din|iec|rfc|número|nummer|numéro|artikel|artículo|"
    "schritt|tabelle|abbildung|abb|kapitel|abschnitt|seite|teil|aufgabe|"
    "étape|tableau|chapitre|partie|paso|tabla|figura|capítulo|parte|图|表|步骤|चरण"
)
PERCENTILE: Final = "per[cz]entil|centil|quantil|百分位|पर्सेंटाइल|प्रतिशतक|शतमक"
ORDINAL: Final = r"(?:\.º|\.ª|\.|st|nd|rd|th|er|e|º|ª|वें|वाँ)?"
TO: Final = r" ?(?:to|and|bis|und|zum|a|al|y|à|au|et|से|और|至|到|和|-|–) ?(?:the |zum |第 ?)?"
WITHOUT_CLAIMS: Final = (
    r"^ {0,3}(`{3,20}|~{3,20})[^\n]*\n(?:.*\n)*?(?: {0,3}\1[^\n]*$|\Z)",
    r"(?<!`)`{1,3}(?!`)[^`\n]{1,1000}`{1,3}",
    r"!?\[[^\]\[\n]{0,300}\]\([^)\n]{0,1000}\)",
    r"(?:https?|file|mailto):[^\s>)]+|\bwww\.[^\s)]+",
    r"\[(?:GRAPH|IMAGE):\d+\]|\[\^?\d{1,3}\]",
    r"<[a-z/!][^<>\n]{0,300}>",
)
"""Regular expressions for text that is no claim and may be long. They match text in lower case, also across lines."""
NO_CLAIMS: Final = (
    # Numbers of items and headings.
    r"(?:\A|\n)[ >\t]*(?:#{1,6} +)?(?:[-*] +)?[*_]{0,2}\d{1,3}(?:\.\d{1,2})*[.)](?=[ \t*_])",
    r"^[ >\t]*#{1,6} +\d[\d.]*(?= )",
    # Dates and times.
    r"\b(?:19|20)\d\d[-/]\d{1,2}(?:[-/]\d{1,2})?\b|\b\d{4}\.\d{1,2}\.\d{1,2}\b",
    r"\d(?<!\w\d)\d?[./-]\d{1,2}[./-]\d{2,4}\b(?![.,]?\d)",
    r"(?:\d{2,4}年)(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2} ?月(?:\d{1,2}[日号])?",
    rf"\b\d{{1,2}}(?:\.|st|nd|rd|th|er)? (?:de |of )?(?:{_MONTHS})\.?,?(?: (?:de )?\d{{4}})?",
    rf"(?<!\w)(?:{_MONTHS})\.? (?:{_DAY},? ?)?(?:\d{{4}})?",
    r"\d(?<!\d\d)(?:(?<=[01])\d|(?<=2)[0-3])?:[0-5]\d(?::\d{2}(?:\.\d+)?)?(?!\d)(?: ?(?:uhr|[ap]m\b))?",
    r"\b\d{1,2} ?h ?\d{2}\b",
    # Versions, names with digits, ordinals.
    r"\b(?<![\d.])(?!\d{1,3}(?:\.\d{3})+(?![\d.]\d))v?\d+\.\d+\.\d+(?:\.\d+)*[\w.-]*",
    r"(?<![a-zß-öø-ɏ_])[a-zß-öø-ɏ_]{1,40}[-‐‑./]?\d[a-zß-öø-ɏ_\d.]*(?<!\.)",
    r"\b\d+(?:st|nd|rd|th|er|re|ère|ème|e|º|ª|\.º|\.ª)(?!\w)",
    r"\b(?:der|die|das|den|dem|des|am|zum|vom|im|und) \d{1,2}\.(?= [^\W\d])",
    r"第 ?\d+",
    r"\d(?<![\d.]\d)(?>[\d.]*) ?版",
    r"1[.,]5 ?[×x*·] ?iqr",
    r"(?<![\d.,])\d[\d.,]*[-‐]?(?:(?!e\d)[a-zß-öø-þ]{1,3}\d[\w-]*|"
    r"-?(?:bit|fold|way|day|month|year|point|jährig|tägig)\b)",
    rf"(?<![\d.,])\d{{1,2}}{ORDINAL}(?:{TO}\d{{1,2}}{ORDINAL})?[ -]?(?:{PERCENTILE})",
    rf"(?:{PERCENTILE})(?:es|e|s|en)? \d{{1,2}}(?:{TO}\d{{1,2}})?(?![\d.,]\d|\d)",
    r"\d(?<!\d\d\d)\d?(?:वें|वाँ|वां|वीं|वा|रा|री|ला|ली|था|थी)(?![\u0900-\u0963])",
    r"(?:version|versión|版本|संस्करण)[*_]{0,2} ?[:：][*_]{0,2} ?v?\d+(?:\.\d+)*",
    r"\bn ?[-−] ?1\b",
    # Limits such as |r| > 0.5.
    r"\\?\|[a-zρτ]\\?\| ?[<>≤≥] ?[\d.,]*\d",
    # Rates such as 4 per 100,000.
    r"(?:/ ?|\b(?:per|pro|je|pour|por|por cada) |प्रति |每 ?)1(?:0|[.,\u00a0\u202f ]000)+(?![\d.,]\d|\d)(?: ?[万千])?",
    # Fractions such as 2/3.
    r"(?<![\d/.,])\d/\d(?![\d/])",
    r"§ ?\d[\d.]*",
    # Indices and exponents of formulas.
    r"[_^](?:\{[^{}\n]{0,40}\}|[+-]?\d+)",
)
"""Regular expressions for other text that is no claim. Each match begins at most `_NEAR_CHARS` before a digit."""
_LONG: Final = tuple(re.compile(pattern, re.MULTILINE) for pattern in WITHOUT_CLAIMS)
_SHORT: Final = tuple(re.compile(pattern, re.MULTILINE) for pattern in NO_CLAIMS)
_NEAR_CHARS: Final = 48
_DIGITS: Final = re.compile(r"\d+(?:\.\d+)*")
_BEFORE_CHARS: Final = 24
_NAMED: Final = re.compile(rf"(?<![^\W_])(?:{_NAMES})\.? ?(?:n[o°]\.? ?)?[*_]{{0,2}}$")
_AFTER_NAMED: Final = re.compile(r"[\d%]|[.,]\d")
_BEFORE_YEAR: Final = re.compile(
    r"(?:\b(?:in|since|from|until|till|by|of|during|for|year|between|and|to|vs\.?|fy|im jahr|jahr|seit|bis|von|und|ab|"
    r"en|depuis|entre|et|année|de|à|desde|hasta|año|y|a|del|than|als|que|à|को|में)\s|"
    r"[(（\-–—/,:|]\s?|(?:^|[।。.!?])\s*|सन् |वर्ष )[*_]{0,2}$",
    re.MULTILINE,
)
_AFTER_YEAR: Final = re.compile(r"[\d.,]\d|\d| ?[%€$£₹]")


def skipped_ranges(text: str) -> bytearray:
    """Return a mask of the text with one byte for each character: 1 where digits are no claims.

    `text`: the text with ASCII digits.
    """
    mask = bytearray(len(text))
    lower = text.lower()
    text = lower if len(lower) == len(text) else text
    ranges = [(_LONG, 0, len(text)), *((_SHORT, *part) for part in _parts_near_digits(text))]
    for patterns, first, last in ranges:
        for match in (match for pattern in patterns for match in pattern.finditer(text, first, last)):
            start, end = match.span()
            mask[start:end] = b"\1" * (end - start)
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        before = text[max(0, start - _BEFORE_CHARS) : start]
        is_named = not _AFTER_NAMED.match(text, end) and _NAMED.search(before)
        is_year = YEAR.fullmatch(match[0]) and not _AFTER_YEAR.match(text, end) and _BEFORE_YEAR.search(before)
        if is_named or is_year:
            mask[start:end] = b"\1" * (end - start)
    return mask


def _parts_near_digits(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a text that are near digits. Other text needs no search, which takes most of the time."""
    first, last = -1, 0
    for match in _DIGITS.finditer(text):
        if first >= 0 and match.start() > last + 2 * _NEAR_CHARS:
            yield first, last + _NEAR_CHARS
            first = -1
        first = max(0, match.start() - _NEAR_CHARS) if first < 0 else first
        last = match.end()
    if first >= 0:
        yield first, min(last + _NEAR_CHARS, len(text))
