"""What callers send, parsed by the rules of `chat.forms`."""

from __future__ import annotations

from rest_framework import serializers

from chat.api.fields import Choice, Flag, Id, QueryFlag, QueryNumber, Strict, StrictQuery, Text
from chat.forms import (
    ATTACHMENTS_LIMIT,
    SEARCH_LIMIT,
    ModelField,
    PlaceField,
    PlainTextField,
    PromptField,
    ReasonField,
    TitleField,
)
from chat.models import Conversation

PAGE_LIMIT = 100
PAGE_DEFAULT = 50

MODEL_PATTERN = "^([A-Za-z0-9][A-Za-z0-9._-]*)?$"
DAY, TIME = r"2[0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])", r"([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]{6})?"
CURSOR_PATTERN = rf"^{DAY}T{TIME}\+00:00_[0-9a-f]{{32}}$"
NOT_BLANK_PATTERN = r"[^\s\x00]"

MODEL = "A model's id or a preset's name; empty: the server's default."
CODE = "Whether answers may run code; `auto`: where the question is better answered with it."
NO_PLACE = "The list cannot go on from there."
CURSOR = "Where to go on: take `next` of the page before instead of making one."


class NewConversation(Strict):
    """A conversation to be; everything may be left out."""

    title = Text(TitleField(required=False), required=False, help_text="Empty: it is named after its first question.")
    model = Text(ModelField(), pattern=MODEL_PATTERN, required=False, help_text=MODEL)
    code_execution = Choice(Conversation.CodeExecution.choices, required=False, help_text=CODE)
    system_instruction = Text(
        PromptField(what="This instruction", required=False),
        required=False,
        help_text="What the model is told before everything else; at most 256 KB.",
    )


class ConversationChanges(NewConversation):
    """Settings to change; what is left out stays."""

    archived = Flag(required=False, help_text="Put away: kept, and out of the way until something is asked in it.")
    pinned = Flag(required=False, help_text="Marked as important.")


class Question(Strict):
    """What is asked."""

    text = Text(
        PromptField(what="This message", required=False),
        pattern=NOT_BLANK_PATTERN,
        help_text="At most 256 KB of UTF-8; blank only where files are attached.",
    )
    attachments = serializers.ListField(
        child=Id(),
        required=False,
        max_length=ATTACHMENTS_LIMIT,
        help_text="Ids of uploaded files, in order; each counts once.",
        error_messages={
            "max_length": f"At most {ATTACHMENTS_LIMIT} files can be attached to one message.",
            "not_a_list": "This must be a list of ids.",
        },
    )
    code_execution = Choice(
        Conversation.CodeExecution.choices, required=False, help_text="For this answer alone; else the conversation's."
    )
    model = Text(
        ModelField(),
        pattern=MODEL_PATTERN,
        required=False,
        help_text="For this answer alone; empty: the conversation's.",
    )


class FeedbackChange(Strict):
    """What is said of an answer."""

    is_good = Flag(help_text="Thumbs up, or down.")
    reason = Text(ReasonField(), required=False, help_text="Why; left out or empty: no reason.")


class MessagesQuery(StrictQuery):
    """Which messages."""

    limit = QueryNumber(
        required=False, min_value=1, max_value=PAGE_LIMIT, default=PAGE_DEFAULT, help_text="How many on one page."
    )
    cursor = QueryNumber(required=False, min_value=0, max_value=999_999_999, help_text=CURSOR)


class ConversationsQuery(StrictQuery):
    """Which conversations."""

    q = Text(
        PlainTextField(required=False, max_length=SEARCH_LIMIT),
        required=False,
        help_text=(
            "Words and “quoted phrases” that must all stand in the title or the messages in view; the last word of each"
            " unquoted term may go on. Empty: all conversations."
        ),
    )
    archived = QueryFlag(required=False, default=None, help_text="Only those that are, or are not; left out: both.")
    pinned = QueryFlag(required=False, default=None, help_text="Only those that are, or are not; left out: both.")
    limit = QueryNumber(
        required=False, min_value=1, max_value=PAGE_LIMIT, default=PAGE_DEFAULT, help_text="How many on one page."
    )
    cursor = Text(
        PlaceField(error_messages={"required": NO_PLACE}), pattern=CURSOR_PATTERN, required=False, help_text=CURSOR
    )
