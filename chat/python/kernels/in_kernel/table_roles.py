"""Runs inside a kernel: finds the role of a column's values, such as identifiers, years or money."""

from __future__ import annotations

import re
from itertools import islice

from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_numbers import is_whole

YEARS = range(1500, 2101)
UNIQUE_SHARE = 0.95
"""Minimum share of different values in a column of identifiers whose name alone is not enough evidence."""
TEXTS_LIMIT = 2_000
"""Maximum number of different texts of a column from which its role is found."""
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


def role_of(column: Column, distinct: int) -> str:
    """Return `identifier`, `year`, `code`, `money` or `percent`; empty if the column has no role.

    `distinct`: the number of its different values.
    """
    # Drop the type that MongoDB adds to a name: `count.$numberLong`.
    words = [word.lower() for word in _WORDS_OF_NAMES.findall(column.name.partition(".$")[0])]
    last = words[-1] if words else ""
    is_name_of = {
        "identifier": not _IDENTIFIER.isdisjoint(words),
        "numbered": not _NUMBERED.isdisjoint(words) or last.endswith(_NUMBERED_ENDINGS),
        "year": not _YEAR.isdisjoint(words) or last.endswith(_YEAR_ENDINGS),
        "code": not _CODE.isdisjoint(words) or last.endswith(_CODE_ENDINGS),
    }
    present = column.cells - column.missing
    is_unique = present > 0 and distinct >= UNIQUE_SHARE * present
    if column.group == "number":
        return _role_of_numbers(column, is_name_of, is_unique=is_unique)
    if column.group != "text":
        return ""
    texts = list(islice(column.texts, TEXTS_LIMIT))
    if texts and all(map(_UUID.fullmatch, texts)):
        return "identifier"
    is_short = all(len(text) <= 24 and text.count(" ") <= 3 for text in texts)
    if texts and is_short and is_name_of["code"]:
        return "code"
    if "zeros" in column.oddities:
        return "identifier" if is_name_of["identifier"] and is_unique else "code"
    if texts and all(map(_PHONE.fullmatch, texts)):
        return "code"
    is_identifier = is_name_of["identifier"] or is_name_of["numbered"]
    return "identifier" if texts and is_short and is_identifier and is_unique else ""


def _role_of_numbers(column: Column, is_name_of: dict[str, bool], *, is_unique: bool) -> str:
    units = {form.unit for form in column.forms} - {""}
    # In a column with missing values, pandas writes whole identifiers as `12.0`.
    if column.numbers and not units and (column.kind == "integer" or all(map(is_whole, column.numbers))):
        low, high = min(column.numbers), max(column.numbers)
        if is_name_of["year"] and low in YEARS and high in YEARS:
            return "year"
        if low >= 0 and is_name_of["code"] and not is_name_of["identifier"]:
            return "code"
        if is_name_of["identifier"] or (low >= 0 and is_name_of["numbered"] and is_unique):
            return "identifier"
        if low >= LEAST_LONG or (is_unique and low <= -LEAST_HASH and high >= LEAST_HASH):
            return "identifier"
    if units - PERCENT_SIGNS and "measure" not in column.oddities:
        return "money"
    return "percent" if units & PERCENT_SIGNS else ""
