"""Runs inside a kernel: finds the role of a column's values, such as identifiers, years or money."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_numbers import Number

YEARS = range(1500, 2101)
UNIQUE_SHARE = 0.95
"""Minimum share of different values in a column of identifiers whose name alone is not enough evidence."""
PERCENT_SIGNS = frozenset({"%", "‰", "％"})
LEAST_LONG = 10**14
"""Whole numbers of 15 or more digits are identifiers, not quantities."""
LEAST_HASH = 10**17
"""A column of hashes has positive and negative numbers as large as this, because hashes use all 64 bits."""

_WORDS_OF_NAMES = re.compile(r"[A-Z]+(?![a-zà-ÿ])|[A-ZÀ-Þ]?[a-zà-ÿ]+|[^\W\d_A-Za-zÀ-ÿ]+|#")
_IDENTIFIER = frozenset({"id", "ids", "uuid", "guid", "oid", "pk", "key", "kennung", "ident", "identifier", "编号"})
_NUMBERED = frozenset(
    {
        "nr",
        "no",
        "num",
        "number",
        "nummer",
        "numero",
        "número",
        "numéro",
        "#",
        "index",
        "idx",
        "row",
        "lfd",
        "seq",
        "ref",
    }
)
_NUMBERED_ENDINGS = ("nummer", "nr", "kennung", "kennzeichen", "编号", "序号", "号码", "编码")
_YEAR = frozenset({"year", "years", "yr", "jahr", "jahre", "anno", "año", "ano", "année", "annee", "rok", "jaar", "år"})
_YEAR_ENDINGS = ("jahr", "jahrgang", "year", "год", "年", "年份", "年度")
_CODE = frozenset(
    {
        *("code", "codes", "plz", "zip", "zipcode", "postal", "postcode", "cp", "cap", "postnummer"),
        *("phone", "tel", "telephone", "mobile", "handy", "fax", "telefono", "teléfono", "téléphone"),
        *("iban", "bic", "blz", "vat", "isbn", "issn", "ean", "gtin", "upc", "sku"),
        *("iso", "iso2", "iso3", "fips", "naics", "nuts", "ags"),
    }
)
_CODE_ENDINGS = ("plz", "postleitzahl", "telefon", "code", "邮编", "电话", "代码")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_PHONE = re.compile(r"(?:\+|00)[1-9][0-9 ()/.-]{6,20}")


class Facts(NamedTuple):
    """The facts about a column's values from which its role is found."""

    name: str
    group: str
    """The kind of values: `number`, `date`, `text` and so on."""
    is_whole: bool
    present: int
    distinct: int
    low: Number
    high: Number
    units: frozenset[str]
    is_money: bool
    has_zeros: bool
    """Whether there are numbers with leading zeros."""
    texts: Iterable[str]
    """Some of its texts."""


def role_of(facts: Facts) -> str:
    """Return `identifier`, `year`, `code`, `money` or `percent`; empty if the column has no role."""
    # Drop the type that MongoDB adds to a name: `count.$numberLong`.
    words = [word.lower() for word in _WORDS_OF_NAMES.findall(facts.name.partition(".$")[0])]
    last = words[-1] if words else ""
    is_name_of = {
        "identifier": not _IDENTIFIER.isdisjoint(words),
        "numbered": not _NUMBERED.isdisjoint(words) or last.endswith(_NUMBERED_ENDINGS),
        "year": not _YEAR.isdisjoint(words) or last.endswith(_YEAR_ENDINGS),
        "code": not _CODE.isdisjoint(words) or last.endswith(_CODE_ENDINGS),
    }
    is_unique = facts.present > 0 and facts.distinct >= UNIQUE_SHARE * facts.present
    if facts.group == "number":
        return _role_of_numbers(facts, is_name_of, is_unique=is_unique)
    if facts.group != "text":
        return ""
    texts = list(facts.texts)
    if texts and all(map(_UUID.fullmatch, texts)):
        return "identifier"
    is_short = all(len(text) <= 24 and text.count(" ") <= 3 for text in texts)
    if texts and is_short and is_name_of["code"]:
        return "code"
    if facts.has_zeros:
        return "identifier" if is_name_of["identifier"] and is_unique else "code"
    if texts and all(map(_PHONE.fullmatch, texts)):
        return "code"
    is_identifier = is_name_of["identifier"] or is_name_of["numbered"]
    return "identifier" if texts and is_short and is_identifier and is_unique else ""


def _role_of_numbers(facts: Facts, is_name_of: dict[str, bool], *, is_unique: bool) -> str:
    if not facts.units and facts.is_whole and facts.present:
        if is_name_of["year"] and facts.low in YEARS and facts.high in YEARS:
            return "year"
        is_natural = facts.low >= 0
        if is_natural and is_name_of["code"] and not is_name_of["identifier"]:
            return "code"
        if is_name_of["identifier"] or (is_natural and is_name_of["numbered"] and is_unique):
            return "identifier"
        if facts.low >= LEAST_LONG or (is_unique and facts.low <= -LEAST_HASH and facts.high >= LEAST_HASH):
            return "identifier"
    if facts.is_money:
        return "money"
    return "percent" if facts.units & PERCENT_SIGNS else ""
