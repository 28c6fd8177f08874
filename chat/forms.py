"""What clients send, parsed once for page, socket and API; every error is a sentence for a person.

The forms need no request and no database. Their data may be a `QueryDict` or a decoded JSON object, whose values
can be of any type; nothing in them may end in a traceback.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from chat.models import REASON_LIMIT, Conversation, Place
from chat.models.listed import Group

#: Most files in one message.
ATTACHMENTS_LIMIT = 10
#: Longest `client_id`, in characters.
CLIENT_ID_LIMIT = 64
#: Longest text to search for, in characters.
SEARCH_LIMIT = 200
#: Longest title, in characters.
TITLE_LIMIT = 200


class PlainTextField(forms.CharField):
    """Text that every database can store: NUL characters are dropped, lone surrogates become U+FFFD."""

    default_error_messages = {"not_text": "This must be text."}  # noqa: RUF012 - Django's own spelling

    def to_python(self, value: object) -> str:
        """Raises ValidationError for what is neither text nor absent."""
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ValidationError(self.error_messages["not_text"], code="not_text")
        value = value.replace("\x00", "")
        if not value.isascii():
            # JSON can spell half of a surrogate pair, which UTF-8 and so every database refuses.
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value.strip() if self.strip else value


class PromptField(PlainTextField):
    """Text for a model, kept as typed, of at most `PROMPT_LIMIT_BYTES` of UTF-8."""

    def __init__(self, *, what: str, required: bool, empty: str = "") -> None:
        """`what` begins the sentence about its length; `empty` is the sentence when a required one is blank."""
        super().__init__(required=required, strip=False, error_messages={"required": empty}, widget=forms.Textarea)
        self.what = what

    def validate(self, value: str) -> None:
        """Refuses blank text where it is required, and text that is too long."""
        if self.required and not value.strip():
            raise ValidationError(self.error_messages["required"], code="required")
        size_bytes, limit_bytes = len(value.encode()), settings.PROMPT_LIMIT_BYTES
        if size_bytes > limit_bytes:
            raise ValidationError(
                f"{self.what} has {-(-size_bytes // 1024)} KB, but at most {limit_bytes // 1024} KB can be sent."
                " Shorten it.",
                code="too_long",
            )


class AttachmentIdsField(forms.Field):
    """Ids of attachments, one or a list of them; each once, in the order given."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: object) -> list[uuid.UUID]:
        """Raises ValidationError for too many, and for what is no id."""
        items = value if isinstance(value, list | tuple) else [value]
        given = [item for item in items if item not in (None, "")]
        if len(given) > ATTACHMENTS_LIMIT:
            raise ValidationError(f"At most {ATTACHMENTS_LIMIT} files can be attached to one message.", code="too_many")
        try:
            return list(dict.fromkeys(map(_uuid, given)))
        except ValueError:
            raise ValidationError(
                "An attached file is not known here. Remove it and attach it again.", code="invalid"
            ) from None


def _uuid(item: object) -> uuid.UUID:
    """Raises ValueError for all but ids; lists in lists in lists are not spelled out, which would exhaust the stack."""
    if not isinstance(item, str | uuid.UUID):
        raise ValueError("not an id")
    return uuid.UUID(str(item))


class SentencesForm(forms.Form):
    """A form whose errors are read aloud as sentences."""

    def sentence(self) -> str:
        """All errors as one text; empty when there are none."""
        return " ".join(str(sentence) for sentences in self.errors.values() for sentence in sentences)


class SharedFields(dict[str, forms.Field]):
    """Fields that all instances of a form share, where none changes them: copying them takes longer than all checks."""

    def __deepcopy__(self, memo: dict[int, object]) -> SharedFields:
        """Itself."""
        return self


class ModelField(PlainTextField):
    """The name of a model or preset, or empty; whether it is offered is not asked here."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=200,
            validators=[
                # The name becomes part of a path of the provider's API: it is one segment, so that nobody reaches
                # other resources with the operator's key.
                RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", "This is not the name of a model.")
            ],
            error_messages={"max_length": "The name of a model can have at most 200 characters."},
        )


class IdField(forms.Field):
    """An id, or None."""

    default_error_messages = {"unknown": "There is nothing with this id."}  # noqa: RUF012 - Django's own spelling

    def to_python(self, value: object) -> uuid.UUID | None:
        """Raises ValidationError for what is no id."""
        if value in (None, ""):
            return None
        try:
            return _uuid(value)
        except ValueError:
            raise ValidationError(self.error_messages["unknown"], code="invalid") from None


class MessageIdField(IdField):
    """Id of a message, or None."""

    default_error_messages = {"unknown": "There is no such message."}  # noqa: RUF012 - Django's own spelling


class SendForm(SentencesForm):
    """A prompt: `text` as typed, `attachments` as a list of UUIDs, `client_id` or empty.

    `code_execution` and `model` are for this message alone; empty: as the conversation has them.
    """

    text = PromptField(what="This message", required=False)
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
        """Refuses a message that says nothing; files may stand alone."""
        data: dict[str, Any] = self.cleaned_data
        if not data.get("text", "").strip() and not data.get("attachments") and not self.errors:
            raise ValidationError("Write a message first.", code="required")
        return data


class EditForm(SendForm):
    """An earlier message, `message_id`, in other words."""

    message_id = MessageIdField(error_messages={"required": "Say which message to change: message_id."})


# What every question passes.
SendForm.base_fields = SharedFields(SendForm.base_fields)
EditForm.base_fields = SharedFields(EditForm.base_fields)


class VersionForm(SentencesForm):
    """A message of which another version is meant."""

    message_id = MessageIdField(error_messages={"required": "Say which message is meant: message_id."})

    def __init__(self, data: Mapping[str, Any] | None = None, *, is_required: bool = True) -> None:
        super().__init__(data)
        self.fields["message_id"].required = is_required


class TitleField(PlainTextField):
    """One line; line breaks and other runs of blanks become one space."""

    def __init__(self, *, required: bool) -> None:
        super().__init__(
            required=required,
            max_length=TITLE_LIMIT,
            error_messages={
                "required": "Give the conversation a name.",
                "max_length": f"A title can have at most {TITLE_LIMIT} characters.",
            },
        )

    def to_python(self, value: object) -> str:
        """Raises ValidationError as `PlainTextField` does; the limit is on what was sent, blanks and all."""
        if isinstance(value, str) and len(value) > TITLE_LIMIT:
            raise ValidationError(self.error_messages["max_length"], code="max_length")
        return " ".join(super().to_python(value).split())


class RenameForm(SentencesForm):
    """A conversation's new title."""

    title = TitleField(required=True)


class ChangesForm(SentencesForm):
    """A form whose `cleaned_data` holds those fields that were given and no others."""

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        """Drop the fields that `data` does not name, so that they keep their values."""
        super().__init__(data)
        for name in set(self.fields) - set(self.data):
            del self.fields[name]


class ConversationSettingsForm(ChangesForm):
    """Settings of a conversation."""

    title = TitleField(required=False)
    model = ModelField()
    code_execution = forms.ChoiceField(
        choices=Conversation.CodeExecution.choices,
        error_messages={
            "required": "Choose when answers may run code.",
            "invalid_choice": "Answers may run code: auto, on or off.",
        },
    )
    system_instruction = PromptField(what="This instruction", required=False)


class YesField(forms.TypedChoiceField):
    """`true` or `false`, in words."""

    def __init__(self) -> None:
        sentence = "This must be true or false."
        super().__init__(
            choices=[("true", "yes"), ("false", "no")],
            coerce=lambda word: word == "true",
            error_messages={"required": sentence, "invalid_choice": sentence},
        )


class ReasonField(PlainTextField):
    """Why an answer is good or bad, in its reader's words; may be empty."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=REASON_LIMIT,
            error_messages={"max_length": f"A reason can have at most {REASON_LIMIT:,} characters. Shorten it."},
        )


class RatingForm(SentencesForm):
    """What is said of an answer: `verdict` is `good`, `bad`, or `none`, which takes back what was said."""

    verdict = forms.ChoiceField(
        choices=[("good", "a good answer"), ("bad", "a bad answer"), ("none", "nothing")],
        error_messages={
            "required": "Say what you think of the answer: good, bad or none.",
            "invalid_choice": "An answer is good, bad or none.",
        },
    )
    reason = ReasonField()


class MarksForm(ChangesForm):
    """Marks of a conversation."""

    archived = YesField()
    pinned = YesField()

    def clean(self) -> dict[str, Any]:
        """Refuses a form that marks nothing."""
        if not self.fields:
            raise ValidationError("Say what to change: archived or pinned.", code="required")
        return self.cleaned_data


class PlaceField(PlainTextField):
    """Where a list of conversations goes on, as `written` says it; or None."""

    def clean(self, value: object) -> Place | None:
        """Raises ValidationError for all that `written` does not give."""
        text = super().clean(value)
        if not text:
            return None
        at, _, conversation_id = text.partition("_")
        try:
            moment = datetime.fromisoformat(at)
            if moment.tzinfo is None:
                raise ValueError("a moment of no time zone")
            return Place(moment.astimezone(UTC), uuid.UUID(conversation_id))
        except (ValueError, OverflowError):
            raise ValidationError("The list cannot go on from there.", code="invalid") from None

    @staticmethod
    def written(place: Place) -> str:
        """As it goes into an address."""
        return f"{place.updated_at.isoformat()}_{place.conversation_id.hex}"


class ListForm(SentencesForm):
    """Which conversations to list: those that hold the words of `q`, or those of a group, on from `after`.

    `open` is the one in view.
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
    after = PlaceField(required=False)
    open = IdField(required=False)
