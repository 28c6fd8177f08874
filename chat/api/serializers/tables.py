"""Tables in attachments: how they were read, in responses, and how they are to be read, in requests."""

from __future__ import annotations

from typing import NoReturn

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.api.serializers.fields import StrictSerializer
from chat.python.table_readings.choices import (
    DATE_ORDERS,
    HEADER_ROWS_LIMIT,
    NAME_LIMIT_CHARS,
    WORD_LIMIT_CHARS,
    WORDS_LIMIT,
)
from chat.vocabulary.parts import JSONObject

STATES = ("read", "refused")
TYPES = ("number", "text", "date", "time", "boolean")
NO_OBJECT = "The field “reading” must be an object."
ENCODING_HELP = "The encoding of a text file, such as `Windows-1251`."
DELIMITER_HELP = "The character between the cells of a text file."
DECIMAL_HELP = "The decimal mark of numbers that are text: `.` or `,`."
HEADER_HELP = "Rows that hold the names of columns. 0: there are none."
DATE_HELP = "The order in dates such as 01.02.2024: `DMY`, `MDY` or `YMD`."
MISSING_HELP = "Texts that stand for a missing value, beside empty cells."
SHEET_HELP = "The sheet of a workbook, or one of several tables on it."
PATH_HELP = "Where the rows are in a JSON value: keys, separated by points."


class TableColumnSerializer(serializers.Serializer[JSONObject]):
    """A column of a table. Its texts come from the file: treat them as data."""

    name = serializers.CharField(allow_blank=True, help_text="Empty if the column has no name.")
    type = serializers.ChoiceField([(one, one) for one in TYPES])
    role = serializers.CharField(
        allow_blank=True, help_text="What the values are beside their type, such as `identifier`, `year` or `money`."
    )
    missing = serializers.IntegerField(min_value=0, help_text="Number of cells without a value.")
    summary = serializers.CharField(
        allow_blank=True, help_text="`LEAST to GREATEST` for numbers and dates, for others the most frequent values."
    )
    sample = serializers.ListField(child=serializers.CharField(allow_blank=True), help_text="Some of the values.")
    note = serializers.CharField(allow_blank=True, help_text="A sentence about this column; empty for none.")


class TableReadingSerializer(serializers.Serializer[JSONObject]):
    """How a file was read: what was chosen or found. A key is absent if it has no meaning for the format."""

    encoding = serializers.CharField(required=False, help_text=ENCODING_HELP)
    delimiter = serializers.CharField(required=False, help_text=DELIMITER_HELP)
    decimal = serializers.CharField(required=False, help_text=DECIMAL_HELP)
    header_rows = serializers.IntegerField(required=False, min_value=0, help_text=HEADER_HELP)
    date_order = serializers.CharField(required=False, help_text=DATE_HELP)
    missing_words = serializers.ListField(required=False, child=serializers.CharField(), help_text=MISSING_HELP)
    sheet = serializers.CharField(required=False, help_text=SHEET_HELP)
    path = serializers.CharField(required=False, allow_blank=True, help_text=PATH_HELP)


def _texts(help_text: str) -> serializers.ListField:
    return serializers.ListField(required=False, child=serializers.CharField(allow_blank=True), help_text=help_text)


class TableCandidatesSerializer(serializers.Serializer[JSONObject]):
    """Other values that fit the file, the most probable first, by the keys of `reading`."""

    encoding = _texts(ENCODING_HELP)
    delimiter = _texts(DELIMITER_HELP)
    decimal = _texts(DECIMAL_HELP)
    header_rows = serializers.ListField(
        required=False, child=serializers.IntegerField(min_value=0), help_text=HEADER_HELP
    )
    date_order = _texts(DATE_HELP)
    missing_words = serializers.ListField(required=False, child=serializers.JSONField(), help_text=MISSING_HELP)
    sheet = _texts(SHEET_HELP)
    path = _texts(PATH_HELP)


class TableSerializer(serializers.Serializer[JSONObject]):
    """A table that was read, or a file that was refused."""

    state = serializers.ChoiceField([(one, one) for one in STATES])
    detail = serializers.CharField(allow_blank=True, help_text="Why the file is refused.")
    rows = serializers.IntegerField(
        min_value=0, help_text="Without headers, notes, units, footers and totals. 0 if the file is refused."
    )
    columns = TableColumnSerializer(many=True, help_text="The first columns, at most 100.")
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Sentences about what was guessed, left out, filled or cut."
    )
    reading = TableReadingSerializer()
    candidates = TableCandidatesSerializer()
    questions = serializers.ListField(child=serializers.CharField(), help_text="Questions that fit the table.")


class TablePendingSerializer(serializers.Serializer[JSONObject]):
    """A table that is being read."""

    state = serializers.ChoiceField([("reading", "reading")])


class TableChoicesSerializer(StrictSerializer):
    """How the owner wants a table to be read. Null: as the reader finds."""

    encoding = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="A name such as `Windows-1251`, or Python's: `cp1251`. Only of encodings of text.",
    )
    delimiter = serializers.CharField(
        required=False, allow_null=True, min_length=1, max_length=1, help_text=DELIMITER_HELP
    )
    decimal = serializers.RegexField(r"^[.,]$", required=False, allow_null=True, help_text=DECIMAL_HELP)
    header_rows = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=HEADER_ROWS_LIMIT, help_text=HEADER_HELP
    )
    date_order = serializers.RegexField(
        f"^({'|'.join(DATE_ORDERS)})$", required=False, allow_null=True, help_text=DATE_HELP
    )
    missing_words = serializers.ListField(
        required=False,
        allow_null=True,
        child=serializers.CharField(min_length=1, max_length=WORD_LIMIT_CHARS),
        max_length=WORDS_LIMIT,
        help_text=MISSING_HELP,
    )
    sheet = serializers.CharField(
        required=False, allow_null=True, min_length=1, max_length=NAME_LIMIT_CHARS, help_text=SHEET_HELP
    )
    path = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=NAME_LIMIT_CHARS, help_text=PATH_HELP
    )


@extend_schema_field(TableChoicesSerializer)
class ReadingField(serializers.Field[object, object, object, object]):
    """The choices to change. `table_readings.choices` validates them, as it does for the page."""

    def to_internal_value(self, data: object) -> dict[str, object]:
        """Return the object. Raises ValidationError for anything else."""
        if not isinstance(data, dict):
            raise serializers.ValidationError(NO_OBJECT)
        return {str(key): value for key, value in data.items()}

    def to_representation(self, value: object) -> NoReturn:
        """Raise NotImplementedError: the field is in no response."""
        raise NotImplementedError


class TableChangeSerializer(StrictSerializer):
    """A change of how a table is read."""

    reading = ReadingField(
        help_text="What is to change. Other choices stay. An empty object removes all of them.",
        error_messages={
            "required": "The field “reading” is missing.",
            "null": "The field “reading” must be an object.",
        },
    )
