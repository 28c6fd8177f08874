"""Runs inside a kernel: parses JSON, JSON lines and sequences of JSON values, also with small errors."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_source import Unreadable

LINE_SUFFIXES = ("jsonl", "ndjson")
BAD_LINES_SHARE = 0.1
"""Maximum share of broken lines, if the others are objects or lists. One broken line is always allowed."""
NAMED_LINES = 3
"""Maximum number of broken lines that a note names. The others are counted."""
CODE_LINES = 20
"""Maximum number of lines that `Source.code` can skip, such as broken ones. With more, it is empty."""
INTEGER_LIMIT_DIGITS = 4000
"""Maximum number of digits of an integer. By default, Python converts no more than 4,300."""
DECIMAL_LIMIT_CHARS = 28
"""Maximum length of a number that becomes a `Decimal`, whose precision this is. Longer numbers keep the 17 digits of
`float`."""
FLOAT_DIGITS = 15
"""Number of digits that every `float` keeps."""
WHOLE_FILE = 'json.load(open(NAME, encoding="utf-8"))'
LINES = 'open(NAME, encoding="utf-8", newline="\\n")'
EACH_LINE = f"[json.loads(line) for line in {LINES} if line.strip()]"
"""The Python expression for the list of the values of all lines. Only LF ends a line."""

_LONG_NUMBER = re.compile(r"[\d.]{17}")
"""A number with more digits than every `float` keeps. A match inside a text does no harm, but costs time."""
_TOLERATED = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|(?P<comma>,)(?=\s*[\]}])|(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+)',
    re.DOTALL,
)
"""A text, which is kept; or a comma before a closing bracket, or a comment, which are removed."""
_GAP = re.compile(r"[\s,\x1e]*")
"""Characters between two values. In RFC 7464, each value begins with the record separator."""
_HINTS = {
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting property name": "a name in double quotes is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting value": "a value is missing",
    "Unterminated string": "the text that begins there has no closing quote",
    "Invalid control character": "a line break or a tab inside a text must be written as \\n or \\t",
    "Invalid \\": "a backslash inside a text must be written twice",
    "Extra data": "something follows the end of the value",
}


class ParsedJson(NamedTuple):
    """The value in a JSON file, and the expression for it."""

    value: object
    code: str
    """A Python expression for the value, which needs the module `json`; empty if there is none. See `Source.code`."""
    notes: list[str]
    is_lines: bool = False
    """Whether the value is a list of the values in the lines of the file."""


class JsonParser:
    """Parses JSON without losing digits, and notes unusual properties."""

    def __init__(self, text: str) -> None:
        self.has_long_numbers = _LONG_NUMBER.search(text) is not None
        self.has_huge_numbers = False
        self.repeated: dict[str, int] = {}
        """Number of objects that have a name more than once, by this name."""
        self._decoder = self._new_decoder(allows_breaks=False)

    def _new_decoder(self, *, allows_breaks: bool) -> json.JSONDecoder:
        """Return a decoder. `allows_breaks`: accept unescaped line breaks and tabs in texts."""
        if not self.has_long_numbers:
            return json.JSONDecoder(object_pairs_hook=self._object, strict=not allows_breaks)
        return json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_float=exact_number,
            parse_int=self._integer,
            strict=not allows_breaks,
        )

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = iter(found)
            repeated = next(name for name, _ in pairs if name != next(names, None))
            self.repeated[repeated] = self.repeated.get(repeated, 0) + 1
        return found

    def _integer(self, text: str) -> int | str:
        if len(text) <= INTEGER_LIMIT_DIGITS:
            return int(text)
        self.has_huge_numbers = True
        return text

    def parse(self, text: str, *, allows_breaks: bool = False) -> object:
        """Return the value of a text.

        Raises JSONDecodeError if it is not JSON, Unreadable if it is nested too deeply.
        """
        decoder = self._new_decoder(allows_breaks=True) if allows_breaks else self._decoder
        try:
            return decoder.decode(text)
        except RecursionError:
            raise Unreadable("its JSON is nested too deeply.") from None

    def parse_values(self, text: str, start: int) -> tuple[list[object], json.JSONDecodeError | None, int]:
        """Return the values from an offset on, the error after the last one, and the offset at which they end.

        Values are separated by spaces, line ends or commas.
        """
        values: list[object] = []
        while True:
            gap = _GAP.match(text, start)
            start = gap.end() if gap else start
            if start >= len(text) or text[start] in "]}":
                return values, None, start
            try:
                value, start = self._decoder.raw_decode(text, start)
            except json.JSONDecodeError as error:
                return values, error, start
            except RecursionError:
                return values, json.JSONDecodeError("the value is nested too deeply", text, start), start
            values.append(value)


def exact_number(text: str) -> float | Decimal:
    """Return a number with decimals: a `float`, or a `Decimal` if a `float` would lose digits."""
    number = float(text)
    if FLOAT_DIGITS < len(text) <= DECIMAL_LIMIT_CHARS and repr(number) != text and not {"e", "E"} & set(text):
        exact = Decimal(text)
        return number if exact == Decimal(repr(number)) else exact
    return number


def parse_json_text(text: str, suffix: str) -> ParsedJson:
    """Return the value in a text; a list if the text holds several. Raises Unreadable if it is not JSON."""
    parser = JsonParser(text)
    try:
        value = parser.parse(text)
    except json.JSONDecodeError as error:
        parsed = parse_broken(text, error, parser)
    else:
        # A file of JSON lines may have only one line.
        is_line = suffix in LINE_SUFFIXES and isinstance(value, dict) and "\n" not in text.strip()
        parsed = ParsedJson([value], EACH_LINE, [], True) if is_line else ParsedJson(value, WHOLE_FILE, [])
    for name, count in list(parser.repeated.items())[:1]:
        which = "An object has" if count == 1 else f"{count:,} objects have"
        parsed.notes.append(f"{which} the name “{name[:80]}” more than once: the last value counts.")
    if parser.has_huge_numbers:
        parsed.notes.append(f"Numbers with more than {INTEGER_LIMIT_DIGITS:,} digits are read as text.")
        parsed = parsed._replace(code="")
    return parsed


def parse_broken(text: str, error: json.JSONDecodeError, parser: JsonParser) -> ParsedJson:
    """Return the values that can be read from a text that is not one JSON value.

    Raises Unreadable if there are none.
    """
    if error.msg != "Extra data":
        parsed = parse_tolerantly(text, parser) or parse_lines(text, parser) or parse_cut(text, parser)
    else:
        parsed = parse_lines(text, parser)
        if parsed is None or parsed.notes:
            parsed = parse_sequence(text, parser, can_be_cut=parsed is None) or parsed
    if parsed:
        return parsed
    if error.msg == "Extra data":
        error = parser.parse_values(text, 0)[1] or error
    raise Unreadable(
        f"it is not valid JSON: {describe_error(text, error)}. Correct it there, and attach the file again."
    )


def describe_error(text: str, error: json.JSONDecodeError) -> str:
    """Return the position of the error and its reason."""
    place = f"line {error.lineno:,}, column {error.colno:,}"
    if error.pos >= len(text.rstrip()):
        return f"{place}: the file ends there in the middle of a value"
    if text[error.pos] == "'":
        return f"{place}: names and texts must be in double quotes"
    return f"{place}: " + next((hint for start, hint in _HINTS.items() if error.msg.startswith(start)), error.msg)


def parse_lines(text: str, parser: JsonParser) -> ParsedJson | None:
    """Return the values of a text with one JSON value on each line; `None` for one line, or too many broken ones.

    Lines end with LF or CRLF. They may have a comma at the end, and the brackets of a list may be on lines of their
    own.
    """
    values: list[object] = []
    bad: dict[int, str] = {}
    skipped: list[int] = []
    has_commas = False
    lines = text.split("\n")
    for number, line in enumerate(map(str.strip, lines), 1):
        if len(bad) > 1 + BAD_LINES_SHARE * len(lines):
            return None
        if line in ("", "[", "]"):
            skipped += [number] if line else []
            continue
        has_commas = has_commas or line[-1] == ","
        try:
            values.append(parser.parse(line.removesuffix(",")))
        except json.JSONDecodeError as error:
            bad[number] = describe_error(line, error).partition(", ")[2]
        except Unreadable as error:
            bad[number] = str(error).removesuffix(".")
    containers = sum(isinstance(value, (dict, list)) for value in values)
    if len(values) + len(bad) < 2 or not values or (bad and containers < len(values)):
        return None
    if len(bad) > max(1, BAD_LINES_SHARE * len(values)):
        return None
    code = lines_code([*skipped, *bad], has_commas=has_commas)
    return ParsedJson(values, code, describe_bad_lines(bad), is_lines=True)


def describe_bad_lines(bad: dict[int, str]) -> list[str]:
    """Return a list with a note about broken lines; an empty list if there are none. `bad`: reasons by line numbers."""
    if not bad:
        return []
    if len(bad) == 1:
        number, reason = next(iter(bad.items()))
        return [f"Line {number:,} is not valid JSON and is left out ({reason})."]
    named = ", ".join(f"{number:,}" for number in list(bad)[:NAMED_LINES])
    others = f" and {len(bad) - NAMED_LINES:,} more" if len(bad) > NAMED_LINES else ""
    return [f"Lines {named}{others} are not valid JSON and are left out."]


def lines_code(left_out: list[int], *, has_commas: bool) -> str:
    """Return the expression for the values in all lines except some; empty if too many are left out."""
    if len(left_out) > CODE_LINES:
        return ""
    code = EACH_LINE
    if left_out:
        code = code.replace(
            f"line in {LINES} if", f"number, line in enumerate({LINES}, 1) if number not in {left_out} and"
        )
    return code.replace("loads(line)", 'loads(line.strip().rstrip(","))') if has_commas else code


def parse_sequence(text: str, parser: JsonParser, *, can_be_cut: bool) -> ParsedJson | None:
    """Return the successive objects or lists of a text; `None` if it holds anything else."""
    values, error, end = parser.parse_values(text, 0)
    if len(values) < 2 or not all(isinstance(value, (dict, list)) for value in values):
        return None
    if error and can_be_cut and is_cut(text, error):
        return ParsedJson(values, "", [describe_cut(error, len(values))])
    if error or end < len(text):
        return None
    return ParsedJson(values, "", ["The file holds several JSON values one after the other: each is a row."])


def parse_tolerantly(text: str, parser: JsonParser) -> ParsedJson | None:
    """Return the value of a text with commas before closing brackets, comments, or line breaks in texts."""
    found = {match.lastgroup for match in _TOLERATED.finditer(text)}
    cleaned = _TOLERATED.sub(lambda match: " " if match.lastgroup else match[0], text) if found - {None} else text
    try:
        value = parser.parse(cleaned, allows_breaks=True)
    except json.JSONDecodeError:
        return None
    names = {"comma": "commas before closing brackets", "comment": "comments"}
    what = " and ".join(name for key, name in names.items() if key in found) or "line breaks or tabs inside texts"
    return ParsedJson(value, "", [f"The file has {what}, which JSON does not allow; it is read nevertheless."])


def parse_cut(text: str, parser: JsonParser) -> ParsedJson | None:
    """Return the complete values of a list whose end is missing; `None` if the text is no list or ends with `]`."""
    if not text.lstrip().startswith("["):
        return None
    values, error, _ = parser.parse_values(text, text.index("[") + 1)
    if values and (error is None or is_cut(text, error)) and not text.rstrip().endswith("]"):
        return ParsedJson(values, "", [describe_cut(error, len(values))])
    return None


def is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether the text is truncated, so that the error is at its end. A word such as `true` may be cut, too."""
    return error.msg.startswith("Unterminated string") or len(text.rstrip()) - error.pos < len("false")


def describe_cut(error: json.JSONDecodeError | None, count: int) -> str:
    """Return the note about a truncated file."""
    where = f" in line {error.lineno:,}, column {error.colno:,}" if error else ""
    return f"The file is cut at its end{where}: only the {count:,} complete values before it are read."
