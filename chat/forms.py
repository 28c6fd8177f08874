"""Forms for what clients send. Pages, the socket and the API parse with them; every error is a sentence for a person.

A form needs no request and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from chat.form_fields import (
    AttachmentIdsField,
    IdField,
    ListPositionField,
    ModelField,
    PlainTextField,
    PromptField,
    TitleField,
    TrueFalseField,
)
from chat.models import REASON_LIMIT, Conversation
from chat.models.list_queries import Group

CLIENT_ID_LIMIT = 64
"""Maximum length of a `client_id`, in characters."""

SEARCH_LIMIT = 200
"""Maximum length of a search text, in characters."""

NO_MESSAGE = "There is no such message."


class SentencesForm(forms.Form):
    """A form whose errors are sentences."""

    def sentence(self) -> str:
        """Return all errors as one text; an empty text if the form is valid."""
        return " ".join(str(sentence) for sentences in self.errors.values() for sentence in sentences)


class ChangesForm(SentencesForm):
    """A form for partial updates: `cleaned_data` holds only the fields that the client sent."""

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        """Remove the fields that `data` does not contain."""
        super().__init__(data)
        for name in set(self.fields) - set(self.data):
            del self.fields[name]


class SendForm(SentencesForm):
    """A new message. `code_execution` and `model` apply to this message alone; empty: the conversation's settings."""

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

    def clean(self) -> dict[str, Any]:
        """Raise ValidationError for a message with neither text nor attachments."""
        data: dict[str, Any] = self.cleaned_data
        if not self.errors and not data["text"].strip() and not data["attachments"]:
            raise ValidationError("Write a message first.", code="required")
        return data


class EditForm(SendForm):
    """A new version of an earlier message."""

    message_id = IdField(error_messages={"required": "Say which message to change: message_id.", "invalid": NO_MESSAGE})


class VersionForm(SentencesForm):
    """A message of which another version is to be written or shown."""

    message_id = IdField(error_messages={"required": "Say which message is meant: message_id.", "invalid": NO_MESSAGE})

    def __init__(self, data: Mapping[str, Any] | None = None, *, is_required: bool = True) -> None:
        super().__init__(data)
        self.fields["message_id"].required = is_required


class RenameForm(SentencesForm):
    """A conversation's new title."""

    title = TitleField(required=True)


class ConversationSettingsForm(ChangesForm):
    """New settings of a conversation."""

    title = TitleField(required=False)
    model = ModelField()
    code_execution = forms.ChoiceField(
        choices=Conversation.CodeExecution.choices,
        error_messages={
            "required": "Choose when answers may run code.",
            "invalid_choice": "Answers may run code: auto, on or off.",
        },
    )
    system_instruction = PromptField(what="This instruction")


class MarksForm(ChangesForm):
    """Whether a conversation is archived, and whether it is pinned."""

    archived = TrueFalseField()
    pinned = TrueFalseField()

    def clean(self) -> dict[str, Any]:
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
    """Which page of the conversation list to show.

    The list holds the conversations that contain the words of `q`, or those of `group`, from the position `after` on.
    `open` is the id of the conversation that the browser shows beside the list.
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
    after = ListPositionField(required=False)
    open = IdField(required=False)
