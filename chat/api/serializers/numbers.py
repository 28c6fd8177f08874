"""The numbers of answers in responses."""

from __future__ import annotations

from rest_framework import serializers

from chat.messages.numbers.as_json import NumberJSON, SourceJSON

VERDICTS = {
    "output": "an output of code",
    "file": "an attached table",
    "question": "a question",
    "code": "a number in code",
    "derived": "simple arithmetic over results",
    "nowhere": "no source was found",
}


class NumberSourceSerializer(serializers.Serializer[SourceJSON]):
    """Where a number comes from."""

    message_id = serializers.UUIDField(allow_null=True, help_text="The message that holds it. Null: it was computed.")
    part_index = serializers.IntegerField(
        allow_null=True, help_text="The part of the message. Null: the text of a question, or a file of it."
    )
    line = serializers.IntegerField(help_text="The line, from 1. 0: it was computed.")
    text = serializers.CharField(allow_blank=True, help_text="The line, or the computation.")


class NumberSerializer(serializers.Serializer[NumberJSON]):
    """A number in the text of an answer."""

    text = serializers.CharField(help_text="The number as it is written, with its unit.")
    start = serializers.IntegerField(help_text="Its first character in the answer's text.")
    end = serializers.IntegerField(help_text="The character after it.")
    value = serializers.CharField(help_text="A decimal number, with its scale word: `1200000` for `1.2 million`.")
    unit = serializers.CharField(allow_blank=True, help_text="Such as `%`, `EUR` or `kg`; empty: none.")
    verdict = serializers.ChoiceField(
        choices=list(VERDICTS.items()),
        help_text="Where it comes from. Of a number that is nowhere, the source is the same value in another place.",
    )

    def get_fields(self) -> dict[str, serializers.Field[object, object, object, object]]:
        """Return the fields. `source` cannot be declared, because every serializer has an attribute of this name."""
        return {**super().get_fields(), "source": NumberSourceSerializer(required=False)}
