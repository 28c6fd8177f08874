"""Problems in responses."""

from __future__ import annotations

from rest_framework import serializers

from chat.api.problems import Problem


class ProblemSerializer(serializers.Serializer[Problem]):
    """What went wrong (RFC 9457)."""

    # `Problem.response` builds the JSON.

    type = serializers.CharField(help_text="Which problem it is, as the URL of its explanation.")
    title = serializers.CharField(help_text="The same for every problem of this type.")
    status = serializers.IntegerField(help_text="The HTTP status.")
    detail = serializers.CharField(help_text="What happened, in a sentence for a person.")
    errors = serializers.DictField(  # type: ignore[assignment]  # RFC 9457's name is an attribute of serializers
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Field or parameter -> sentences. `body` stands for the whole body.",
    )
    turn = serializers.UUIDField(required=False, help_text="Id of the live turn, if that is the reason.")
