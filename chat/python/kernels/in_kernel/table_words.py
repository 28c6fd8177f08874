"""Runs inside a kernel: words by which totals, remarks and units are distinguished from the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

LABEL_LIMIT_CHARS = 40
"""Maximum length of the label of a total."""
_UNIT_WORDS = """
unit units einheit deg degc celsius kelvin volts volt watt watts ohm sec secs min mins hours hrs days day
percent prozent pct hpa mbar kpa mm/h kwh mwh gwh ppm ppb count counts index avg smp max std tot mean median
sum int integer float double decimal number numeric string text str char varchar bool boolean date datetime
timestamp time object category meter meters metre metres gram grams liter litre euro euros dollar dollars mio
tsd stück stueck pcs pieces none
"""
UNITS = frozenset(_UNIT_WORDS.split())
"""Words that occur in rows of units or of data types."""


TOTAL = re.compile(
    r"(?:grand |sub)?totals?|(?:end|gesamt|zwischen)?summ(?:en?|a)|gesamt|insgesamt|(?:gesamt)?ergebnis|sums?|suma|"
    r"somme|somma|totale?s?|total (?:g[eé]n[eé]ral|general|geral)|totaal|totalt|yhteensä|celkem|razem|összesen|toplam|"
    r"spolu|ukupno|skupaj|kokku|kopā|iš viso|i alt|jumlah|tổng|итого|всего|усього|разом|общо|(?:γενικό )?σύνολο|"
    r"合计|总计|小计|合計|総計|小計|總計|합계|총계|الإجمالي|المجموع|جمع|مجموع|סה[\"״”']+כ|सर्वयोग|कुल|รวม(?:ทั้งหมด|ทั้งสิ้น)?",
    re.IGNORECASE,
)
AVERAGE = re.compile(
    r"averages?|avg|mean|durchschnitt|mittelwert|mittel|moyenne|media|promedio|média|gemiddelde|średnia|среднее|"
    r"平均|平均值|均值",
    re.IGNORECASE,
)
SPREAD = re.compile(
    r"std\.?(?:[ -]?dev(?:iation)?\.?)?|stdev|sd|standard deviation|standardabweichung|stabw|écart[ -]type|"
    r"min(?:imum|\.)?|max(?:imum|\.)?|median|median[ea]|médiane|最大値?|最小値?|最大值|最小值|标准差|標準偏差|中位数|中央値",
    re.IGNORECASE,
)
"""Labels of other statistics. They count only beside a total or an average, because Max is also a name."""
BALANCE = re.compile(
    r"(?:anfangs|end|schluss)(?:saldo|bestand)|alter (?:konto)?stand|neuer (?:konto)?stand|"
    r"(?:opening|closing|beginning|ending|starting) balance|balance (?:brought|carried) forward|"
    r"(?:ancien|nouveau) solde|solde (?:initial|final)|saldo (?:inicial|final|iniziale|finale|anterior)",
    re.IGNORECASE,
)
REMARK = re.compile(
    r"(?:sources?|quellen?|notes?|anmerkung(?:en)?|hinweise?|fuente|fonte|nota|remarks?|legende?|stand|as of|generated|"
    r"created|exported|erstellt|copyright|data from|источник|примечание|注|资料来源|数据来源|来源|出典|備考)\b|"
    r"[*†‡©#¹²³]|\(c\)|--|==|__|\+[-=]|end of|\(\d+ [^\W\d]+( [^\W\d]+)?\)$|\d+ rows? in set\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[°%‰€$£¥/^²³µμΩ]|^[\[(].*[\])]$")
_RULE = re.compile(r"[-=+|:*_ ]+")
_CODE_NAME = re.compile(r"[^\W\d]\w{0,39}")


def is_summary_word(text: str) -> bool:
    """Return whether a text is the label of a total or an average: `Total`, `Total 2024`."""
    label = text.strip().rstrip(":")
    if len(label) > LABEL_LIMIT_CHARS:
        return False
    parts = label, label.partition(" ")[0].rstrip(":")
    return any(pattern.fullmatch(part) for pattern in (TOTAL, AVERAGE) for part in parts)


def is_total_word(text: str) -> bool:
    """Return whether a text is the label of a total or subtotal: `Total`, `Total 2024`, `North Total`."""
    label = text.strip().rstrip(":")
    if len(label) > LABEL_LIMIT_CHARS:
        return False
    return any(map(TOTAL.fullmatch, (label, label.partition(" ")[0].rstrip(":"), label.rpartition(" ")[2])))


def is_spread_word(text: str) -> bool:
    """Return whether a text is the label of a statistic other than a total or average: `Std Dev`, `Min`."""
    return len(text) <= LABEL_LIMIT_CHARS and bool(SPREAD.fullmatch(text.strip().rstrip(":")))


def is_balance(text: str) -> bool:
    """Return whether a text is the label of a balance, such as `Closing balance`."""
    return len(text) <= LABEL_LIMIT_CHARS and bool(BALANCE.fullmatch(text.strip()))


def is_unit_like(cells: Sequence[str]) -> bool:
    """Return whether most of these texts are short, such as `kg`, or are known units or data types."""
    if any(sum(map(str.isdigit, cell)) * 2 > len(cell) for cell in cells):
        return False
    likes = sum(
        len(cell) <= 3
        or (len(cell) <= 24 and bool(_SIGNS.search(cell)))
        or is_rule(cell)
        or cell.lower().split(" ")[0].rstrip(".") in UNITS
        for cell in cells
    )
    return likes * 2 > len(cells)


def is_rule(text: str) -> bool:
    """Return whether a text is a ruled line such as `----+----`."""
    return bool(_RULE.fullmatch(text))


def is_text_like(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether texts are much longer than names, or are phrases below codes, as the questions of a survey are."""
    mean, names_mean = sum(map(len, cells)) / len(cells), sum(map(len, names)) / max(1, len(names))
    phrases = sum(" " in cell or "!!" in cell for cell in cells)
    is_described = mean > names_mean and phrases * 3 >= len(cells) and all(map(_CODE_NAME.fullmatch, names))
    return is_described or (mean > 15 and mean > 2 * names_mean)


def is_machine_like(cells: Sequence[str]) -> bool:
    """Return whether all texts are JSON objects, which programs write for their own use."""
    return bool(cells) and all(cell.startswith('{"') and cell.endswith("}") for cell in cells)
