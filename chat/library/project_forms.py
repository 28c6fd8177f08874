"""Forms for what clients send about projects. See `chat.library.forms`."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from chat.models.form_fields import (
    ChangesForm,
    IdField,
    ListPositionField,
    PlainTextField,
    PromptField,
    SentencesForm,
    TitleField,
    TrueFalseField,
)
from chat.models.projects import NAME_LIMIT

NO_NAME = "Give the project a name."


class ProjectNameField(TitleField):
    """The name of a project, on one line."""

    def __init__(self, *, required: bool = True) -> None:
        super().__init__(required=required)
        sentence = f"The name of a project can have at most {NAME_LIMIT} characters."
        self.error_messages |= {"required": NO_NAME, "max_length": sentence}


class NewProjectForm(SentencesForm):
    """The name of a new project."""

    name = ProjectNameField()


class ProjectForm(ChangesForm):
    """New settings of a project."""

    name = ProjectNameField()
    instruction = PromptField(what="This instruction")
    private_data = TrueFalseField()


class ProjectFileForm(SentencesForm):
    """A file to add to a project."""

    attachment = IdField(error_messages={"required": "Say which file to add: attachment."})


class ProjectPageForm(SentencesForm):
    """The page to show of a list of projects, or of a project's conversations."""

    after = ListPositionField(required=False)


class ProjectDeletionForm(SentencesForm):
    """The choice whether the conversations of a deleted project are kept or deleted."""

    conversations = forms.ChoiceField(
        choices=[("keep", "stay, without a project"), ("delete", "are deleted with it")],
        required=False,
        error_messages={"invalid_choice": "The conversations stay or are deleted: keep or delete."},
    )


class MoveForm(SentencesForm):
    """The project into which a conversation is moved: an id, `new` for a new one, or empty for none.

    `open` is the id of the conversation that the browser shows.
    """

    project = PlainTextField(required=False)
    name = ProjectNameField(required=False)
    open = IdField(required=False)

    def clean(self) -> dict[str, object]:
        """Replace the id by a UUID. Raise ValidationError for an invalid one, and for a new project without a name."""
        data = self.cleaned_data
        if data.get("project") != "new":
            data["project"] = IdField(required=False).clean(data.get("project"))
        elif not self.errors and not data["name"]:
            raise ValidationError(NO_NAME, code="required")
        return data
