"""Projects: folders of a person's conversations, with an instruction and files for all of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from attachments.models import Attachment
from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet, ListPosition
from chat.models.user import lock_user

NAME_LIMIT = 200
"""Maximum length of a name, in characters."""
FILES_LIMIT = 10
"""Maximum number of files of one project: as many as one message may have."""
PROJECTS_LIMIT = 500
"""Maximum number of projects of one person."""


class ProjectRefused(Exception):
    """A project cannot be changed in this way. The text is a sentence for its owner."""


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A page of projects, those that changed last first."""

    projects: list[Project]
    end: ListPosition | None
    """The position after which the next page begins; `None` on the last page."""


class ProjectQuerySet(models.QuerySet["Project"]):
    """Queries for projects."""

    def newest_first(self) -> ProjectQuerySet:
        """Order the projects by their last change."""
        return self.order_by("-updated_at", "-pk")

    def page(self, size: int, after: ListPosition | None = None) -> ProjectPage:
        """Return the projects that changed last; if `after` is given, the next ones after that position."""
        rows = self.newest_first()
        if after is not None:
            is_later = Q(updated_at__lt=after.updated_at) | Q(pk__lt=after.conversation_id)
            rows = rows.filter(is_later, updated_at__lte=after.updated_at)
        projects = list(rows[: size + 1])
        last = projects[size - 1] if len(projects) > size else None
        return ProjectPage(projects[:size], ListPosition(last.updated_at, last.pk) if last else None)

    def start(self, owner_id: int, *, name: str, instruction: str = "", private_data: bool = False) -> Project:
        """Create a project. Raises ProjectRefused if the person has too many projects."""
        with transaction.atomic():
            lock_user(owner_id)
            if self.filter(owner_id=owner_id).count() >= PROJECTS_LIMIT:
                raise ProjectRefused(f"You have {PROJECTS_LIMIT} projects already. Delete one of them first.")
            return self.create(owner_id=owner_id, name=name, instruction=instruction, private_data=private_data)


class Project(models.Model):
    """A folder of conversations. Its instruction and files are part of the prompts of all of them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="projects", db_index=False
    )
    name = models.CharField(max_length=NAME_LIMIT)
    instruction = models.TextField(blank=True, help_text="Sent to the model in all conversations of this project.")
    private_data = models.BooleanField(
        default=False, db_default=False, help_text="Whether the data of all its conversations are private."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(
        auto_now=True, help_text="When it, its files, or which conversations it holds last changed."
    )

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-updated_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner", "-updated_at"], name="projects_of_owner"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.pk])

    def change(self, **columns: str | bool) -> None:
        """Save these columns and the time of the change. Raises Project.DoesNotExist if the project was deleted
        meanwhile.
        """
        with transaction.atomic():
            lock_project(self)
            for name, value in columns.items():
                setattr(self, name, value)
            self.save(update_fields=[*columns, "updated_at"])

    def attachments(self) -> list[Attachment]:
        """Return the files, in the order in which they were added."""
        return [link.attachment for link in self.files.select_related("attachment")]


class ProjectFile(models.Model):
    """A file of a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="files", db_index=False)
    attachment = models.ForeignKey(Attachment, on_delete=models.PROTECT, related_name="project_files")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "attachment"], name="one_link_per_project_file"),
        ]

    def __str__(self) -> str:
        return f"file {self.attachment_id} of {self.project_id}"


def count_conversations() -> Coalesce:
    """Return an ORM expression for the number of a project's conversations."""
    rows = Conversation.objects.kept().filter(project=OuterRef("pk")).order_by().values("project")
    return Coalesce(Subquery(rows.annotate(number=Count("pk")).values("number")), 0, output_field=IntegerField())


def lock_project(project: Project) -> Project:
    """Lock a project, so that it is not deleted before the transaction ends.

    Raises Project.DoesNotExist if it was deleted.
    """
    return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def add_files(project: Project, files: Sequence[Attachment]) -> None:
    """Add files of the project's owner. Files that the project already has are skipped.

    Raises ProjectRefused if the project would have too many files, Project.DoesNotExist if it was deleted, and
    Attachment.DoesNotExist if a file was deleted meanwhile.
    """
    with transaction.atomic():
        locked = lock_project(project)
        known = set(locked.files.values_list("attachment_id", flat=True))
        new = [file for file in files if file.pk not in known]
        if len(known) + len(new) > FILES_LIMIT:
            raise ProjectRefused(f"A project can have at most {FILES_LIMIT} files. Remove one of them first.")
        existing = set(
            Attachment.objects.select_for_update().filter(pk__in=[file.pk for file in new]).values_list("pk", flat=True)
        )
        if len(existing) < len(new):
            raise Attachment.DoesNotExist
        ProjectFile.objects.bulk_create(ProjectFile(project=locked, attachment=file) for file in new)
        locked.save(update_fields=["updated_at"])


def keep_private(conversations: ConversationQuerySet) -> None:
    """Set the conversations' own setting to private if their project is private.

    Call it before they leave the project, in the same transaction.
    """
    conversations.filter(project__private_data=True).update(private_data=True)


def move_conversation(conversation: Conversation, project: Project | None) -> None:
    """Move a conversation into a project of its owner, or out of its project. Its position in the lists does not
    change.

    The data of a conversation that leaves a private project stay private.

    Raises ProjectRefused for a temporary conversation, and Project.DoesNotExist if the project was deleted meanwhile or
    belongs to another person.
    """
    with transaction.atomic():
        row = Conversation.objects.filter(pk=conversation.pk)
        if project is not None:
            if project.owner_id != conversation.owner_id:
                raise Project.DoesNotExist
            locked = lock_project(project)
            keep_private(row)
            if not row.kept().update(project=locked):
                raise ProjectRefused("A temporary conversation cannot be in a project. Keep it first.")
            locked.save(update_fields=["updated_at"])
        else:
            keep_private(row)
            row.update(project=None)
    conversation.private_data = conversation.is_private
    conversation.project = project
