"""The controls of a preview, with which a person chooses how a table is read. Pure, except for the active language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from attachments.chosen_encodings import ENCODINGS
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import Choice, TableReading
from chat.python.table_readings.choices import DATE_ORDERS, DECIMALS, HEADER_ROWS_LIMIT, KEYS, parse_choices
from chat.python.table_readings.table_files import suffix_of

DELIMITERS = (",", ";", "\t", "|", " ")
WORDS_SEPARATOR = ","

_TEXT = ("encoding", "delimiter", "decimal", "header_rows", "date_order", "missing_words")
_SHEETS = ("sheet", "header_rows", "decimal", "date_order", "missing_words")
_JSON = ("encoding", "path", "date_order", "missing_words")
_BY_SUFFIX = {
    **dict.fromkeys(("csv", "tsv", "tab", "txt"), _TEXT),
    **dict.fromkeys(("json", "jsonl", "ndjson"), _JSON),
    **dict.fromkeys(("parquet", "feather", "arrow", "dta"), ()),
}
"""Keys of the controls by the extension of a file. All other files have those of a workbook (`_SHEETS`)."""
_NAMED = ("sheet", "path")
"""Keys whose possible values come only from the file, such as the names of its sheets."""
_ORDER = (*_NAMED, *(key for key in KEYS if key not in _NAMED))


@dataclass(frozen=True, slots=True)
class Option:
    """One value that can be chosen."""

    value: str
    label: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """A control of one key: a list of options, or a text box if there are none."""

    key: str
    label: str
    options: Sequence[Option] = ()
    """The options. The first one is the automatic value; its `value` is empty."""
    text: str = ""
    placeholder: str = ""


def controls_of(name: str, reading: TableReading, choices: Choices) -> list[Control]:
    """Return the controls for a file. `name`: the name by which code finds the file."""
    known = {**reading.reading, **reading.candidates}
    keys = [key for key in _ORDER if key in _BY_SUFFIX.get(suffix_of(name), _SHEETS) or key in known]
    controls = [_control(key, reading, dict(choices)) for key in keys]
    # Leave out a list that has only the automatic value and the same value again.
    return [one for one in controls if one.key not in _NAMED or len(one.options) > 2 or one.key in choices]


def choices_from_form(form: Mapping[str, str]) -> Choices:
    """Return the choices that a person has made with the controls. Raises InvalidChoice if one is not allowed."""
    if "automatic" in form:
        return {}
    values: dict[str, object] = {key: form[key] for key in KEYS if form.get(key)}
    if "missing_words" in values:
        words = form["missing_words"].split(WORDS_SEPARATOR)
        values["missing_words"] = [word.strip() for word in words if word.strip()]
    header_rows = form.get("header_rows", "")
    if header_rows.isdecimal() and len(header_rows) < 3:
        values["header_rows"] = int(header_rows)
    return parse_choices({key: value for key, value in values.items() if value != []})


def _control(key: str, reading: TableReading, choices: Mapping[str, object]) -> Control:
    chosen, found = choices.get(key), reading.reading.get(key)
    if key == "missing_words":
        words, found_words = (", ".join(map(str, one)) if isinstance(one, list) else "" for one in (chosen, found))
        return Control(key, label_of(key), text=words, placeholder="" if words else found_words)
    label = _LABELS_OF_VALUES.get(key, str)
    is_found = chosen is None and found is not None
    automatic = _("%(value)s (automatic)") % {"value": label(str(found))} if is_found else _("Automatic")
    options = [Option("", automatic, chosen is None)]
    options += [
        Option(value, label(value), chosen is not None and value == str(chosen))
        for value in _values(key, reading, chosen)
    ]
    return Control(key, label_of(key), options)


def _values(key: str, reading: TableReading, chosen: object) -> list[str]:
    """Return the values that can be chosen, each once. `chosen`: the choice so far, if any."""
    candidates: Iterable[Choice] = reading.candidates.get(key, ())
    usual: dict[str, Iterable[object]] = {
        "encoding": ENCODINGS,
        "delimiter": DELIMITERS,
        "decimal": DECIMALS,
        "header_rows": range(HEADER_ROWS_LIMIT + 1),
        "date_order": DATE_ORDERS,
    }
    found = [] if chosen is None else [chosen]
    if key in reading.reading:
        found.append(reading.reading[key])
    values = [*candidates, *usual[key]] if key in usual else [*found, *candidates]
    if key in usual and chosen is not None:
        values.append(chosen)
    return list(dict.fromkeys(map(str, values)))


def label_of(key: str) -> str:
    """Return the name of a choice for people."""
    return {
        "encoding": _("Encoding"),
        "delimiter": _("Delimiter"),
        "decimal": _("Decimal mark"),
        "header_rows": _("Header rows"),
        "date_order": _("Order of dates"),
        "missing_words": _("Words for “missing”"),
        "sheet": _("Sheet"),
        "path": _("Place of the rows"),
    }[key]


def _delimiter_label(value: str) -> str:
    names = {",": _("comma"), ";": _("semicolon"), "\t": _("tab"), "|": _("vertical bar"), " ": _("space")}
    name = names.get(value)
    if name is None or value.isspace():
        return name or value
    return f"{name} {value}"


def _decimal_label(value: str) -> str:
    return {".": _("point, as in 1.5"), ",": _("comma, as in 1,5")}.get(value, value)


def _date_label(value: str) -> str:
    names = {"DMY": _("day, month, year"), "MDY": _("month, day, year"), "YMD": _("year, month, day")}
    return names.get(value, value)


def _rows_label(value: str) -> str:
    return _("none") if value == "0" else value


def _path_label(value: str) -> str:
    return value or _("the whole value")


_LABELS_OF_VALUES: dict[str, Callable[[str], str]] = {
    "delimiter": _delimiter_label,
    "decimal": _decimal_label,
    "date_order": _date_label,
    "header_rows": _rows_label,
    "path": _path_label,
}
