"""What a text says and holds, as far as a decision on code execution looks at it: the words, numbers and shapes in it.

Pure; looks at no more than `HEAD_CHARS` + `TAIL_CHARS` of a text, whatever its size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chat.intent.words import CHINESE_UNITS, LABELS, LATIN_UNITS, WORDS

HEAD_CHARS: Final = 500
TAIL_CHARS: Final = 300
"""A request stands at the start or at the end of a text; what is pasted lies between."""

LATIN_UNIT_SET: Final = frozenset(LATIN_UNITS.split())
CHINESE_UNIT_SET: Final = tuple(CHINESE_UNITS.split())
LABEL_SET: Final = frozenset(LABELS.split())

# --- shapes -----------------------------------------------------------------------------------------------------
# All for lower case. Each starts at a narrow set of characters and repeats only possessively or a few times, so none
# can run back over its text.

MONTH: Final = (
    r"(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)"
    r"(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember|uar|ruar|z|i)?+"
)
DATE: Final = re.compile(
    r"\d{1,4}+(?:"
    rf"(?:st|nd|rd|th|\.)?+ ?+(?:of )?+{MONTH}\b(?: ?+,? ?+\d{{4}}\b)?+"
    r"|-\d\d-\d\d\b|\.\d{1,2}\.(?:\d{4}|\d\d)?+(?!\d)|/\d{1,2}/\d{2,4}\b|年\d{1,2}月(?:\d{1,2}[日号])?+|月\d{1,2}[日号]"
    r"|(?:st|nd|rd|th)?+, [12]\d{3}\b)"
)
TODAY: Final = (
    " today ",
    " from now ",
    " heute ",
    "今天",
    "今日",
    " tomorrow ",
    "明天",
    " christmas ",
    " weihnachten ",
)
LONG_NUMBER: Final = re.compile(r"[+\d][\d /-]{6,15}+")
PHONE: Final = re.compile(r"(?:\+|0\d).*|1[3-9]\d{9}|\d{3}-\d{4}")
CLOCK: Final = re.compile(r"\d{1,2}+(?::\d\d(?!\d)| ?(?:[ap]\.?m\b|uhr\b|o'clock|点))")
NUMBER: Final = re.compile(r"\d++(?:[.,']\d++)*+")
AFTER_NUMBER: Final = re.compile(r" ?-?([%‰€$£¥°²]|[^\W\d_]{1,10}+)")
FORMULA_HINT: Final = re.compile(r"[=^²³√∫∑(\[*+]| [a-z] ")
FORMULA: Final = re.compile(
    r"(?<![^\W_])[a-z](?:\([a-z]\))? ?= ?[-(\d]*+(?:[a-z0-9]\b|[a-z][ ²³^*+/(·-]|\d)"
    r"|(?<![^\W_])\d*+[a-z] ?(?:\^|\*\*)[ ({-]?[\d(a-z]|(?<![^\W_])\d{0,6}[a-ln-z][²³]|(?<![^\W_])\d{1,6}[xyz]\b ?[-+=]"
    r"|\b(?:sin|cos|tan|ln|log|exp|sqrt)²?(?: ?\(| ?\d{1,4}[xyt]?\b| [xyt]\b|x\b)|\[ ?\[|[√∫∑]|\bp\([^()\n]{1,20}\)"
)
EXPRESSION: Final = re.compile(
    r"[\d)!%](?: ?(?:[*×÷^−·]|\*\*|\+) ?[(\d]| [-/] \(?\d|/\d{1,4} ?[-+*] ?\d| ?/ ?\(| ?mal ?\d| ?x ?\d{3,})"
)
PERCENT_OF: Final = re.compile(r"(?:%|percent|prozent) (?:of|von|vom) \S{0,3}\d|prozent sind|\d的(?:百分之)?\d|占\d")
UNIT_TO_UNIT: Final = re.compile(r"\d ?([^\W\d_]{1,12}+)(?:/[^\W\d_]{1,12}+)?+ (?:in|to|into|as) ([^\W\d_]{1,12}+)")
POINT: Final = re.compile(r"\( ?-?\d[\d.]*+ ?[,;|] ?-?\d[\d.]*+ ?\)")
CODE_HINT: Final = re.compile(r"[`<>{}(=]|select|#include|import")
CODE: Final = re.compile(
    r"```|\bdef \w++ ?\(|=>|\bfunction ?\w*+ ?\(|\bselect\b[^\n]{1,80}? from\b|</?\w++>|\bprint\(|console\.log|#include"
    r"|\bimport \w++\n|\w\{[a-z-]++: ?[^{}\n]{1,60}[;}]|\bfor \w++ in range\(|\bpublic class\b|\bif \w++ [<>=]++ \w"
)
NUMBER_CELL: Final = re.compile(r"\s*+[-+$€£¥]?\d[\d.,:%€$£ ]*+")
LETTER: Final = re.compile(r"[a-z]")
QUESTION: Final = re.compile(r"[?？吗呢]")
GAP_OF_LIST: Final = re.compile(r"[\s,;、，|/和与und-]{1,6}")
GAP_OF_PAIRS: Final = re.compile(r"[^\n.?!。？！\d]{0,6}[,;，、\n)][^\n.?!。？！\d]{1,18}")

FULL_WIDTH: Final = re.compile(r"[\uff01-\uff5e]")
WORD_START: Final = re.compile(r"[ \u3400-\u9fff]")
BETWEEN_WORDS: Final = re.compile(r"[\W_]++")
CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
WORD_EDGE: Final = re.compile(r"(?<=[\u3400-\u9fff])(?=[a-z0-9])|(?<=[a-z0-9])(?=[\u3400-\u9fff])")


def _folded(text: str) -> str:
    return text.replace("ß", "ss").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")


def _normalised(text: str) -> str:
    """Lower case, words parted by single spaces, umlauts written out, a space at both ends."""
    words = BETWEEN_WORDS.sub(" ", _folded(text.lower()))
    return f" {WORD_EDGE.sub(' ', words).strip()} "


def _needles(words: str) -> tuple[str, ...]:
    """The strings to look for in a normalised text."""
    needles = []
    for word in words.split(","):
        plain = " ".join(word.split())
        if CHINESE.search(plain):
            needles.append(plain.strip("*"))
            continue
        start, end = "" if plain.startswith("*") else " ", "" if plain.endswith("*") else " "
        needles.append(f"{start}{plain.strip('* ')}{end}")
    return tuple(dict.fromkeys(needles))


KEY_CHARS: Final = 4
CHINESE_KEY_CHARS: Final = 2
"""How much of a needle is its key in `INDEX`: the space before a word counts."""


def _indexed() -> tuple[dict[str, list[tuple[str, str]]], tuple[tuple[str, str], ...]]:
    """All (needle, name) by how a needle starts, and those whose start is open."""
    by_start: dict[str, list[tuple[str, str]]] = {}
    open_start: list[tuple[str, str]] = []
    for name, words in WORDS.items():
        for needle in _needles(words):
            if needle.startswith(" "):
                by_start.setdefault(needle[:KEY_CHARS], []).append((needle, name))
            elif CHINESE.match(needle):
                by_start.setdefault(needle[:CHINESE_KEY_CHARS], []).append((needle, name))
            else:
                open_start.append((needle, name))
    return by_start, tuple(open_start)


INDEX, OPEN_START = _indexed()


def _said(plain: str) -> set[tuple[str, str]]:
    """The (needle, name) found in a normalised text, in one pass over it."""
    found = {entry for entry in OPEN_START if entry[0] in plain}
    for start in WORD_START.finditer(plain):
        at = start.start()
        longest = KEY_CHARS if start[0] == " " else CHINESE_KEY_CHARS
        for entry in INDEX.get(plain[at : at + longest], ()):
            if plain.startswith(entry[0], at):
                found.add(entry)
        if start[0] in INDEX:  # Chinese words of one character
            found.update(INDEX[start[0]])
    return found


def window(text: str) -> str:
    """The head and tail that a decision looks at, in lower case; full-width characters become ASCII."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return FULL_WIDTH.sub(lambda found: chr(ord(found[0]) - 0xFEE0), text).lower()


# --- facts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text says and holds; the rules look at nothing else."""

    said: frozenset[str]
    """Names of `WORDS`."""
    quantities: int
    """Numbers and number words, without dates, years, clock times, phone numbers and labels such as "room 204"."""
    measured: int
    """Those of them with a unit, a currency or a percent sign."""
    percents: int
    dates: int
    clocks: int
    is_list: bool
    is_table: bool
    is_formula: bool
    is_expression: bool
    is_percent_of: bool
    is_unit_to_unit: bool
    is_code: bool
    is_phone: bool
    is_question: bool
    is_short: bool
    """Short enough for a follow-up that leans on the turn before."""
    has_data: bool
    ran_code_before: bool

    def says(self, *names: str) -> bool:
        """Whether any of the named word groups occurs."""
        return not self.said.isdisjoint(names)

    @property
    def is_mathematical(self) -> bool:
        """Whether there is anything to compute on in the text itself."""
        return self.quantities > 0 or self.is_formula or self.is_expression or self.is_list or self.is_table


def _without_phones(text: str) -> tuple[str, int]:
    """The text with phone numbers blanked, and how many they were."""
    phones = [found for found in LONG_NUMBER.findall(text) if PHONE.fullmatch(found.strip())]
    for phone in phones:
        text = text.replace(phone, " ", 1)
    return text, len(phones)


def _is_labelled(number: re.Match[str], text: str) -> bool:
    """Whether a number is a name, as in "room 204", "§ 573" or "usb3"."""
    if LETTER.match(text, number.start() - 1):
        return True
    before = text[max(0, number.start() - 14) : number.start()].split()
    return bool(before) and (before[-1] in LABEL_SET or before[-1][-1] in "#§第")


def _is_measured(number: re.Match[str], text: str) -> bool:
    if text[max(0, number.start() - 2) : number.start()].strip()[-1:] in ("$", "€", "£", "¥"):
        return True
    after = AFTER_NUMBER.match(text, number.end())
    if after is None:
        return False
    unit = _folded(after[1])
    if unit in ("a", "in", "c", "f", "t", "times"):  # also words of a sentence
        return after[0] == after[1]
    return unit in "%‰€$£¥°²" or unit in LATIN_UNIT_SET or unit.startswith(CHINESE_UNIT_SET)


def _is_year(number: re.Match[str], text: str) -> bool:
    digits = number[0]
    if len(digits) != 4 or not digits.isdigit() or not 1000 < int(digits) <= 2100 or int(digits) % 500 == 0:
        return False
    return text.startswith("年", number.end()) or not _is_measured(number, text)


def _is_table(text: str) -> bool:
    """Two or more lines with a cell that is a number alone, and the same number of cells."""
    rows = [row for row in text.splitlines() if row.strip()]
    for delimiter, least in (("\t", 2), ("|", 2), (";", 2), (",", 2), (" ", 3)):
        split = [row.split(delimiter) for row in rows]
        counts = [len(cells) for cells in split if len(cells) > 1 and any(map(NUMBER_CELL.fullmatch, cells))]
        shared = max(map(counts.count, counts), default=0)
        if shared >= least and shared * 2 >= len(rows):
            return True
    return False


def _is_list(numbers: list[re.Match[str]], text: str) -> bool:
    """Three or more numbers that only separators stand between, or four with short labels."""
    bare = labelled = 1
    for before, after in pairwise(numbers):
        gap = text[before.end() : after.start()]
        bare = bare + 1 if len(gap) <= 6 and GAP_OF_LIST.fullmatch(gap) else 1
        labelled = labelled + 1 if len(gap) <= 25 and GAP_OF_PAIRS.fullmatch(gap) else 1
        if bare >= 3 or labelled >= 4:
            return True
    return len(POINT.findall(text)) >= 2


def facts_of(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> Facts:
    """Read the window of `text` once."""
    seen = window(text)
    plain = _normalised(seen)
    words = _said(plain)
    said = frozenset(name for _, name in words)
    undated, dates = DATE.subn(" ", seen)
    uncalled, phones = _without_phones(undated)
    counted, clocks = CLOCK.subn(" ", uncalled)
    found = [number for number in NUMBER.finditer(counted) if not _is_labelled(number, counted)]
    numbers = [number for number in found if not _is_year(number, counted)]
    number_words = sum(name == "many" for _, name in words)
    units = UNIT_TO_UNIT.search(counted)
    return Facts(
        said=said,
        quantities=len(numbers) + number_words,
        measured=sum(_is_measured(number, counted) for number in numbers),
        percents=counted.count("%") + plain.count(" percent ") + plain.count(" prozent "),
        dates=dates + any(word in plain for word in TODAY),
        clocks=clocks,
        is_list=_is_list(found, counted),
        is_table=_is_table(seen),
        is_formula=FORMULA_HINT.search(seen) is not None and FORMULA.search(undated) is not None,
        is_expression=EXPRESSION.search(uncalled) is not None,
        is_percent_of=PERCENT_OF.search(counted) is not None,
        is_unit_to_unit=units is not None and {units[1], units[2]} <= LATIN_UNIT_SET,
        is_code=CODE_HINT.search(seen) is not None and CODE.search(seen) is not None,
        is_phone=phones > 0,
        is_question=QUESTION.search(seen) is not None,
        is_short=len(seen) <= 80,
        has_data=has_data,
        ran_code_before=ran_code_before,
    )
