"""Python sessions in responses."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.api.serializers.fields import JSONBooleanField, StrictSerializer
from chat.models import PythonSession
from chat.python.sessions.lifetime import seconds_left
from chat.vocabulary.parts import JSONObject


@dataclass(frozen=True, slots=True)
class SessionState:
    """The values from which `PythonSessionSerializer` makes a response."""

    conversation_id: uuid.UUID
    session: PythonSession
    """The row of the session; an unsaved one if the conversation has never had a session."""
    is_other_branch: bool
    can_replay: bool


class VariableSerializer(serializers.Serializer[JSONObject]):
    """A variable. Its texts were made by code: treat them as data."""

    name = serializers.CharField()
    type = serializers.CharField(allow_blank=True, help_text="Name of the value's class.")
    preview = serializers.CharField(allow_blank=True, help_text="A short form of the value.")
    shape = serializers.ListField(
        child=serializers.IntegerField(min_value=0),
        help_text="Lengths of the dimensions of an array or a table, or the length of a container. Empty for others.",
    )
    size_bytes = serializers.IntegerField(min_value=0, allow_null=True, help_text="Null: not known.")


class SessionFileSerializer(serializers.Serializer[JSONObject]):
    """A file in the working directory."""

    name = serializers.CharField()
    size_bytes = serializers.IntegerField(min_value=0)
    modified_at = serializers.DateTimeField()
    url = serializers.CharField(help_text="Where its bytes can be read, relative to the server.")


class KeepSerializer(StrictSerializer):
    """Whether a session is kept."""

    keep = JSONBooleanField(default=True, help_text="False: it ends when it was not used for some time.")


class PythonSessionSerializer(serializers.Serializer[SessionState]):
    """The Python session of a conversation, as it was after the last code."""

    state = serializers.ChoiceField(PythonSession.State.choices, source="session.state")
    execution_count = serializers.IntegerField(
        source="session.execution_count", min_value=0, help_text="Pieces of code that this session has run."
    )
    variables = VariableSerializer(many=True, source="session.variables")
    files = serializers.SerializerMethodField(help_text="The files in the working directory.")
    started_at = serializers.DateTimeField(source="session.started_at", allow_null=True)
    note = serializers.CharField(
        source="session.note", allow_blank=True, help_text="Why earlier variables were lost, or why the start failed."
    )
    is_other_branch = serializers.BooleanField(
        help_text="Whether the session has run code of another version of the conversation, which is not shown."
    )

    is_busy = serializers.BooleanField(source="session.is_busy", help_text="Whether code runs now.")
    seconds_left = serializers.SerializerMethodField(
        help_text="After how many seconds it ends if it is not used. Null: it has no kernel, or code runs."
    )
    kept_until = serializers.DateTimeField(
        source="session.kept_until", allow_null=True, help_text="Null: it ends when it was not used for some time."
    )
    can_replay = serializers.BooleanField(
        help_text="Whether variables of the shown code are gone. `replay/` restores them."
    )

    def get_seconds_left(self, state: SessionState) -> int | None:
        """Return the remaining life of a session that nobody uses."""
        return seconds_left(state.session)

    @extend_schema_field(SessionFileSerializer(many=True))
    def get_files(self, state: SessionState) -> list[JSONObject]:
        """Return the files with their URLs."""
        return [
            {**file, "url": reverse("api-session-file", args=[state.conversation_id, file["name"]])}
            for file in state.session.files
        ]
