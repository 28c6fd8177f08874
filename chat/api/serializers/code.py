"""Code that a person runs in the Python session."""

from __future__ import annotations

from rest_framework import serializers

from chat.api.serializers.fields import EnumField, JSONBooleanField, StrictSerializer
from chat.api.serializers.turns import CodeField
from chat.python.reruns.verdicts import Verdict


class OwnCodeSerializer(StrictSerializer):
    """Code of the caller's own."""

    code = CodeField(required=True, help_text="Python. At most 256 KB of UTF-8.")


class RerunSerializer(StrictSerializer):
    """How a block of code is to be run again."""

    from_start = JSONBooleanField(
        default=False,
        help_text="Restart the session and run all earlier blocks first. If false, the session is used as it is.",
    )


class VerdictSerializer(serializers.Serializer[object]):
    """The result of running a block of code again."""

    verdict = EnumField(Verdict)
    detail = serializers.CharField(help_text="A sentence that explains the verdict.")


class BlockVerdictSerializer(VerdictSerializer):
    """The result of one block of code."""

    message_id = serializers.UUIDField()
    index = serializers.IntegerField(help_text="Index of the part that holds the code.")


class ReplaySerializer(VerdictSerializer):
    """The result of running all code of a conversation again: the worst verdict, and a sentence that counts them."""

    blocks = BlockVerdictSerializer(many=True)
