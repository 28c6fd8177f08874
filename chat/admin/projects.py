"""The admin of projects: whose they are and how large. Staff do not see names and instructions, which people write."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from chat.admin.base import ReadOnlyAdmin, count_related
from chat.admin.read_access import shorten_id
from chat.models import Project, ProjectFile
from chat.models.projects import count_conversations


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin[Project]):
    """A project without the texts that its owner wrote."""

    list_display = ("id", "owner", "conversations", "files", "created_at", "updated_at")
    fields = readonly_fields = list_display
    search_fields = ("=id", "=owner__username")
    ordering = ("-updated_at", "-pk")
    view_on_site = False  # Only the owner may open the project's own page.

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        """Return the projects with their owners and counts, without what their owners wrote."""
        rows = Project.objects.select_related("owner").defer("name", "instruction")
        return rows.annotate(conversation_count=count_conversations(), file_count=count_related(ProjectFile, "project"))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Project | None:
        """Return a project with its short id in place of its name."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            row.name = gettext("Project %(id)s") % {"id": shorten_id(row.pk)}
        return row

    @admin.display(description=gettext_lazy("conversations"))
    def conversations(self, project: Project) -> int:
        """Return the number of conversations in the project."""
        return int(getattr(project, "conversation_count", 0))

    @admin.display(description=gettext_lazy("files"))
    def files(self, project: Project) -> int:
        """Return the number of files of the project."""
        return int(getattr(project, "file_count", None) or 0)
