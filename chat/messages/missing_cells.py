"""Finds out whether an answer uses columns with missing cells and does not mention them. Pure.

The number of missing cells is known from what the Python session reports about tables: tables that code of the answer
has changed (`CodeExecutionResult.table_changes`), and tables of earlier code, also of earlier answers
(`missing_cells`). So only the answer has to be read from the database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode, Part, Text

SENTENCE = "Missing cells in “{column}”: {number}. The answer does not mention them."

_MISSING = re.compile(r"`([^`]+)` missing (?:[\d,]+ -> )?([\d,]+)")
_SUMMARY = re.compile(r"\b(?:nan)?(?:mean|average|median|sum|std|var|corr|describe|agg|aggregate|quantile)\b")
_ATTRIBUTE = re.compile(r"\.(\w+)")
# The words are listed in full, because other words begin like them, such as `provide`, `empfehlen` and `leer` in
# Spanish.
_MENTION = re.compile(
    r"\b(?:missing|absent|incomplete|empty|blanks?|nulls?|nan|n/a|exclud\w+|imput\w+|without a (?:value|price))\b"
    r"|\b(?:fehl(?:t|en|ende[nrsm]?)|leere[nrsm]?|unvollständig\w*|ohne (?:Wert|Angabe)|ausgelassen\w*)\b"
    r"|\b(?:manqu(?:e|ent|ante?s?)|vides?|incompl[eè]t\w*|exclue?s?|faltan\w*|vac[ií][oa]s?|ausentes?|nulos?)\b"
    r"|缺失|缺少|空值|空白|空缺|为空|未填|गायब|लुप्त|रिक्त|अनुपलब्ध|खाली",
    re.IGNORECASE,
)


def unmentioned_missing_cells(parts: Sequence[Part]) -> str:
    """Return a sentence about the column with the most missing cells that code of the answer summarizes.

    The sentence is empty if there is no such column, or if the text of the answer mentions missing cells.
    """
    missing = _missing(parts)
    if not missing:
        return ""
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    if not text.strip() or _MENTION.search(text):
        return ""
    code = "\n".join(part.code for part in parts if isinstance(part, ExecutableCode))
    if not _SUMMARY.search(code):
        return ""
    used = {column: count for column, count in missing.items() if _is_named(column, code)}
    column = max(used, key=lambda one: used[one], default="")
    return SENTENCE.format(column=column, number=f"{used[column]:,}") if column else ""


def _missing(parts: Sequence[Part]) -> Mapping[str, int]:
    """Return for each column the highest number of missing cells that it has had in the answer."""
    counts: dict[str, int] = {}
    for part in parts:
        for change in (*part.table_changes, *part.missing_cells) if isinstance(part, CodeExecutionResult) else ():
            for column, number in _MISSING.findall(change):
                counts[column] = max(counts.get(column, 0), int(number.replace(",", "")))
    return {column: count for column, count in counts.items() if count}


def _is_named(column: str, code: str) -> bool:
    """Return whether code reads a column, by its name as a string or as an attribute."""
    return f"'{column}'" in code or f'"{column}"' in code or column in _ATTRIBUTE.findall(code)
