"""What callers are answered: a description of `shapes` for the schema and its readers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from attachments.models import Attachment
from chat.models import REASON_LIMIT, Conversation, Turn
from chat.parts import PartKind, Role

TOKENS_HELP = {
    "prompt": "Tokens of the question and the history.",
    "tool_use": "Tokens in between, of code execution; billed as input.",
    "thoughts": "Tokens of thoughts.",
    "candidates": "Tokens of the answer.",
    "cached": "Of the prompt's tokens, those read from a cache.",
    "total": "All tokens.",
}
URL_HELP = "A reference, relative to the server's address."


def _tokens(*, is_sum: bool) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    return {
        name: serializers.IntegerField(min_value=0, allow_null=not is_sum, help_text=text)
        for name, text in TOKENS_HELP.items()
    }


class Problem(serializers.Serializer[Any]):
    """What went wrong (RFC 9457)."""

    type = serializers.CharField(help_text="Says which problem it is; the address of its explanation.")
    title = serializers.CharField(help_text="The same for every problem of this type.")
    status = serializers.IntegerField(help_text="The HTTP status.")
    detail = serializers.CharField(help_text="This one, in a sentence for a person.")
    errors = serializers.DictField(  # type: ignore[assignment]  # RFC 9457's name
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Field or parameter → sentences; `body` for what concerns the whole.",
    )
    turn = serializers.UUIDField(required=False, help_text="The turn that is live, where that is the reason.")


class Usage(serializers.Serializer[Any]):
    """Tokens of one answer; null: not said."""

    prompt, tool_use, thoughts, candidates, cached, total = _tokens(is_sum=False).values()


class UsageTotals(serializers.Serializer[Any]):
    """What a conversation has used: every answer that ended counts, in view or not, and what its title took."""

    turns = serializers.IntegerField(min_value=0, help_text="Answers that have ended.")
    prompt, tool_use, thoughts, candidates, cached, total = _tokens(is_sum=True).values()
    cost = serializers.CharField(allow_null=True, help_text="US dollars; null: no price is known.")


class Match(serializers.Serializer[Any]):
    """Where the words stand that were searched for."""

    message_id = serializers.UUIDField(allow_null=True, help_text="Null: they stand in the title.")
    excerpt = serializers.CharField(allow_blank=True, help_text="Of that message, on one line.")


class ConversationItem(serializers.Serializer[Any]):
    """A conversation with its settings."""

    id = serializers.UUIDField()
    title = serializers.CharField(allow_blank=True, help_text="Empty until it is named.")
    model = serializers.CharField(allow_blank=True, help_text="Empty: the server's default.")
    code_execution = serializers.ChoiceField(Conversation.CodeExecution.choices)
    system_instruction = serializers.CharField(allow_blank=True)
    archived = serializers.BooleanField()
    pinned = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(help_text="When something last happened in it; lists are ordered by it.")
    match = Match(required=False, help_text="In a search.")


class ConversationDetail(serializers.Serializer[Any]):
    """A conversation with its settings and what it has used."""

    id = serializers.UUIDField()
    title = serializers.CharField(allow_blank=True, help_text="Empty until it is named.")
    model = serializers.CharField(allow_blank=True, help_text="Empty: the server's default.")
    code_execution = serializers.ChoiceField(Conversation.CodeExecution.choices)
    system_instruction = serializers.CharField(allow_blank=True)
    archived = serializers.BooleanField()
    pinned = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    live_turn_id = serializers.UUIDField(allow_null=True, help_text="The turn that is being written now.")
    usage = UsageTotals()


class AttachmentItem(serializers.Serializer[Any]):
    """A file: a graph drawn by code, an image, an upload."""

    id = serializers.UUIDField()
    index = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="The n of its marker `[GRAPH:n]` or `[IMAGE:n]`; null outside messages."
    )
    is_graph = serializers.BooleanField(help_text="Drawn by executed code.")
    mime_type = serializers.CharField()
    name = serializers.CharField()
    size_bytes = serializers.IntegerField(min_value=0)
    width = serializers.IntegerField(allow_null=True, help_text="In pixels, of images.")
    height = serializers.IntegerField(allow_null=True, help_text="In pixels, of images.")
    status = serializers.ChoiceField(
        Attachment.Status.choices, help_text="Of its way into storage; the bytes can be had in each."
    )
    url = serializers.CharField(help_text=f"Its bytes. {URL_HELP}")


@extend_schema_field({"type": "object", "additionalProperties": True})
class AnyObject(serializers.JSONField):
    """An object of any shape."""


class PartItem(serializers.Serializer[Any]):
    """A piece of a message, as Gemini sent it; what it does not have is left out."""

    index = serializers.IntegerField(min_value=0)
    kind = serializers.ChoiceField([kind.value for kind in PartKind])
    text = serializers.CharField(required=False, allow_blank=True, help_text="Of `text` and `thought`.")
    code = serializers.CharField(required=False, allow_blank=True, help_text="Of `executable_code`.")
    language = serializers.CharField(required=False, help_text="Of `executable_code`: `PYTHON`.")
    outcome = serializers.CharField(
        required=False,
        help_text="Of `code_execution_result`: `OUTCOME_OK`, `OUTCOME_FAILED`, `OUTCOME_DEADLINE_EXCEEDED`.",
    )
    output = serializers.CharField(required=False, allow_blank=True, help_text="Of `code_execution_result`.")
    id = serializers.CharField(required=False, help_text="Gemini's, where it gave one.")
    mime_type = serializers.CharField(required=False, help_text="Of `inline_data` and `file_data`.")
    fields = AnyObject(required=False, help_text="All else, as on the wire.")  # type: ignore[assignment]
    attachment_index = serializers.IntegerField(required=False, min_value=0, help_text="The file with its bytes.")
    thought_signature = serializers.CharField(required=False, help_text="In base64.")


class FeedbackItem(serializers.Serializer[Any]):
    """What the conversation's owner thinks of an answer."""

    is_good = serializers.BooleanField(help_text="Thumbs up, or down.")
    reason = serializers.CharField(allow_blank=True, max_length=REASON_LIMIT, help_text="Empty: none was given.")


class MessageItem(serializers.Serializer[Any]):
    """What one side said; of several versions the one in view."""

    id = serializers.UUIDField()
    index = serializers.IntegerField(min_value=0, help_text="Place in the conversation, from 0.")
    role = serializers.ChoiceField([role.value for role in Role])
    text = serializers.CharField(
        allow_blank=True, help_text="The text parts joined; `[GRAPH:n]` on a line of its own where graph n came."
    )
    parts = PartItem(many=True)
    attachments = AttachmentItem(many=True)
    status = serializers.ChoiceField(Turn.Status.choices, help_text="Of its turn; of a question `done`.")
    usage = Usage(allow_null=True)
    turn_id = serializers.UUIDField(allow_null=True, help_text="Of an answer.")
    feedback = FeedbackItem(allow_null=True, help_text="Of an answer; null: it was not rated.")
    created_at = serializers.DateTimeField()


class ConversationPage(serializers.Serializer[Any]):
    """Some conversations, newest first."""

    results = ConversationItem(many=True)
    next = serializers.CharField(allow_null=True, help_text=f"The next page; null: this is the last. {URL_HELP}")


class MessagePage(serializers.Serializer[Any]):
    """Some messages, in their order."""

    results = MessageItem(many=True)
    next = serializers.CharField(allow_null=True, help_text=f"The next page; null: this is the last. {URL_HELP}")


class StartedTurn(serializers.Serializer[Any]):
    """An answer that has begun."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(Turn.Status.choices)
    events_url = serializers.CharField(help_text=f"Its events. {URL_HELP}")


class TurnError(serializers.Serializer[Any]):
    """Why an answer was not brought to its end."""

    code = serializers.CharField()
    detail = serializers.CharField(help_text="A sentence for a person.")


class TurnItem(serializers.Serializer[Any]):
    """A generation: from a question to the end of its answer."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(Turn.Status.choices)
    events_url = serializers.CharField(help_text=f"Its events. {URL_HELP}")
    conversation_id = serializers.UUIDField()
    user_message_id = serializers.UUIDField(help_text="The question.")
    message_id = serializers.UUIDField(help_text="The answer.")
    model = serializers.CharField()
    code_execution = serializers.BooleanField(help_text="Whether the model could run code.")
    code_reason = serializers.CharField(allow_blank=True, help_text="Why, in a sentence.")
    usage = Usage(allow_null=True)
    cost = serializers.CharField(allow_null=True, help_text="US dollars; null: not known.")
    finish_reason = serializers.CharField(allow_blank=True, help_text="Gemini's; empty while it is live.")
    error = TurnError(allow_null=True)
    created_at = serializers.DateTimeField()
    first_part_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)


class Imported(serializers.Serializer[Any]):
    """What became of a file."""

    ids = serializers.ListField(child=serializers.UUIDField(), help_text="New conversations, in the file's order.")
    known_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="Conversations that an earlier import had brought."
    )
