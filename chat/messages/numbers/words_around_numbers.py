"""Regular expressions for units, scale words and other words around numbers, in the languages of answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from chat.messages.numbers.sources import SHORT_CHARS

_SCALES: Final = {
    3: "k K Tsd. Tsd Tausend tausend thousand thousands mille millier milliers mil miles 千 हज़ार हजार",
    4: "万 萬",
    5: "lakh lakhs lac lacs लाख",
    6: "M mn Mio. Mio million millions Million Millionen Mill. millón millones 百万 百萬",
    7: "crore crores Cr करोड़ 千万",
    8: "亿 億",
    9: "B bn billion billions Mrd. Mrd Milliarde Milliarden Md Mds milliard milliards अरब 十亿",
    12: "trillion trillions Bio. Billionen 万亿 兆",
}
_WORDS = {word: power for power, words in _SCALES.items() for word in words.split()} | {"mil millones": 9}
_UNITS: Final = {
    "%": "% percent Prozent प्रतिशत pct",
    "pp": "pp Prozentpunkte Prozentpunkten 个百分点 百分点",
    "‰": "‰ Promille",
    "EUR": "€ EUR Euro Euros euro euros 欧元 यूरो",
    "USD": "$ USD US$ US-Dollar dollar dollars Dollar dólar dólares 美元 डॉलर",
    "GBP": "£ GBP pounds 英镑 पाउंड",
    "JPY": "JPY yen yens yenes Yen 日元 येन",
    "CNY": "¥ CNY RMB yuan yuans yuanes Yuan 人民币 元 युआन",
    "INR": "₹ INR Rs Rs. rupees roupies rupias Rupien 卢比 रुपये रुपए",
    "CHF": "CHF Franken francs francos 瑞士法郎 फ़्रैंक",
    "kg": "kg 公斤 千克 किग्रा",
    "g": "g",
    "t": "t tonnes Tonnen",
    "km": "km",
    "m": "metres meters Meter",
    "cm": "cm",
    "mm": "mm",
    "°C": "°C ℃",
    "°F": "°F ℉",
}
_UNIT_WORDS = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_UNIT_WORDS |= dict.fromkeys(("per mille", "pour mille", "por mil", "प्रति हज़ार", "per 1,000", "per 1000"), "‰")
_UNIT_WORDS |= {"per cent": "%", "pour cent": "%", "por ciento": "%", "percentage points": "pp"}
_UNIT_WORDS |= {"points de pourcentage": "pp", "puntos porcentuales": "pp", "प्रतिशत अंक": "pp"}
PERCENTS: Final = ("%", "pp")
CURRENCY_SIGNS: Final = "$€£¥₹"
CURRENCIES: Final = frozenset({"EUR", "USD", "GBP", "JPY", "CNY", "INR", "CHF"})


def _alternatives(words: dict[str, int] | dict[str, str]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word)
        + (r"(?![A-Za-zÀ-ɏ/²³☉⊙])" if word[-1].isascii() else r"(?![瓦克米卡帕赫焦伏字])" if word in "千兆" else "")
        for word in ordered
    )


AFTER: Final = re.compile(
    rf"(?P<scale>m(?![A-Za-zÀ-ɏ/²³])|[ \u00a0\u202f\u2009]?(?:{_alternatives(_WORDS)}))?"
    rf"(?P<unit>(?:[ \u00a0\u202f\u2009]|[ \u00a0\u202f](?:de |of |d['’]))?(?:{_alternatives(_UNIT_WORDS)}))?"
)
"""The scale word and the unit after a number."""
POWER: Final = re.compile(
    r"(?:[eE](?P<e>[+-]?\d+)(?!\w|\.\d)| ?(?:[×x·*]|\\times|\\cdot) ?10(?:\^\{?(?P<p>[+-]?\d+)\}?|(?P<s>[⁻⁺⁰¹²³⁴-⁹]+)))"
)
"""A power of ten after a number."""
_SUPERSCRIPTS = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")

TIMES: Final = re.compile(
    r"[\s*]*(?:times|[×x](?!\w)|-?fach|-?mal\b|fois|veces|倍|गुना|[\w ]{0,12}as (?:much|many|high))", re.IGNORECASE
)
"""A word after a number that says that it is a ratio."""
FACTOR: Final = re.compile(r" ?(?:[×*·]|\\times|\\cdot|(?<= )x(?= )) ?\\?[^\W\d_]")
"""The sign of a multiplication with a name after a number."""
FROM: Final = re.compile(r"(?:\b(?:from|von|vom|de|du|desde|del)|从|由)\s?[*_$€£₹¥]*$", re.IGNORECASE)
"""A word such as `from` before the first number of a change."""
APPROXIMATE: Final = re.compile(
    r"(?:\b(?:exceeds?|dépasse(?:nt)?|übersteigt|übertrifft|supera|about|around|approximately|roughly|nearly|almost|over|"
    r"more than|some|circa|ca\.|rund|etwa|ungefähr|fast|"
    r"knapp|über|gut|environ|près de|presque|plus de|unos|unas|cerca de|casi|más de|alrededor de|aproximadamente)|"
    r"[~≈∼]|约|大约|近|超过|लगभग|करीब)\s?[*_($€£¥₹]*$",
    re.IGNORECASE,
)
"""A word before a number that says that the number was rounded, such as `about`."""
DECREASE: Final = re.compile(
    r"\b(?:fell|(?<!\bim )falls?(?! (?:between|within|into))|fallen|drop|dropp|decreas|declin|reduc|down\b|"
    r"loss|lost|lose|shr[aiu]nk|below|minus|lower|negativ|"
    r"less|fewer|smaller|shorter|behind(?! (?:it|them)\b)|deficit|cold|under|short|"
    r"gefallen|fiel|sank|sinkt|sunk|gesunken|rückgang|rückgäng|zurück|einbuß|perdi|saving|dipp|verlust|weniger|niedriger|"
    r"n(?:ahm|imm|ehm)\w{0,3} [^;:\n]{0,40}?\bab\b|verkürz|verfehl|missed|raccourc|acort|"
    r"kleiner|geringer|unter(?!schied)|abnahme|schrumpf|verlier|verlor|\bnach\.|"
    r"recul|baiss|chut|diminu|perte|perd|moins|plus (?:faible|bas|petit)|(?:au|en)-?\s?dessous|inférieur|déficit|"
    r"cay[óe]|caíd|cae\b(?! entre)|baj[aóo]|descen|disminu|pérdid|perdi|pierd|menos|menor|"
    r"más (?:baj|pequeñ)|debajo|inferior|déficit|reduj|rebaj)|"
    r"落后|下降|减少|缩短|下跌|跌|降低|降|亏损|低|负|缺口|短缺|गिर|घट|कमी|कम|पीछे|(?<!सबसे )नीचे",
)
"""A word in lower case that says that something fell, or that an amount is negative."""
INCREASE: Final = re.compile(
    r"\b(?:grew|grow|rose|rise|rais|increas|up\b|gain|climb|higher|more|above|over|"
    r"plus\b(?! (?:faible|bas|petit))|ahead|profit|larger|"
    r"vorsprung|avance|ventaja|supérieur|superior|super[aóo]\b|exceed|übertrifft|dépass|"
    r"n(?:ahm|imm|ehm)\w{0,3} [^;:\n]{0,40}?\bzu\b|verlänger|longer|lengthen|allong|alarg|"
    r"wuchs|wächst|gestiegen|stieg|steig|zuwachs|zugenommen|zulegen|legte|mehr|höher|größer|über|wachstum|anstieg|gewinn|"
    r"progress|gagn|augment|hauss|cro[iî]|cr[uû]|grimp|suppl|(?:au|en)-?\s?dessus|"
    r"gan[aó]\b|crec|aument|sub[ieí]|alza|avanz|increment|más(?! (?:baj|pequeñ))|encima|suma)|"
    r"领先|超过|超出|超支|增长|延长|上升|提高|增加|上涨|反弹|涨|升|高|多|वृद्धि|बढ़|अधिक|ज़्यादा|ज्यादा|ऊपर|आगे|लाभ",
)
"""A word in lower case that says that something grew, or that an amount is positive."""
RATIO: Final = re.compile(r"\bratio|\bfa[ck]tor\b|verhältnis|rapport (?:entre|de)\b|razón|比值|अनुपात", re.IGNORECASE)
"""A word that says that a number is a ratio."""
DIFFERENCE: Final = re.compile(
    r"differ|\bgaps?\b|\blead|margin|\bapart\b|extra|exceed|between|\badd|\bthan\b|without|remain|interquartile|"
    r"unterschied|differenz|abstand|vorsprung|spanne|gegenüber|zwischen|zusätzlich|\bals\b|\bohne\b|restlich|übrig|"
    r"différ|écart|avance|étendue|sépar|amplitude|\bsans\b|restant|\bsin\b|\bentre\b|diferenc|distanci|ventaja|brecha|rango|super[aó]|frente|contre|"
    r"差|距|之间|间|超|领先|净|不|其余|अंतर|फ़र्क|फर्क|फ़ासला|फासला|बीच|तुलना|मुक़ाबले|मुकाबले|बढ़त|आगे|पीछे|नहीं|बाक़ी|बाकी",
    re.IGNORECASE,
)
"""A word that says that two values are compared."""
STATISTIC: Final = re.compile(
    r"averag|mean\b|median|maxim|minim|highest|lowest|least|most\b|largest|smallest|deviation|quartile|rang|total|sum\b|altogether|combined|overall|"
    r"durchschnitt|mittel|höchst|niedrigst|größt|kleinst|abweichung|summe|gesamt|zusammen|"
    r"moyen|médian|élevé|faible|écart|ensemble|conjunto|promedi|media\b|mediana|máxim|mínim|mayor|menor|desviaci|"
    r"平均|中位|最高|最低|最大|最小|标准差|合计|总|औसत|अधिकतम|न्यूनतम|सबसे|कुल|जोड़|मिलाकर",
)
"""A word in lower case that names a statistic of a column."""
_HEADER_SCALES = {"mill": 6, "mio": 6, "mn": 6, "mrd": 9, "md": 9, "tsd": 3, "thousands": 3, "m": 6, "k": 3}
_HEADER_SCALES |= {"1e3": 3, "1e6": 6, "1e9": 9, "1e7": 7, "1000": 3, "10000": 4, "1000000": 6, "10000000": 7}
_HEADER_SCALES |= {
    f"{letter}{currency}": power for letter, power in (("m", 6), ("k", 3)) for currency in ("eur", "usd", "gbp", "chf")
}
_SCALE_WORD: Final = re.compile(
    # Code divides by a power of ten. A letter may be a name, such as that of a class of stars.
    r"(?:(?<=/)|(?<=/ )|(?<=\bin ))1(?:e[3-9]|0{0,2}(?:[_,]?000){1,3})(?![\w.,]*\d|\w)|"
    r"(?:\A|(?<=[_\d]))[A-Za-z](?![^\W_])|(?<= \()[A-Za-z](?=\))|(?<=[ (])[A-Za-z](?= ?[€$£¥₹]| [A-Z]{3}\b)|"
    r"[A-Za-zÀ-ɏ\u0900-\u0963]{2,}|百万|千万|万亿|[千万亿]"
)
PERCENT_HINT: Final = re.compile(
    r"%|pct|percent|prozent|pourcent|porcent|proportion|share|rate|ratio|anteil|quote|part\b|taux|tasa|cuota|growth|change|"
    r"conversion|return|volatil|yield|rendit|"
    r"wachstum|croissance|crecimiento|margin|accura|率|比|占|प्रतिशत|दर",
    re.IGNORECASE,
)
"""A word that says that numbers are percentages."""
_HEADER_UNITS = {one.lower(): one for one in CURRENCIES} | {
    "kg": "kg", "km": "km", "cm": "cm", "mm": "mm", "pct": "%", "percent": "%", "c": "°C", "f": "°F",
}  # fmt: skip
_HEADER_CHARS: Final = 120
"""Only the end of a longer name is searched for a unit, which bounds the memory of the cache."""


def scale_power(word: str) -> int:
    """Return the power of ten of a scale word, such as 6 for `Mio.`; 0 for any other word."""
    return 6 if word == "m" else _WORDS.get(word.strip(), 0)


def named_scales(texts: Iterable[str]) -> frozenset[int]:
    """Return the powers of ten of the scale words in short texts, such as 6 for `revenue (million)`."""
    return frozenset(
        scale_power(word.title()) or scale_power(word) or _HEADER_SCALES.get(re.sub("[_,]", "", word.lower()), 0)
        for text in texts
        if len(text) <= SHORT_CHARS
        for word in _SCALE_WORD.findall(text)
    ) - {0}


def unit_name(word: str) -> str:
    """Return the unit that a word or sign means, such as `EUR` for `€`; empty for any other word."""
    stripped = word.strip()
    return _UNIT_WORDS.get(re.sub("^(?:de |of |d['’])", "", stripped), "")


def power_of(match: re.Match[str]) -> int:
    """Return the power of ten in a match of `POWER`, limited to -400 to 400."""
    digits = match["e"] or match["p"] or match["s"].translate(_SUPERSCRIPTS)
    try:
        return max(-400, min(400, int(digits)))
    except ValueError:
        return 0


def header_unit(name: str) -> str:
    """Return the unit in the name of a column or line, such as `kg` in `weight_kg`; empty if there is none."""
    return _header_unit(name[-_HEADER_CHARS:])


@lru_cache(maxsize=1024)
def _header_unit(name: str) -> str:
    if match := re.search(r"(?<!\d)%|[€£₹$]", name):
        return unit_name(match[0])
    # A single letter at the end, such as in `mean F`, is the name of a group and no unit.
    words = re.split(r"[_\W]+", re.sub(r"\s[A-Za-z]$", "", name).lower())
    units = [_HEADER_UNITS[word] for word in words[1:] if word in _HEADER_UNITS]
    if units and _HEADER_UNITS.get(words[0]) in CURRENCIES:
        # The unit comes first in a price for an amount, such as `eur_kg`.
        return _HEADER_UNITS[words[0]]
    return units[-1] if units else ""
