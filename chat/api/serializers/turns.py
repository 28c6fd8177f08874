"""Turns in requests and responses."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.answering.turns.resume import current_approval
from chat.api.serializers.fields import (
    ConversationChoiceField,
    EnumField,
    ModelNameField,
    PromptField,
    StrictSerializer,
    TextField,
)
from chat.library.forms import EMPTY_CODE
from chat.messages.approval import Approval, ApprovalKind
from chat.messages.notices import notice_of
from chat.models import Conversation, Turn
from chat.models.form_fields import ATTACHMENTS_LIMIT
from chat.vocabulary.parts import Engine, JSONObject
from chat.vocabulary.stream_events import Finish, Usage


@extend_schema_field({"type": "string", "pattern": r"[^\s\x00]"})
class QuestionField(PromptField):
    """The text of a question. The OpenAPI document does not say that it may be blank if files are attached."""

    def __init__(self, *, help_text: str) -> None:
        super().__init__(what="This message", required=True, help_text=help_text)
        # Only for the OpenAPI document: `run_validation` accepts blank text.
        self.allow_blank = False

    def run_validation(self, data: object = serializers.empty) -> str:
        """Return the text. Blank text is accepted: only the serializer knows whether files are attached."""
        text: str = serializers.Field.run_validation(self, data)
        return text


class QuestionSerializer(StrictSerializer):
    """A question, which starts a turn."""

    text = QuestionField(help_text="At most 256 KB of UTF-8. May be blank only if files are attached.")
    attachments = serializers.ListField(
        child=serializers.UUIDField(),
        default=list,
        max_length=ATTACHMENTS_LIMIT,
        help_text="Ids of uploaded files, in order. A repeated id counts once.",
        error_messages={
            "max_length": f"At most {ATTACHMENTS_LIMIT} files can be attached to one message.",
            "not_a_list": "This must be a list of ids.",
        },
    )
    code_execution = ConversationChoiceField(
        Conversation.CodeExecution, help_text="For this answer alone. If left out: as the conversation has it."
    )
    model = ModelNameField(help_text="For this answer alone. If left out or empty: the conversation's.")

    def validate_attachments(self, ids: list[uuid.UUID]) -> list[uuid.UUID]:
        """Return each id once."""
        return list(dict.fromkeys(ids))

    def validate(self, attrs: dict[str, Any]) -> dict[str, object]:
        """Raise ValidationError for a blank question without files."""
        if not attrs["text"].strip() and not attrs["attachments"]:
            raise serializers.ValidationError({"text": "Write a message first."})
        return attrs


class UsageSerializer(serializers.Serializer[Usage]):
    """Token counts of one answer. Null: the provider did not report this count."""

    prompt = serializers.IntegerField(min_value=0, allow_null=True, help_text="Question and history.")
    tool_use = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="Added to the prompt by code execution. Billed as input."
    )
    thoughts = serializers.IntegerField(min_value=0, allow_null=True)
    candidates = serializers.IntegerField(min_value=0, allow_null=True, help_text="The answer.")
    cached = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="The part of `prompt` that was read from a cache."
    )
    total = serializers.IntegerField(min_value=0, allow_null=True)
    estimated = serializers.IntegerField(
        min_value=0,
        allow_null=True,
        help_text="An estimate of the tokens of requests for which the provider reported none. `total` lacks them.",
    )


class TurnErrorSerializer(serializers.Serializer[Turn]):
    """Why an answer failed or was interrupted."""

    code = serializers.SerializerMethodField()
    detail = serializers.SerializerMethodField(help_text="A sentence for a person.")

    def get_code(self, turn: Turn) -> str:
        """Return the code of the error, or the status of a turn that ended without one."""
        return turn.error_code or turn.status

    def get_detail(self, turn: Turn) -> str:
        """Return the sentence that the page shows. The provider's whole message is for staff alone."""
        notice = notice_of(
            status=turn.status,
            finish_message=turn.finish_message,
            error_code=turn.error_code,
            retry_after_s=turn.retry_after_s,
        )
        return notice.sentence if notice else ""


class ApprovalSerializer(serializers.Serializer[Approval]):
    """What a waiting turn asks a person. Several calls are asked about one after the other."""

    id = serializers.CharField(source="approval_id", help_text="Names the question in `POST turns/{id}/approval/`.")
    kind = EnumField(
        ApprovalKind,
        help_text="`call`: whether the function call may run. `result`: whether its result may be sent to the model.",
    )
    name = serializers.CharField(help_text="The function.")
    code = serializers.CharField(
        allow_null=True, help_text="The code that is to run, or that has run. Null: the function runs no code."
    )
    arguments = serializers.DictField(help_text="The arguments of the call, as the model wrote them.")
    result = serializers.DictField(allow_null=True, help_text="What the function returned. Null: it has not run yet.")


class DecisionVerb(StrEnum):
    """The decisions that a person can make."""

    RUN = "run"
    DENY = "deny"


@extend_schema_field({"type": "string", "pattern": r"[^\s\x00]"})
class CodeField(PromptField):
    """Code that a person has written. It must not be blank."""

    def __init__(self, *, required: bool = False, help_text: str) -> None:
        super().__init__(what="This code", required=required, help_text=help_text)
        self.allow_blank = False
        self.error_messages["blank"] = EMPTY_CODE

    def to_internal_value(self, data: object) -> str:
        """Return the code. Raises ValidationError if it is blank."""
        code = super().to_internal_value(data)
        if not code.strip():
            raise serializers.ValidationError(EMPTY_CODE)
        return code


class DecisionSerializer(StrictSerializer):
    """A decision about what a waiting turn asks."""

    id = TextField(trim_whitespace=False, help_text="The `id` of the turn's `approval`.")
    decision = EnumField(
        DecisionVerb,
        help_text="`run`: run the call, or send the result to the model. `deny`: do not.",
        error_messages={"invalid_choice": "This must be run or deny."},
    )
    code = CodeField(
        help_text="Code to run in place of the call's code, if it has any. At most 256 KB of UTF-8. `deny` ignores it.",
    )


class StartedTurnSerializer(serializers.Serializer[Turn]):
    """A turn that has started."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(Turn.Status.choices)
    events_url = serializers.SerializerMethodField(help_text="URL of its event stream, relative to the server.")
    message_id = serializers.UUIDField(help_text="The answer.")

    def get_events_url(self, turn: Turn) -> str:
        """Return the path of the event stream."""
        return reverse("api-turn-events", args=[turn.pk])


class TurnSerializer(StartedTurnSerializer):
    """The generation of an answer, from the question to the answer's end."""

    conversation_id = serializers.UUIDField()
    user_message_id = serializers.UUIDField(help_text="The question.")
    provider = serializers.CharField(help_text="Which provider answers.")
    endpoint = serializers.CharField(
        allow_blank=True, help_text="Which server of the provider. Empty: the one that the settings describe."
    )
    model = serializers.CharField()
    model_note = serializers.CharField(
        allow_blank=True, help_text="Which model answered in its place, in a sentence. Empty: none did."
    )
    code_execution = serializers.BooleanField(help_text="Whether the model could run code.")
    code_reason = serializers.CharField(allow_blank=True, help_text="Why, in a sentence.")
    engine = EnumField(Engine, allow_blank=True, help_text="Where its code runs. Empty: it has none.")
    move_reason = serializers.CharField(
        allow_blank=True, help_text="Why its code moved to the Python session, or was turned off. Empty: neither."
    )
    rounds = serializers.IntegerField(
        source="round_count", min_value=0, help_text="Requests to the model, once the turn has ended. 0 before."
    )
    usage = serializers.SerializerMethodField(help_text="Null if no counts are known, as before the end.")
    cost = serializers.DecimalField(
        max_digits=14, decimal_places=8, allow_null=True, help_text="US dollars. Null: no price is known."
    )
    finish = EnumField(Finish, allow_blank=True, help_text="Why the answer ended. Empty before, and if it was cut.")
    finish_reason = serializers.CharField(allow_blank=True, help_text="The provider's own word for it.")
    error = serializers.SerializerMethodField(help_text="Null unless the turn failed or was interrupted.")
    approval = serializers.SerializerMethodField(help_text="Null unless the turn is `waiting`.")
    created_at = serializers.DateTimeField()
    first_part_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(UsageSerializer(allow_null=True))
    def get_usage(self, turn: Turn) -> JSONObject | None:
        """Return the token counts."""
        return usage_json(turn)

    @extend_schema_field(TurnErrorSerializer(allow_null=True))
    def get_error(self, turn: Turn) -> JSONObject | None:
        """Return the error."""
        return error_json(turn)

    @extend_schema_field(ApprovalSerializer(allow_null=True))
    def get_approval(self, turn: Turn) -> JSONObject | None:
        """Return what a waiting turn asks."""
        approval = current_approval(turn)
        json: JSONObject | None = ApprovalSerializer(approval).data if approval else None
        return json


def usage_json(turn: Turn) -> JSONObject | None:
    """Return the token counts of a turn as JSON; `None` if there are none."""
    json: JSONObject | None = UsageSerializer(turn.usage).data if turn.usage else None
    return json


def error_json(turn: Turn) -> JSONObject | None:
    """Return the error of a turn as JSON; `None` unless it failed or was interrupted."""
    has_error = turn.status in (Turn.Status.FAILED, Turn.Status.INTERRUPTED)
    json: JSONObject | None = TurnErrorSerializer(turn).data if has_error else None
    return json
