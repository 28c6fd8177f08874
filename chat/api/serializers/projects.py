"""Projects in requests and responses."""

from __future__ import annotations

from functools import partial

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.api.pagination import NEXT_HELP
from chat.api.serializers.attachments import AttachmentSerializer, attachment_json
from chat.api.serializers.fields import (
    JSONBooleanField,
    PromptField,
    StrictQuerySerializer,
    StrictSerializer,
    TitleField,
)
from chat.models import Project
from chat.models.projects import NAME_LIMIT
from chat.vocabulary.parts import JSONObject

_name_field = partial(
    TitleField,
    max_length=NAME_LIMIT,
    help_text="One line.",
    error_messages={
        "blank": "Give the project a name.",
        "required": "Give the project a name.",
        "max_length": f"The name of a project can have at most {NAME_LIMIT} characters.",
    },
)
_instruction_field = partial(
    PromptField,
    what="This instruction",
    help_text="What the model is told in all conversations of the project. At most 256 KB of UTF-8.",
)


_private_field = partial(
    JSONBooleanField,
    required=False,
    help_text="Whether the data of all its conversations are private: see `private_data` of a conversation.",
)


class ProjectChangesSerializer(StrictSerializer):
    """What to change of a project. What is left out stays."""

    name = _name_field(required=False)
    instruction = _instruction_field()
    private_data = _private_field()


class NewProjectSerializer(StrictSerializer):
    """A new project."""

    name = _name_field()
    instruction = _instruction_field()
    private_data = _private_field()


class ProjectDeletionSerializer(StrictQuerySerializer):
    """What happens to the conversations of a project that is deleted."""

    conversations = serializers.ChoiceField(
        [("keep", "keep"), ("delete", "delete")],
        default="keep",
        help_text="Whether its conversations stay, without a project, or are deleted too.",
    )


class ProjectFileSerializer(StrictSerializer):
    """A file to add to a project."""

    attachment = serializers.UUIDField(help_text="The id of a file that was uploaded before.")


class ProjectSerializer(serializers.Serializer[Project]):
    """A project."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    instruction = serializers.CharField(
        allow_blank=True, help_text="What the model is told in all conversations of the project."
    )
    private_data = serializers.BooleanField(help_text="Whether the data of all its conversations are private.")
    conversations = serializers.IntegerField(
        source="conversation_count", min_value=0, help_text="How many conversations it holds."
    )
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(
        help_text="When it, its files, or which conversations it holds last changed. Lists are ordered by it."
    )


class ProjectDetailSerializer(ProjectSerializer):
    """A project with its files."""

    files = serializers.SerializerMethodField(help_text="In the order in which they were added.")

    @extend_schema_field(AttachmentSerializer(many=True))
    def get_files(self, project: Project) -> list[JSONObject]:
        """Return the files."""
        return [attachment_json(file) for file in project.attachments()]


class ProjectPageSerializer(serializers.Serializer[None]):
    """A page of projects, those that changed last first."""

    results = ProjectSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text=NEXT_HELP)
