"""Forms for what clients send. Pages, the socket and the API parse with them; every error is a sentence for a person.

A form needs no request and no database.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from chat.models import REASON_LIMIT, Conversation
from chat.models.form_fields import (
    AttachmentIdsField,
    ChangesForm,
    IdField,
    IdListField,
    ListPositionField,
    ModelField,
    PlainTextField,
    PromptField,
    SentencesForm,
    TitleField,
    TrueFalseField,
    approval_field,
    code_execution_field,
    engine_field,
    release_field,
)
from chat.models.list_queries import Group

CLIENT_ID_LIMIT = 64
"""Maximum length of a `client_id`, in characters."""

SEARCH_LIMIT = 200
"""Maximum length of a search text, in characters."""

INDEX_LIMIT = 2**31 - 1
"""Maximum index of a message: the maximum of its column."""

ROW_NUMBER_LIMIT = 2**63 - 1
"""Maximum number of a row: the maximum of its column."""

NO_MESSAGE = "There is no such message."
EMPTY_CODE = "There is no code to run. Write some, or deny the call."


class SendForm(SentencesForm):
    """A new message. `code_execution` and `model` apply only to this message; empty: as the conversation's settings."""

    text = PromptField(what="This message")
    attachments = AttachmentIdsField(required=False)
    client_id = PlainTextField(
        required=False,
        max_length=CLIENT_ID_LIMIT,
        error_messages={"max_length": f"client_id can have at most {CLIENT_ID_LIMIT} characters."},
    )
    code_execution = forms.ChoiceField(
        choices=[("", "as the conversation has it"), *Conversation.CodeExecution.choices],
        required=False,
        error_messages={"invalid_choice": "An answer may run code: auto, on or off."},
    )
    model = ModelField()

    def clean(self) -> dict[str, object]:
        """Raise ValidationError for a message with neither text nor attachments."""
        data = self.cleaned_data
        if not self.errors and not data["text"].strip() and not data["attachments"]:
            raise ValidationError("Write a message first.", code="required")
        return data


class EditForm(SendForm):
    """A new version of an earlier message."""

    message_id = IdField(error_messages={"required": "Say which message to change: message_id.", "invalid": NO_MESSAGE})

    def clean_attachments(self) -> list[uuid.UUID] | None:
        """Return the files of the new version. `None`: the client did not send this field, so the old files stay."""
        return self.cleaned_data["attachments"] if "attachments" in self.data else None


class MessageForm(SentencesForm):
    """The message to which an action applies."""

    message_id = IdField(error_messages={"required": "Say which message is meant: message_id.", "invalid": NO_MESSAGE})

    def __init__(self, data: Mapping[str, object] | None = None, *, is_required: bool = True) -> None:
        super().__init__(data)
        self.fields["message_id"].required = is_required


class WindowForm(SentencesForm):
    """The window of a page.

    `first`: index of its first message. `last`: index after its last one; empty: the page holds the end. `message_id`:
    a message that is visible in the browser.
    """

    first = forms.IntegerField(min_value=0, max_value=INDEX_LIMIT)
    last = forms.IntegerField(min_value=0, max_value=INDEX_LIMIT, required=False)
    message_id = IdField(required=False)


class ShownMessagesForm(SentencesForm):
    """The messages of a conversation to show. Empty: the newest ones."""

    message = IdField(required=False)
    before = IdField(required=False)
    after = IdField(required=False)


class DeletedForm(SentencesForm):
    """A conversation that has just been deleted, so that the next page offers to undo it."""

    deleted = IdField(required=False)


class ApprovalForm(SentencesForm):
    """A decision about the approval that a waiting answer asks for. `code` runs in place of the call's code.

    `call_id`: the id of the approval. `message_id`: the answer that shows it; empty: the newest one.
    """

    call_id = PlainTextField(strip=False, error_messages={"required": "Say what is decided: call_id."})
    message_id = IdField(required=False, error_messages={"invalid": NO_MESSAGE})
    code = PromptField(what="This code")

    def clean(self) -> dict[str, object]:
        """Raise ValidationError for blank code. Without a `code`, the code is not changed."""
        data = self.cleaned_data
        if self.data.get("code") is None:
            data["code"] = None
        elif not self.errors and not data["code"].strip():
            raise ValidationError(EMPTY_CODE, code="required")
        return data


class RenameForm(SentencesForm):
    """A conversation's new title."""

    title = TitleField(required=True)


class ConversationSettingsForm(ChangesForm):
    """New settings of a conversation."""

    title = TitleField(required=False)
    model = ModelField()
    code_execution = code_execution_field()
    engine = engine_field()
    approval = approval_field()
    release = release_field()
    web_search = forms.ChoiceField(
        choices=Conversation.WebSearch.choices,
        error_messages={
            "required": "Choose whether answers search the web.",
            "invalid_choice": "Answers may search the web: auto, on or off.",
        },
    )
    private_data = TrueFalseField()
    nightly = TrueFalseField()
    system_instruction = PromptField(what="This instruction")


class MarksForm(ChangesForm):
    """The marks of a conversation: archived and pinned."""

    archived = TrueFalseField()
    pinned = TrueFalseField()

    def clean(self) -> dict[str, object]:
        """Raise ValidationError for a form without any of its fields."""
        if not self.fields:
            raise ValidationError("Say what to change: archived or pinned.", code="required")
        return self.cleaned_data


class RatingForm(SentencesForm):
    """A rating of an answer. The verdict `none` removes the rating."""

    verdict = forms.ChoiceField(
        choices=[("good", "a good answer"), ("bad", "a bad answer"), ("none", "nothing")],
        error_messages={
            "required": "Say what you think of the answer: good, bad or none.",
            "invalid_choice": "An answer is good, bad or none.",
        },
    )
    reason = PlainTextField(
        required=False,
        max_length=REASON_LIMIT,
        error_messages={"max_length": f"A reason can have at most {REASON_LIMIT:,} characters. Shorten it."},
    )


class ListForm(SentencesForm):
    """The page of the conversation list to show.

    The list holds the conversations that contain the words of `q`, or those of `group`. It begins after the position
    `after`. With `imported`, the number of the first row of an import, the list holds only that and later imports.
    `day` is the reader's day by which the first page was grouped. `open` is the id of the conversation that the browser
    shows beside the list.
    """

    q = PlainTextField(
        required=False,
        max_length=SEARCH_LIMIT,
        error_messages={"max_length": f"At most {SEARCH_LIMIT} characters can be searched for."},
    )
    group = forms.TypedChoiceField(
        choices=[(group.value, group.value) for group in Group],
        coerce=Group,
        required=False,
        empty_value=None,
        error_messages={"invalid_choice": f"There is no such list; there are {', '.join(Group)}."},
    )
    imported = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=ROW_NUMBER_LIMIT,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "There is no such import."),
    )
    after = ListPositionField(required=False)
    day = forms.DateField(
        required=False, input_formats=["%Y-%m-%d"], error_messages={"invalid": "Write the day as 2026-12-31."}
    )
    open = IdField(required=False)


class StatesForm(SentencesForm):
    """The conversations in the list whose states the page requests."""

    ids = IdListField(limit=100)


class ShareForm(SentencesForm):
    """A new share: a link to the messages of a conversation so far."""

    days = forms.TypedChoiceField(
        choices=[(str(days), str(days)) for days in (1, 7, 30, 365)],
        coerce=int,
        empty_value=None,
        required=False,
        error_messages={"invalid_choice": "Choose how long the link works."},
    )

    @property
    def expires_at(self) -> datetime | None:
        """The time at which the link ends; `None` if it works until it is revoked."""
        days: int | None = self.cleaned_data["days"]
        return None if days is None else timezone.now() + timedelta(days=days)
