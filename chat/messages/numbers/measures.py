"""Reads units of measure, such as hours and minutes, after numbers and in names of columns. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_DIMENSIONS: Final = {
    "time": {
        "min": "min mins minute minutes Minute Minuten minuto minutos 分钟 मिनट",
        "h": "h hr hrs hour hours Stunde Stunden Std heure heures hora horas 小时 घंटे घंटा",
        "d": "day days Tag Tage Tagen jour jours día días dias 天 दिन",
        "month": "month months Monat Monate Monaten mois mes meses 个月 महीने",
        "y": "year years yr yrs Jahr Jahre Jahren ans année années año años 岁 वर्ष साल",
    },
    "energy": {"kWh": "kWh 千瓦时", "MWh": "MWh 兆瓦时", "GWh": "GWh 吉瓦时", "TWh": "TWh"},
    "speed": {"km/h": "km/h kmh kph", "m/s": "m/s", "mph": "mph"},
    "temperature": {"°C": "°C ℃", "°F": "°F ℉"},
    "length": {"mm": "mm 毫米 मिमी", "cm": "cm 厘米", "m": "m", "km": "km 公里 千米"},
    "mass": {"g": "g", "kg": "kg 公斤 千克", "t": "t tonne tonnes Tonne Tonnen tonelada toneladas 吨 टन", "kt": "kt"},
    "currency": {one: one for one in ("EUR", "USD", "GBP", "JPY", "CNY", "INR", "CHF")},
}
"""Dimension -> its units -> the words for each unit."""
_DIMENSION_OF: Final = {unit: dimension for dimension, units in _DIMENSIONS.items() for unit in units}
_UNIT_OF: Final = {
    word: unit for units in _DIMENSIONS.values() for unit, words in units.items() for word in words.split()
}
_WORDS: Final = "|".join(
    re.escape(word) + (r"(?![A-Za-zÀ-ɏ/²³])" if word[-1].isascii() else "") for word in sorted(_UNIT_OF, reverse=True)
)
_AFTER: Final = re.compile(rf"[ \u00a0\u202f]?(?P<word>{_WORDS})")
_NAME: Final = re.compile(r"[a-z]+(?:_[a-z]+)*")
_LETTERS: Final = re.compile(r"[A-Za-z]{2,3}(?![A-Za-z])|千瓦时|兆瓦时|吉瓦时")
_NAMES: Final = {
    "c": "°C",
    "f": "°F",
    "days": "d",
    "day": "d",
    "hours": "h",
    "years": "y",
    "months": "month",
    "tonnes": "t",
} | {unit.lower().replace("/", ""): unit for unit in _DIMENSION_OF}
"""The last word of a column's name -> its unit."""
_POWERS: Final = {
    "kWh": 3,
    "MWh": 6,
    "GWh": 9,
    "TWh": 12,
    "mm": -3,
    "cm": -2,
    "m": 0,
    "km": 3,
    "g": 0,
    "kg": 3,
    "t": 6,
    "kt": 9,
}
"""The powers of ten of units of energy, length and mass: `km` is 10^3 `m`."""
_LEAST_CHARS: Final = 3
"""Minimum length of a column's name that is itself a unit, such as `hours`. Shorter names, and `min`, mean something
else.
"""
_LIMIT_CHARS: Final = 40_000
_TIMES: Final = {("min", "h"): 60, ("h", "d"): 24, ("d", "month"): 30, ("d", "y"): 365, ("month", "y"): 12}
_TIME_OF: Final = {word.lower(): unit for unit, words in _DIMENSIONS["time"].items() for word in words.split()}
_TIME_WORD: Final = re.compile(
    "|".join(
        rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in sorted(_TIME_OF, reverse=True)
    )
)


def measure_after(text: str, position: int) -> str:
    """Return the unit that is written at a position of a text; empty if it is no unit of measure."""
    match = _AFTER.match(text, position)
    return _UNIT_OF[match["word"]] if match else ""


def measure_of_name(name: str) -> str:
    """Return the unit that the name of a column holds, such as `h` of `flight_hours`; empty if it has none."""
    first, _, last = name.lower().rpartition("_")
    if not first and (last == "min" or len(last) < _LEAST_CHARS):
        return ""
    return _NAMES.get(last, "")


def named_measures(texts: Iterable[str]) -> frozenset[str]:
    """Return the units in the names that short texts contain, such as names of columns in code."""
    names = {name for text in texts if len(text) <= _LIMIT_CHARS for name in _NAME.findall(text.lower())}
    parts = {part for name in names for part in name.split("_") if len(part) > 1}
    inner = {unit for unit in _POWERS if unit.lower() in parts}
    return (frozenset(map(measure_of_name, names)) | inner) - {""}


@lru_cache(maxsize=32)
def time_factors(text: str) -> list[int]:
    """Return the factors between the units of time that a text names, such as 60 for minutes and hours."""
    units = {_TIME_OF[word] for word in _TIME_WORD.findall(text)}
    return [factor for pair, factor in _TIMES.items() if units.issuperset(pair)]


def powers_between(measure: str, known: frozenset[str]) -> set[int]:
    """Return the powers of ten between a unit and each other known unit of its dimension. A number with this unit is
    divided by them.
    """
    same = (one for one in known if one != measure and _DIMENSION_OF[one] == _DIMENSION_OF.get(measure))
    return {_POWERS[one] - _POWERS[measure] for one in same if one in _POWERS and measure in _POWERS}


def written_measures(texts: Iterable[str]) -> frozenset[str]:
    """Return the units of energy, length and mass in short texts, such as `GWh`."""
    words = {word for text in texts if len(text) <= _LIMIT_CHARS for word in _LETTERS.findall(text)}
    return frozenset(_UNIT_OF[word] for word in words if _UNIT_OF.get(word) in _POWERS)


def is_other_measure(measure: str, known: frozenset[str]) -> bool:
    """Return whether `known` has units of the same dimension as a unit, but not this unit."""
    dimension = _DIMENSION_OF.get(measure)
    return bool(dimension) and measure not in known and any(_DIMENSION_OF[one] == dimension for one in known)
