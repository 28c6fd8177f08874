"""Runs inside a kernel: parses numbers as people write them, with thousands separators, currencies or units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from struct import pack, unpack
from typing import NamedTuple, TypeAlias

Number: TypeAlias = int | float | Decimal
SHOWN_LIMIT_DIGITS = 36
"""Maximum number of digits of a number that is shown in full. A longer one is shown as `1.234567e+400`, or is cut."""
EXACT_FLOAT_DIGITS = 15
"""Number of digits that every float keeps exactly."""

_CURRENCY_SIGN = r"[A-Z]{0,3}\$|[€£¥￥฿元円원\u20a0-\u20cf]"
_CURRENCY_CODE = (
    "EUR|Eur|eur|Euro|USD|usd|GBP|CHF|JPY|CNY|RMB|INR|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|BRL|MXN|CAD|AUD"
    "|NZD|SGD|HKD|TWD|KRW|THB|IDR|MYR|PHP|VND|ZAR|NGN|KES|EGP|ILS|AED|SAR|COP|CLP|ARS|PEN|UYU|BOB|PYG|CRC|DOP|GTQ|RSD"
    "|BAM|MKD|HRK|GEL|AZN|KZT|UZS|MDL|BYN|QAR|KWD|OMR|BHD|JOD|MAD|TND|PKR|BDT|LKR|NPR|GHS|UGX|TZS|RWF|XOF|XAF"
)
_CURRENCY_WORD = r"[Kk]r\.?|Kč|zł|Ft|lei|лв\.?|руб\.?|р\.|грн\.?|R[sp]\.?|K[Ss]h\.?|S/\.?|S?Fr\.|(?:RM|TL)(?!\d)"
_CURRENCY = rf"{_CURRENCY_SIGN}|{_CURRENCY_CODE}|{_CURRENCY_WORD}"
_SPACES = " \u00a0\u202f\u2009\u2007"
_THOUSANDS_MARKS = f"{_SPACES}'’"
_EXPONENT = r"(?:[eE][+-]?\d{1,3})?"
_BODY = rf"""(?P<integer>\d+)
    |(?P<comma_thousands>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,2}}(?:,\d{{2}})+,\d{{3}}(?:\.\d+)?)
    |(?P<dot_thousands>\d{{1,3}}(?:\.\d{{3}})+,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}})
    |(?P<point>(?:\d+\.\d*|\.\d+|\d+){_EXPONENT})
    |(?P<comma>\d*,\d+{_EXPONENT})
    |(?P<other_thousands>\d{{1,3}}(?:[{_THOUSANDS_MARKS}]\d{{3}})+(?:[.,]\d+)?)"""
_NUMBER = re.compile(
    rf"""(?P<minus>[+−–-])?[{_SPACES}]?(?P<opened>\()?(?P<before>{_CURRENCY}|%)?[{_SPACES}]?
    (?P<inner_minus>[+−–-])?(?P<inner_opened>\()?(?P<body>{_BODY})
    (?P<dash>[.,:][-–—−]{{1,2}}|/-)?(?P<last_minus>(?<![.,])[−-])?
    [{_SPACES}]?(?P<after>{_CURRENCY}|%|‰|％)?(?P<closed>\))?(?:[{_SPACES}]?(?P<last>{_CURRENCY}))?""",
    re.VERBOSE,
)
_UNIT = (
    rf"[{_SPACES}](?:[$£€]?/)?[^\W\d_][^\s\d,;:()]{{0,11}}(?: [$£€])?[²³]?|[万亿億만억][元円원]?"
    rf"|[{_SPACES}]?(?:°[CFK]?|[µμ][gmls]|[kmcdMGT]?(?:g|m|l|L|Wh|Hz)|[kmMGT][WBVA]"
    r"|[kmc]?m[²³23]|km/h|m/s|ms|s|min|h|ha|[KMGT]iB|px|pt|lbs?|oz|ft|mph|dB|bar|hPa|kPa|mbar|ppm|x)"
)
_MEASURE = re.compile(rf"(?P<number>[+−-]?[\d.,{_THOUSANDS_MARKS}]*\d)(?P<unit>{_UNIT})")
_SCALED = re.compile(rf"(?:{_CURRENCY_SIGN})?[{_SPACES}]?(?P<number>[+−-]?[\d.,]*\d)(?P<unit>[KMBTk]|[bm]n)")
SCALES = frozenset({"K", "M", "B", "T", "k", "bn", "mn"})
"""Units that mean a factor, such as thousands or millions."""
_STYLES = ("integer", "comma_thousands", "dot_thousands", "point", "comma", "other_thousands")
_THREE_DECIMALS = re.compile(r"\d{1,3}[.,]\d{3}")
_TO_SHAPE = str.maketrans("123456789", "000000000")
_NO_MARKS = str.maketrans("", "", _THOUSANDS_MARKS)


class NumberForm(NamedTuple):
    """How a number is written. Texts that differ only in their digits have the same form."""

    style: str
    """`integer`, `point` or `comma` (before decimals), `comma thousands`, `dot thousands` or `other thousands`."""
    start: int
    """Index of the first digit in the text."""
    end: int
    is_negative: bool
    unit: str
    """The currency, the percent sign or a unit; empty if there is none."""
    sign: str
    """`brackets` for `(10)`, `trailing` for `10-`, `dash` for `10,-`; else empty."""
    is_doubtful: bool
    """Whether the only mark may be a decimal mark or a thousands separator, as in `1.234`."""
    decimal: str
    """The decimal mark, `.` or `,`; empty if the form does not show it."""
    mark: str
    """The thousands separator, if it is neither a point nor a comma."""


def shape_of(text: str) -> str:
    """Return the text with zeros in place of its digits. A column of many numbers has few shapes."""
    return text.translate(_TO_SHAPE)


@lru_cache(maxsize=4096)
def number_form(shape: str) -> NumberForm | None:
    """Return the form of a number with this shape; `None` if the text is not a number."""
    match = _NUMBER.fullmatch(shape)
    if match is None:
        return None
    has_brackets = bool(match["opened"] or match["inner_opened"])
    units = [unit for unit in match.group("before", "after", "last") if unit]
    minuses = [sign for sign in match.group("minus", "inner_minus", "last_minus") if sign]
    if has_brackets != bool(match["closed"]) or len(units) > 1 or len(minuses) + has_brackets > 1:
        return None
    sign = "brackets" if has_brackets else "trailing" if match["last_minus"] else "dash" if match["dash"] else ""
    style = next(name for name in _STYLES if match[name] is not None)
    body = match["body"]
    is_doubtful = style in ("point", "comma_thousands") and bool(_THREE_DECIMALS.fullmatch(body))
    decimal = ""
    if match["dash"]:
        decimal = match["dash"][0].strip(":/")
    elif style in ("comma", "dot_thousands") or (style == "other_thousands" and "," in body):
        decimal = ","
    elif style != "integer" and not is_doubtful and (style != "other_thousands" or "." in body):
        decimal = "."
    mark = next((one for one in body if one in _THOUSANDS_MARKS), "")
    is_negative = has_brackets or any(sign != "+" for sign in minuses)
    return NumberForm(
        *(style.replace("_", " "), *match.span("body"), is_negative, "".join(units).strip(_SPACES)),
        *(sign, is_doubtful, decimal, mark),
    )


@lru_cache(maxsize=4096)
def measure_form(shape: str) -> NumberForm | None:
    """Return the form of a number that may have a unit after it; `None` for another text."""
    match = _MEASURE.fullmatch(shape) or _SCALED.fullmatch(shape)
    form = number_form(match["number"] if match else shape)
    return form._replace(unit=match["unit"].strip(_SPACES).rstrip(".")) if match and form else form


def decimals_in(form: NumberForm, texts: Iterable[str]) -> str:
    """Return the decimal mark of these texts, which have one form; empty if they do not show it."""
    if form.is_doubtful and any(text[form.start] == "0" for text in texts):
        # The digits before a thousands separator do not begin with zero, so this is a decimal mark.
        return "." if form.style == "point" else ","
    return form.decimal


def number_of(text: str, form: NumberForm, decimal: str) -> Number:
    """Return the exact value of a text. `decimal`: the decimal mark of its column, `.` or `,`."""
    body = text[form.start : form.end]
    if form.style == "integer":
        return -int(body) if form.is_negative else int(body)
    if form.is_doubtful:
        is_comma = (body[0] != "0" and decimal == ",") or (form.style != "point" and body[0] == "0")
    else:
        is_comma = form.decimal == ","
    if form.mark:
        body = body.translate(_NO_MARKS)
    body = body.replace(".", "").replace(",", ".") if is_comma else body.replace(",", "")
    # Put the minus into the text: negating a Decimal of more than 28 digits would round it.
    return number_of_digits(f"-{body}" if form.is_negative else body)


def number_of_digits(body: str) -> Number:
    """Return the value of digits with a point: a float if it keeps every digit, else a Decimal."""
    if len(body) <= EXACT_FLOAT_DIGITS:
        value = float(body)
        if math.isfinite(value):
            return value
    return Decimal(body)


def is_whole(number: Number) -> bool:
    """Return whether a number has no decimals. Spreadsheets store every number with decimals."""
    if isinstance(number, int):
        return True
    if isinstance(number, float):
        return number.is_integer()
    return number.is_finite() and number == number.to_integral_value()


def show_number(number: Number) -> str:
    """Return a number as text, without thousands separators and rounding errors, see `SHOWN_LIMIT_DIGITS`."""
    if isinstance(number, float):
        if not math.isfinite(number):
            return str(number)
        is_exact = number.is_integer()
        text = _shortest(number) if not is_exact else str(int(number)) if abs(number) < 2**63 else repr(number)
        exact = Decimal(text)
    else:
        exact = Decimal(number)
    if not -SHOWN_LIMIT_DIGITS / 2 < exact.adjusted() < SHOWN_LIMIT_DIGITS and exact:
        digits, _, exponent = f"{exact:.6e}".partition("e")
        return f"{digits.rstrip('0').rstrip('.')}e{exponent}"
    text = f"{exact:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if len(text) <= SHOWN_LIMIT_DIGITS + 2 else text[: SHOWN_LIMIT_DIGITS + 1] + "…"


def _shortest(number: float) -> str:
    """Return the digits of a float without rounding errors: `0.3` for 0.1 + 0.2, and `0.1` for a 32-bit 0.1."""
    text = repr(number)
    if sum(map(str.isdigit, text)) <= EXACT_FLOAT_DIGITS:
        return text
    with suppress(OverflowError):
        packed = pack("f", number)
        if unpack("f", packed)[0] == number:
            texts = (f"{number:.{digits}g}" for digits in range(6, 10))
            return next(short for short in texts if pack("f", float(short)) == packed)
    return f"{number:.{EXACT_FLOAT_DIGITS}g}"


def thousands_mark(forms: Iterable[NumberForm], decimal: str) -> str:
    """Return the thousands separator of numbers with these forms; empty if there is none."""
    for form in forms:
        if form.mark or form.style in ("comma thousands", "dot thousands"):
            is_decimal = form.is_doubtful and decimal == ","
            if not is_decimal:
                return form.mark or ("," if form.style == "comma thousands" else ".")
        elif form.is_doubtful and decimal == ",":
            return "."
    return ""
