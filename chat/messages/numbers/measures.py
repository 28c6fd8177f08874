"""Reads units of measure, such as hours and minutes, after numbers and in names of columns. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chat.messages.numbers.sources import SHORT_CHARS
from chat.messages.numbers.words_around_numbers import CURRENCIES

_DIMENSIONS: Final = {
    "time": {
        "ms": "ms msec millisecond milliseconds Millisekunden milliseconde millisecondes milisegundos 毫秒 मिलीसेकंड",
        "s": "s sec secs second seconds Sekunde Sekunden seconde secondes segundo segundos 秒 सेकंड सेकेंड",
        "min": "min mins Min minute minutes Minute Minuten minuto minutos 分钟 मिनट",
        "h": "h hr hrs hour hours Stunde Stunden Std heure heures hora horas 小时 घंटे घंटा",
        "d": "day days Tag Tage Tagen jour jours día días dias 天 दिन",
        "month": "month months Monat Monate Monaten mois mes meses 个月 महीने",
        "week": "week weeks Woche Wochen semaine semaines semana semanas 周 सप्ताह हफ़्ते हफ्ते",
        "y": "year years yr yrs Jahr Jahre Jahren ans année années año años 岁 वर्ष साल",
    },
    "speed": {"km/h": "km/h kmh kph", "m/s": "m/s", "mph": "mph"},
    "temperature": {"°C": "°C ℃", "°F": "°F ℉"},
    "mass": {
        "µg": "微克",
        "mg": "毫克 मिग्रा मिलीग्राम",
        "g": "克 ग्राम Gramm gramme grammes gramo gramos grams",
        "kg": "公斤 千克 किग्रा किलोग्राम kilogramos kilogrammes",
        "t": "t tonne tonnes Tonne Tonnen tonelada toneladas 吨 टन",
        "kt": "kt",
    },
    "length": {"mm": "毫米 मिमी", "cm": "厘米 सेमी", "m": "米 मीटर Meter mètres metros metres", "km": "公里 千米 किमी"},
    "volume": {"L": "升 ली लीटर", "m³": "m³ m3 立方米"},
    "area": {"ha": "ha 公顷 हेक्टेयर"},
    "energy": {"kWh": "千瓦时 किलोवाट-घंटे", "MWh": "兆瓦时 मेगावाट-घंटे", "GWh": "吉瓦时 गीगावाट-घंटे"},
    "currency": {one: one for one in sorted(CURRENCIES)}
    | {"cent": "cent cents ct Cent centime centimes céntimo céntimos centavo centavos सेंट 美分 欧分 paise पैसे"},
}
"""Dimension -> its units -> the words for each unit."""
_PREFIXED: Final = {
    # First, so that the names of columns, which have no upper case, mean millimetres rather than millimoles per litre.
    "molarity": ("M", "nµm"),
    "length": ("m", "nµmck"),
    "mass": ("g", "µmk"),
    "volume": ("L", "µmch"),
    "pressure": ("Pa", "hkMG"),
    "power": ("W", "mkMGT"),
    "energy": ("Wh", "kMGT"),
    "work": ("J", "kMG"),
    "force": ("N", "k"),
    "voltage": ("V", "mk"),
    "frequency": ("Hz", "kMG"),
    "storage": ("B", "kMGT"),
}
"""Dimension -> its unit, and the prefixes that the unit is written with."""
_PREFIXES: Final = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "c": 1e-2, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PREFIXED_UNITS: Final = {
    f"{prefix}{base}": (dimension, _PREFIXES.get(prefix, 1.0))
    for dimension, (base, prefixes) in _PREFIXED.items()
    for prefix in ("", *prefixes)
}
_SPELLINGS: Final = (("", ""), ("L", "l"), ("µ", "μ"), ("µ", "u"), ("kB", "KB"))
"""A part of a unit, and how else it is written."""
_SYMBOLS: Final = {
    unit.replace(*spelling): unit for unit in _PREFIXED_UNITS if unit not in "BM" for spelling in _SPELLINGS
}
_DIMENSION_OF: Final = {unit: dimension for dimension, units in _DIMENSIONS.items() for unit in units} | {
    unit: dimension for unit, (dimension, _) in _PREFIXED_UNITS.items()
}
_UNIT_OF: Final = _SYMBOLS | {
    word: unit for units in _DIMENSIONS.values() for unit, words in units.items() for word in words.split()
}
_SIZES: Final = (
    {unit: size for unit, (_, size) in _PREFIXED_UNITS.items()}
    | dict.fromkeys(_DIMENSIONS["currency"], 1.0)
    | {"cent": 0.01, "t": 1e6, "kt": 1e9, "ms": 0.001, "s": 1.0, "min": 60.0}
    | {"h": 3600.0, "d": 86400.0, "week": 604800.0, "km/h": 1 / 3.6, "m/s": 1.0, "mph": 0.44704}
)
"""The sizes of units, compared with others of the same dimension: `km` is 1000 times `m`."""
_WORDS: Final = "|".join(
    re.escape(word) + (r"(?![A-Za-zÀ-ɏ/²³'’])" if word[-1].isascii() else "") for word in sorted(_UNIT_OF, reverse=True)
)
_AFTER: Final = re.compile(rf"[ \u00a0\u202f]?(?P<word>{_WORDS})")
_COMPOUND: Final = re.compile(
    r"[ \u00a0\u202f]?([\u0900-\u0963]+|[^\W\d_]+)/"
    r"(升|公顷|秒|分钟|小时|(?:[\u0900-\u0963]+|[^\W\d_\u3400-\u9fff]+)[²³23]?)"
)
"""A unit that is divided by another one, such as `mg/l`."""
_NAME: Final = re.compile(r"[^\W\d]\w*")
_MAXIMUM: Final = re.compile("_max")
_IN_BRACKETS: Final = re.compile(r"[(\[（](?P<unit>[^()\[\]（）]{1,8})[)\]）]")
_LETTERS: Final = re.compile(r"[A-Za-z]{2,3}(?![A-Za-z])|千瓦时|兆瓦时|吉瓦时")
_NAMES: Final = {
    **{word.lower(): unit for word, unit in _UNIT_OF.items() if len(word) > 1 or word in "mgtsh"},
    "c": "°C",
    "f": "°F",
    "l": "L",
}
"""The last word of a column's name -> its unit."""
_UNIT_NAMES: Final = (
    "seconds sekunden secondes segundos minutes minuten minutos hours stunden heures horas days tage jours días dias "
    "months monate meses years jahre années años tonnes cents kwh mwh gwh twh mpa kpa mhz ghz"
)
_ARE_NAMES: Final = frozenset(_UNIT_NAMES.split())
"""Names of columns that are units themselves. Others, such as `month`, `min` and `km`, may mean something else."""
PERIODS: Final = frozenset({"d", "month", "y"})
"""Units that rows of a table are counted in, so that `12 months` may be a number of rows."""
_AGES: Final = frozenset({"age", "ages", "alter", "edad", "âge", "年龄", "आयु", "उम्र"})
"""Names of columns whose numbers are years."""
_TIMES: Final = {
    ("ms", "s"): 1000,
    ("s", "min"): 60,
    ("min", "h"): 60,
    ("h", "d"): 24,
    ("d", "month"): 30,
    ("d", "y"): 365,
    ("month", "y"): 12,
    ("y", "decade"): 10,
}
"""Two units of time -> how many of the first one the second one has."""
_DECADES: Final = "decade decades jahrzehnt jahrzehnte décennie décennies década décadas दशक 十年"
_TIME_OF: Final = {
    word.lower(): unit for unit, words in {**_DIMENSIONS["time"], "decade": _DECADES}.items() for word in words.split()
}
_TIME_WORD: Final = re.compile(
    "|".join(
        rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word)
        for word in sorted(_TIME_OF, reverse=True)
        if word != "s"
    )
)


def measure_after(text: str, position: int) -> str:
    """Return the unit that is written at a position of a text; empty if it is no unit of measure."""
    if match := _COMPOUND.match(text, position):
        one, other = match.groups()
        if unit := _UNIT_OF.get(f"{one}/{other}") or _compound(_UNIT_OF.get(one, ""), _UNIT_OF.get(other, "")):
            return unit
    match = _AFTER.match(text, position)
    return _UNIT_OF[match["word"]] if match else ""


def _compound(one: str, other: str) -> str:
    """Return a unit that is divided by another one; empty if one of them is no unit."""
    return f"{one}/{other}" if one and other else ""


def dimension_of(measure: str) -> str:
    """Return the dimension of a unit, such as `time`, or `mass/L` for `mg/L`; empty if there is no unit."""
    one, slash, other = measure.partition("/")
    return _DIMENSION_OF.get(measure) or (f"{_DIMENSION_OF[one]}/{other}" if slash else "")


def size_of(measure: str) -> float:
    """Return the size of a unit, compared with others of its dimension; 0 if it is unknown."""
    return _SIZES.get(measure) or _SIZES.get(measure.partition("/")[0], 0)


def measure_in_brackets(name: str) -> str:
    """Return the unit that a name has in brackets, such as `t` of `weight (t)`; empty if it has none."""
    match = _IN_BRACKETS.search(name)
    return _NAMES.get(match["unit"].lower(), "") or measure_after(match["unit"], 0) if match else ""


def stems_of_maxima(names: Iterable[str]) -> frozenset[str]:
    """Return what is before `_max` in names, such as `wind` of `wind_max`, so that `wind_min` is a minimum."""
    return frozenset(name[: match.start()] for name in map(str.lower, names) for match in _MAXIMUM.finditer(name))


def measure_of_name(name: str, maxima: Collection[str] = ()) -> str:
    """Return the unit that the name of a column holds, such as `h` of `flight_hours`; empty if it has none.

    `maxima`: what `stems_of_maxima` returns for the names beside it.
    """
    if unit := measure_in_brackets(name):
        return unit
    first, _, last = name.lower().rstrip("_0123456789").rpartition("_")
    if last in _AGES:
        return "y"
    if not first:
        return _NAMES[last] if last in _ARE_NAMES else ""
    before, unit = first.rpartition("_")[2], _NAMES.get(last, "")
    compound = _NAMES.get(f"{before}/{last}") or _compound(_NAMES.get(before, ""), unit)
    return "" if last == "min" and first in maxima else compound or unit


@dataclass(frozen=True, slots=True)
class KnownUnits:
    """The units in names of columns."""

    units: frozenset[str]
    of_stems: Mapping[str, str]
    """A name without its unit -> the unit, such as `weight` and `kg` for `weight_kg`."""


def known_units(texts: Iterable[str]) -> KnownUnits:
    """Return the units in the names that short texts contain, such as names of columns in code."""
    names = {name for text in texts if len(text) <= SHORT_CHARS for name in _NAME.findall(text.lower())} - _AGES
    parts = {part for name in names for part in name.split("_") if len(part) > 1}
    # A letter between two words is a unit, as in `yield_t_ha`.
    parts |= {part for name in names for part in name.split("_")[1:-1]} & {"g", "t"}
    inner = {unit for word, unit in (_SYMBOLS | {"t": "t"}).items() if word.lower() in parts}
    maxima = stems_of_maxima(names)
    found = {name: unit for name in names if (unit := measure_of_name(name, maxima))}
    stems = {stem: unit for name, unit in found.items() if (stem := name.rpartition("_")[0])}
    return KnownUnits(frozenset(found.values()) | inner, stems)


@lru_cache(maxsize=32)
def time_factors(text: str) -> tuple[int, ...]:
    """Return the factors between the units of time that a text names, such as 60 for minutes and hours."""
    units = {_TIME_OF[word] for word in _TIME_WORD.findall(text)}
    return tuple(factor for pair, factor in _TIMES.items() if units.issuperset(pair))


def other_sizes(measure: str, known: frozenset[str]) -> dict[str, float]:
    """Return the other known units of the dimension of a unit, with their sizes: 1000 for `km` and the unit `m`."""
    size, dimension = size_of(measure), dimension_of(measure)
    same = (one for one in known if size and size_of(one) and dimension_of(one) == dimension)
    return {one: size_of(one) / size for one in same if size_of(one) != size}


def written_measures(texts: Iterable[str]) -> frozenset[str]:
    """Return the units with prefixes in short texts, such as `GWh`."""
    words = {word for text in texts if len(text) <= SHORT_CHARS for word in _LETTERS.findall(text)}
    return frozenset(unit for word in words if (unit := _UNIT_OF.get(word, "")) in _PREFIXED_UNITS)


def is_other_measure(measure: str, known: Collection[str]) -> bool:
    """Return whether `known` has units of the same dimension as a unit, but not this unit."""
    dimension = dimension_of(measure)
    return bool(dimension) and measure not in known and any(dimension_of(one) == dimension for one in known)
