"""Form fields for values that clients send. Invalid values raise only ValidationError, with a sentence for a person.

The values may come from a `QueryDict` or from decoded JSON, so they can have any type.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from chat.models import Conversation, ListPosition
from chat.vocabulary.sanitize import sanitize_text

ATTACHMENTS_LIMIT = 10
"""Maximum number of files in one message."""

TITLE_LIMIT = 200
"""Maximum length of a title, in characters."""

MODEL_NAME_LIMIT = 200
"""Maximum length of the name of a model or preset, in characters."""

# The names of models on other servers may be paths or contain spaces. In the end, only names that the operator has
# entered can be chosen. Some names become part of a URL path, so `..` is refused.
validate_model_name = RegexValidator(
    r"^(?!(.*/)?\.\.(/|\Z))[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?\Z",
    "This is not the name of a model.",
)


def check_prompt_size(text: str, *, what: str) -> None:
    """Raise ValidationError if a text has more than `PROMPT_LIMIT_BYTES`. `what`: the subject of the
    error's sentence.
    """
    size_bytes, limit_bytes = len(text.encode()), settings.PROMPT_LIMIT_BYTES
    if size_bytes > limit_bytes:
        raise ValidationError(
            f"{what} has {-(-size_bytes // 1024)} KB, but at most {limit_bytes // 1024} KB can be sent. Shorten it.",
            code="too_long",
        )


class PlainTextField(forms.CharField):
    """Text that every database can store: NUL characters are removed, and lone surrogates are replaced by U+FFFD."""

    default_error_messages: ClassVar = {"not_text": "This must be text."}

    def to_python(self, value: object) -> str:
        """Return the text; `None` becomes an empty one. Raise ValidationError for a value of another type."""
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ValidationError(self.error_messages["not_text"], code="not_text")
        text = sanitize_text(value.replace("\0", ""))
        return text.strip() if self.strip else text


class PromptField(PlainTextField):
    """Text for a model, kept as typed; may be empty. `what`: see `check_prompt_size`."""

    def __init__(self, *, what: str) -> None:
        super().__init__(required=False, strip=False, validators=[partial(check_prompt_size, what=what)])


class IdField(forms.Field):
    """An id, or `None`."""

    default_error_messages: ClassVar = {"invalid": "There is nothing with this id."}

    def to_python(self, value: object) -> uuid.UUID | None:
        """Return the id; an empty value becomes `None`. Raise ValidationError for anything else."""
        if value in (None, ""):
            return None
        if isinstance(value, uuid.UUID):
            return value
        try:
            # Django's UUIDField accepts any type and calls str(), which exhausts the stack for deeply nested lists.
            if isinstance(value, str):
                return uuid.UUID(value)
        except ValueError:
            pass
        raise ValidationError(self.error_messages["invalid"], code="invalid")


class IdListField(forms.Field):
    """Ids that are separated by commas, without duplicates. `limit`: maximum number of ids in one request."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(required=False)
        self.limit = limit

    def to_python(self, value: object) -> list[uuid.UUID]:
        """Return the ids. Raise ValidationError for an invalid id, and for too many ids."""
        items = value.split(",", self.limit) if isinstance(value, str) and value else []
        if len(items) > self.limit:
            raise ValidationError(f"At most {self.limit} ids can be sent at once.", code="too_many")
        return list(dict.fromkeys(map(IdField().clean, items)))


class AttachmentIdsField(forms.Field):
    """Ids of attachments in the given order, without duplicates. The value is one id or a list of ids."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: object) -> list[uuid.UUID]:
        """Return the ids; empty items are skipped. Raise ValidationError for an invalid id, and for too many ids."""
        items = value if isinstance(value, list | tuple) else [value]
        items = [item for item in items if item not in (None, "")]
        if len(items) > ATTACHMENTS_LIMIT:
            raise ValidationError(f"At most {ATTACHMENTS_LIMIT} files can be attached to one message.", code="too_many")
        invalid = "An attached file is not known here. Remove it and attach it again."
        field = IdField(error_messages={"invalid": invalid, "required": invalid})
        return list(dict.fromkeys(map(field.clean, items)))


class ModelField(PlainTextField):
    """The name of a model or preset, or an empty text. The field does not check whether the catalogue
    offers the model.
    """

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=MODEL_NAME_LIMIT,
            validators=[validate_model_name],
            error_messages={"max_length": f"The name of a model can have at most {MODEL_NAME_LIMIT} characters."},
        )


class TitleField(PlainTextField):
    """A title of one line: line breaks and repeated spaces become one space."""

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
        """Return the title. Raises ValidationError if the text is too long before spaces are removed."""
        if isinstance(value, str) and len(value) > TITLE_LIMIT:
            raise ValidationError(self.error_messages["max_length"], code="max_length")
        return " ".join(super().to_python(value).split())


class TrueFalseField(forms.TypedChoiceField):
    """One of the words `true` and `false`, as a boolean."""

    def __init__(self) -> None:
        sentence = "This must be true or false."
        super().__init__(
            choices=[("true", "yes"), ("false", "no")],
            coerce=lambda word: word == "true",
            error_messages={"required": sentence, "invalid_choice": sentence},
        )


class ListPositionField(PlainTextField):
    """The position after which a page of a list begins, as `serialize` returns it, or `None`."""

    def clean(self, value: object) -> ListPosition | None:
        """Return the position; an empty text becomes `None`. Raise ValidationError for anything else."""
        text = super().clean(value)
        if not text:
            return None
        at, _, rest = text.partition("_")
        conversation_id, _, rank = rest.partition("_")
        try:
            updated_at = datetime.fromisoformat(at)
            if updated_at.tzinfo is None:
                raise ValueError("a datetime without time zone")
            return ListPosition(updated_at.astimezone(UTC), uuid.UUID(conversation_id), int(rank[:1] or 0))
        except (ValueError, OverflowError):
            raise ValidationError(
                "This link to the next page is not valid. Open the list from the beginning.", code="invalid"
            ) from None

    @staticmethod
    def serialize(position: ListPosition) -> str:
        """Return the text of a position, for URLs."""
        rank = f"_{position.rank}" if position.rank else ""
        return f"{position.updated_at.isoformat()}_{position.conversation_id.hex}{rank}"


def code_execution_field() -> forms.ChoiceField:
    """Return the field that says when answers may run code."""
    return forms.ChoiceField(
        choices=Conversation.CodeExecution.choices,
        error_messages={
            "required": "Choose when answers may run code.",
            "invalid_choice": "Answers may run code: auto, on or off.",
        },
    )


def engine_field() -> forms.ChoiceField:
    """Return the field that says where code runs."""
    return forms.ChoiceField(
        choices=Conversation.Engine.choices,
        error_messages={
            "required": "Choose where code runs.",
            "invalid_choice": "Code runs in one of these places: auto, native or session.",
        },
    )


def approval_field() -> forms.ChoiceField:
    """Return the field that says whether a person must approve code before it runs."""
    return forms.ChoiceField(
        choices=Conversation.Approval.choices,
        error_messages={
            "required": "Choose whether code runs without asking.",
            "invalid_choice": "Code may run without asking (auto) or after you have approved it (ask).",
        },
    )


def release_field() -> forms.ChoiceField:
    """Return the field that says whether a person must release results before a model gets them."""
    return forms.ChoiceField(
        choices=Conversation.Release.choices,
        error_messages={
            "required": "Choose whether the model gets results without asking.",
            "invalid_choice": "The model may get results without asking (auto) or after you have released them (ask).",
        },
    )


class SentencesForm(forms.Form):
    """A form whose errors are sentences."""

    def sentence(self) -> str:
        """Return all errors as one text; an empty text if the form is valid."""
        return " ".join(str(sentence) for sentences in self.errors.values() for sentence in sentences)


class ChangesForm(SentencesForm):
    """A form for partial updates: `cleaned_data` holds only the fields that the client sent."""

    def __init__(self, data: Mapping[str, object] | None = None) -> None:
        """Remove the fields that `data` does not contain."""
        super().__init__(data)
        for name in set(self.fields) - set(self.data):
            del self.fields[name]
