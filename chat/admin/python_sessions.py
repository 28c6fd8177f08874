"""The admin of Python sessions: which kernels run, and an action that ends them.

Names and values of variables are content, so they are not shown. Operators need no more than the state of a session.
"""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy, ngettext

from chat.admin.base import ReadOnlyAdmin
from chat.admin.read_access import shorten_id
from chat.models import PythonSession
from chat.python.sessions.control import ENDED_BY_STAFF
from chat.python.sessions.rows import request_stop


@admin.register(PythonSession)
class PythonSessionAdmin(ReadOnlyAdmin[PythonSession]):
    """One Python session, without its content."""

    list_display = ("id", "state", "owner", "conversation_short", "place", "started_at", "last_used_at", "busy_until")
    list_filter = ("state", "place", "started_at")
    list_select_related = ("owner",)
    search_fields = ("=conversation__id", "=owner__username", "=kernel_id")
    ordering = ("-last_used_at", "-pk")
    fields = (
        ("id", "state"),
        ("owner", "conversation_short"),
        ("place", "kernel_id", "generation"),
        ("execution_count", "note"),
        ("started_at", "last_used_at"),
        ("busy_until", "queued_at"),
    )
    readonly_fields = ("id", "conversation_short")
    actions = ("end",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PythonSession]:
        """Return the sessions without fields that hold content."""
        return PythonSession.objects.select_related("owner").defer("variables", "files", "placed_files")

    def has_end_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may run the action that declares the permission `end`."""
        return bool(request.user.has_perm("chat.end_pythonsession"))

    @admin.display(description=gettext_lazy("conversation"))
    def conversation_short(self, session: PythonSession) -> str:
        """Short id of the conversation; empty if it was deleted. The title is private content and is not shown."""
        return shorten_id(session.conversation_id) if session.conversation_id else ""

    @admin.action(description=gettext_lazy("End the chosen sessions"), permissions=["end"])
    def end(self, request: HttpRequest, sessions: QuerySet[PythonSession]) -> None:
        """Request the end of the kernels, which takes a few seconds. Their variables are lost."""
        ended = sum(request_stop(session.pk, session.generation, ENDED_BY_STAFF) for session in sessions)
        text = ngettext(
            "%(number)s Python session will have ended in a few seconds.",
            "%(number)s Python sessions will have ended in a few seconds.",
            ended,
        )
        messages.success(request, text % {"number": ended})
