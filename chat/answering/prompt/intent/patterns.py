"""Regular expressions for signals that do not depend on a language: dates, numbers, formulas, expressions and code.

All patterns expect lower-case text. Each starts with a narrow set of characters and uses possessive or short bounded
repetition, so that no pattern backtracks far. Only `FENCE` and `PHONE` repeat without a limit: `FENCE` lazily up to its
end, `PHONE` in what `LONG_NUMBER` found.
"""

from __future__ import annotations

import re
from typing import Final

MONTH: Final = (
    r"(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)"
    r"(?>(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember|uar|ruar|z|i)?)"
)
DATE: Final = re.compile(
    r"\d{1,4}+(?:"
    rf"(?>(?:st|nd|rd|th|\.)?) ?+(?>(?:of )?){MONTH}\b(?>(?: ?+,? ?+\d{{4}}\b)?)"
    r"|-\d\d-\d\d\b|\.\d{1,2}\.(?>(?:\d{4}|\d\d)?)(?!\d)|/\d{1,2}/\d{2,4}\b|年\d{1,2}月(?>(?:\d{1,2}[日号])?)|月\d{1,2}[日号]"
    r"|(?>(?:st|nd|rd|th)?), [12]\d{3}\b)"
)
LONG_NUMBER: Final = re.compile(r"[+\d][\d /-]{6,15}+")
PHONE: Final = re.compile(r"(?:\+(?=\d)|0(?![01 ]+$)\d).*|1[3-9]\d{9}|\d{3}-\d{4}")
CLOCK: Final = re.compile(r"\d{1,2}+(?::\d\d(?!\d)| ?(?:[ap]\.?m\b|uhr\b|o'clock|点))")
NUMBER: Final = re.compile(r"\d++(?>(?:[.,']\d++)*)")
CHINESE_NUMBER: Final = re.compile(
    r"[两二三四五六七八九十][十百千万]?[张次个人枚种条天年倍名只头块颗项元米]|[两二三四五六七八九]位数"
)
UNIT_AFTER_NUMBER: Final = re.compile(r" ?-?([%‰€$£¥°²]|[^\W\d_]{1,10}+)")
FORMULA_HINT: Final = re.compile(r"[=^²³√∫∑(\[*+|]| [a-z] |sin|cos|tan|log|exp|sqrt|ln")
"""Matches every text that `FORMULA` matches, and is cheaper."""
FORMULA: Final = re.compile(
    r"(?<![a-zäöüß0-9])(?:"
    r"[a-z](?:\([a-z]\))? ?= ?[-(|\d]*+(?:(?<=\d)|[a-z0-9]\b|[a-z][ ²³^*+/(·-]|\d)"
    r"|\d*+[a-z] ?(?:\^|\*\*)[ ({-]?[\d(a-z]|\d{0,6}[a-ln-z][²³]|\d{1,6}[xyz]\b ?[-+=]"
    r"|(?:arc|a)?(?:sin|cos|tan|exp|sqrt)²?(?: ?\(| (?:of |von )?\d| ?\d{1,4}[xyt]?(?![a-z\d])| [xyt]\b|x\b)"
    r"|(?:ln|log(?:2|10)?)(?: ?\(| (?:of|von) \d| [xyt]\b|x\b))"
    r"|\| ?\d*+[a-z] ?[-+] ?\d|\[ ?\[|[√∫∑]|\bp\([^()\n]{1,20}\)"
)
EXPRESSION: Final = re.compile(
    r"[\d)!%](?: ?(?:[*×÷^−·]|\*\*|\+) ?[(\d]| [-/] \(?\d|/\d{1,4} ?[-+*] ?\d| ?/ ?\(| ?mal ?\d| ?x ?\d{3,}"
    r"| (?:plus|minus|times|divided by|durch|geteilt durch|hoch|to the power of) \d"
    r"| ?(?:乘以|除以|加上|减去|乘|除) ?\d)"
)
PERCENT_OF: Final = re.compile(
    r"(?:%|percent|prozent) (?:of|off|von|vom|auf|rabatt auf) \S{0,3}\d|prozent sind|\d的(?:百分之)?\d|占\d"
)
UNIT_CONVERSION: Final = re.compile(
    r"\d ?([^\W\d_]{1,12}+)(?>(?:/[^\W\d_]{1,12}+)?) (?:in|to|into|as) ([^\W\d_]{1,12}+)"
)
UNIT_QUESTION: Final = re.compile(
    r"(?:how (?:many|much)|wie ?viele?) ([^\W\d_]{1,12}+)(?>(?:/[^\W\d_]{1,12}+)?) "
    r"(?:is|are|in|sind|ist|make|makes|ergeben)\b"
)
QUOTED_TEXT: Final = re.compile(r"[:：] ?+[^\W\d]|[\"“„«「『][^\W\d]")
DATA_FILE: Final = re.compile(r"[^\W_]\.(?:csv|tsv|xlsx?|ods|parquet|jsonl?)(?![^\W_])")
POINT: Final = re.compile(r"\( ?-?\d[\d.]*+ ?[,;|] ?-?\d[\d.]*+ ?\)")
LETTER_COUNT: Final = re.compile(
    r"\b(?:how (?:many|often)|wie (?:oft|viele?)|wieviele?|zähle?|count)(?: \w{1,12}){0,3} ['\"„“]?[b-hj-z](?:['’]s)?\b"
)
CODE_HINT: Final = re.compile(r"[<>{}(=]|select|#include|import")
"""Matches every text that `CODE` matches, and is cheaper."""
CODE: Final = re.compile(
    r"\bdef \w++ ?\(|=>|\bfunction ?\w*+ ?\(|\bselect\b[^\n]{1,80}? from\b|</?\w++>|\bprint\(|console\.log|#include"
    r"|\bimport \w++\n|\w\{[a-z-]++: ?[^{}\n]{1,60}[;}]|\bfor \w++ in range\(|\bpublic class\b|\bif \w++ [<>=]++ \w"
)
FENCE: Final = re.compile(r"```(?>(?:([\w+#-]{0,15}+)[ \t]*+\n)?)(.*?)(?:```|\Z)", re.DOTALL)
"""A fenced block, closed or not; the groups are the language after the fence and the content."""
PYTHON_TAGS: Final = frozenset({"python", "py", "python3", "ipython"})
DATA_TAGS: Final = frozenset({"csv", "tsv", "txt", "text", "data"})
PYTHON: Final = re.compile(
    r"\bprint\(|\bimport \w|\bfrom \w++ import\b|\bdef \w++ ?\(|\bfor \w[\w, ]{0,20}+ in |\b(?:range|len|sum|sorted)\("
)
NUMBER_CELL: Final = re.compile(r"\s*+[-+$€£¥]?\d[\d.,:%€$£ ]*+")
LETTER: Final = re.compile(r"[a-z]")
QUESTION: Final = re.compile(r"[?？吗呢]|か(?=[。\s]|\Z)")
LIST_SEPARATOR: Final = re.compile(r"[\s,;、，|/和与und-]{1,6}")
LABELLED_LIST_SEPARATOR: Final = re.compile(r"[^\n.?!。？！\d]{0,6}[,;，、\n)][^\n.?!。？！\d]{1,18}")
