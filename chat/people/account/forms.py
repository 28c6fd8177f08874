"""Forms of the settings of an account."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.http import QueryDict

from chat.models import User
from chat.models.form_fields import (
    ModelField,
    PlainTextField,
    SentencesForm,
    approval_field,
    code_execution_field,
    engine_field,
    release_field,
)
from chat.models.user import INSTRUCTION_LIMIT
from chat.providers.catalogue.choices import check_choice
from chat.providers.catalogue.setups import UnknownModel

NAME_LIMIT = 100
"""Maximum length of a display name, in characters."""


class DisplayNameField(PlainTextField):
    """A name on one line: line breaks and repeated spaces become one space."""

    def to_python(self, value: object) -> str:
        """Return the name on one line."""
        return " ".join(super().to_python(value).split())


class InstructionField(PlainTextField):
    """A text with line breaks. Browsers send two characters for a line break, which count as one."""

    def to_python(self, value: object) -> str:
        """Return the text with line feeds as line breaks."""
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class ProfileForm(SentencesForm):
    """The form for the name with which pages address the person."""

    display_name = DisplayNameField(
        required=False,
        max_length=NAME_LIMIT,
        error_messages={"max_length": f"A name can have at most {NAME_LIMIT} characters. Shorten it."},
    )


class AppearanceForm(SentencesForm):
    """The colours and the language of the pages."""

    theme = forms.ChoiceField(
        choices=User.Theme.choices,
        error_messages={
            "required": "Choose the colours of the pages.",
            "invalid_choice": "The colours are those of the device, light or dark.",
        },
    )
    language = forms.ChoiceField(
        choices=[("", ""), *settings.LANGUAGES],
        required=False,
        error_messages={"invalid_choice": "The pages do not speak this language yet."},
    )


class DefaultsForm(SentencesForm):
    """The settings of new conversations, and the person's own instruction."""

    default_model = ModelField()
    default_code_execution = code_execution_field()
    default_engine = engine_field()
    default_approval = approval_field()
    default_release = release_field()
    instruction = InstructionField(
        required=False,
        max_length=INSTRUCTION_LIMIT,
        error_messages={"max_length": f"An instruction can have at most {INSTRUCTION_LIMIT:,} characters. Shorten it."},
    )

    def __init__(self, data: QueryDict | None, *, current_model: str) -> None:
        """`current_model`: the present choice, which stays valid even if the model is no longer offered."""
        super().__init__(data)
        self._current_model = current_model

    def clean_default_model(self) -> str:
        """Return the name. Raises ValidationError if the model is not offered."""
        name: str = self.cleaned_data["default_model"]
        if name != self._current_model:
            try:
                check_choice(name)
            except UnknownModel as error:
                raise forms.ValidationError(str(error), code="unknown") from None
        return name
