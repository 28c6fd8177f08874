"""Views of projects: their list, the page of a project, and moves of conversations into projects."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from attachments.models import Attachment
from attachments.other_images import PICKER_TYPES
from chat.answering.turns.deletions import delete_project_with_conversations
from chat.library.new_conversations import open_new_conversation
from chat.library.project_forms import (
    MoveForm,
    NewProjectForm,
    ProjectDeletionForm,
    ProjectFileForm,
    ProjectForm,
    ProjectPageForm,
)
from chat.library.refusal_responses import refuse
from chat.library.sidebar_projects import sidebar_projects
from chat.models import Conversation, ListPosition, Project, ProjectRefused
from chat.models.deletion import delete_project, remove_project_file
from chat.models.form_fields import ListPositionField
from chat.models.projects import (
    FILES_LIMIT,
    NAME_LIMIT,
    PROJECTS_LIMIT,
    add_files,
    count_conversations,
    move_conversation,
)
from chat.people.access import (
    NotFound,
    SignedInRequest,
    attachments_of,
    projects_of,
    writable_conversation,
    writable_project,
)
from chat.people.login_redirects import login_required_post
from chat.people.quotas.pages import limited_as_calls

PAGE_SIZE = 40


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limited_as_calls
def projects(request: SignedInRequest) -> HttpResponse:
    """Render a page of the list of projects; with POST, create a project and redirect to its page."""
    error, typed = "", ""
    if request.method == "POST":
        form = NewProjectForm(request.POST)
        error, typed = form.sentence(), request.POST.get("name", "")
        if not error:
            try:
                return redirect(Project.objects.start(request.user.pk, name=form.cleaned_data["name"]))
            except ProjectRefused as refusal:
                error = str(refusal)
    # Instructions can be long, and no list shows them.
    rows = projects_of(request.user).defer("instruction").annotate(conversation_count=count_conversations())
    page = rows.page(PAGE_SIZE, _after(request))
    context = {
        "projects": page.projects,
        "more": _position(page.end),
        "is_first": "after" not in request.GET,
        "name_limit": NAME_LIMIT,
        "error": error,
        "typed": typed,
    }
    return render(request, "chat/projects.html", context, status=400 if error else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project(request: SignedInRequest, project_id: uuid.UUID) -> HttpResponse:
    """Render a project; with POST, save its settings."""
    shown = writable_project(request.user, project_id)
    if request.method != "POST":
        return _render_project(request, shown)
    form = ProjectForm(request.POST)
    if not form.is_valid():
        return _render_project(request, shown, error=form.sentence())
    try:
        shown.change(**form.cleaned_data)
    except Project.DoesNotExist:  # It has just been deleted in another tab.
        raise NotFound from None
    return redirect(shown)


def _render_project(request: SignedInRequest, shown: Project, *, error: str = "") -> HttpResponse:
    """Render a project's page. `error`: why its settings were not saved; the page shows the sent ones."""
    rows = Conversation.objects.kept().filter(project=shown).defer("system_instruction")
    page = rows.page(PAGE_SIZE, _after(request))
    typed = request.POST if error else {}
    context = {
        "project": shown,
        "files": shown.attachments(),
        "files_limit": FILES_LIMIT,
        "picker_types": PICKER_TYPES,
        "file_limit_bytes": settings.UPLOAD_LIMIT_BYTES,
        "conversations": page.conversations,
        "more": _position(page.end),
        "is_first": "after" not in request.GET,
        "name": typed.get("name", shown.name),
        "instruction": typed.get("instruction", shown.instruction),
        "is_private": typed.get("private_data", "true" if shown.private_data else "false") == "true",
        "name_limit": NAME_LIMIT,
        "error": error,
    }
    return render(request, "chat/project.html", context, status=400 if error else 200)


@login_required_post
@limited_as_calls
def project_conversation(request: SignedInRequest, project_id: uuid.UUID) -> HttpResponse:
    """Redirect to an empty conversation in the project."""
    try:
        return redirect(open_new_conversation(request.user, writable_project(request.user, project_id)))
    except Project.DoesNotExist:  # It has just been deleted in another tab.
        raise NotFound from None


@login_required_post
def project_files(request: SignedInRequest, project_id: uuid.UUID) -> HttpResponse:
    """Add a file that was uploaded before."""
    changed = writable_project(request.user, project_id)
    form = ProjectFileForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    try:
        add_files(changed, attachments_of(request.user, [form.cleaned_data["attachment"]]))
    except ProjectRefused as refusal:
        return refuse(str(refusal))
    except (Project.DoesNotExist, Attachment.DoesNotExist):
        raise NotFound from None
    return redirect(changed)


@login_required_post
def project_file_remove(request: SignedInRequest, project_id: uuid.UUID, attachment_id: uuid.UUID) -> HttpResponse:
    """Remove a file from the project. If the project does not have the file, nothing changes."""
    changed = writable_project(request.user, project_id)
    remove_project_file(changed, attachment_id)
    return redirect(changed)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_delete(request: SignedInRequest, project_id: uuid.UUID) -> HttpResponse:
    """Ask whether to delete a project, and what happens to its conversations; with POST, delete it."""
    deleted = writable_project(request.user, project_id)
    if request.method != "POST":
        number = Conversation.objects.kept().filter(project=deleted).count()
        return render(request, "chat/project_delete.html", {"project": deleted, "conversation_count": number})
    form = ProjectDeletionForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    if form.cleaned_data["conversations"] == "delete":
        delete_project_with_conversations(deleted)
    else:
        delete_project(deleted)
    return redirect("projects")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conversation_move(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Render the projects to choose from, as a page or for the dialog; with POST, move the conversation."""
    moved = writable_conversation(request.user, conversation_id)
    form = MoveForm(request.POST if request.method == "POST" else request.GET)
    if request.method != "POST":
        return _render_move(request, moved)
    try:
        if not form.is_valid():
            raise ProjectRefused(form.sentence())
        _move(request, moved, form)
    except ProjectRefused as refusal:
        return _render_move(request, moved, error=str(refusal))
    except Project.DoesNotExist:
        raise NotFound from None
    if not request.htmx:
        return redirect(moved)
    is_open = form.cleaned_data["open"] == moved.pk
    context = {"moved": moved, "conversation": moved, "is_open": is_open, **sidebar_projects(request.user)}
    return render(request, "chat/_moved_swaps.html", context)


def _move(request: SignedInRequest, moved: Conversation, form: MoveForm) -> None:
    """Move a conversation. A new project is created only if the conversation can be moved into it."""
    chosen = form.cleaned_data["project"]
    with transaction.atomic():
        target: Project | None = None
        if chosen == "new":
            target = Project.objects.start(request.user.pk, name=form.cleaned_data["name"])
        elif chosen is not None:
            target = writable_project(request.user, chosen)
        move_conversation(moved, target)


def _render_move(request: SignedInRequest, moved: Conversation, *, error: str = "") -> HttpResponse:
    values = request.POST if request.method == "POST" else request.GET
    context = {
        "conversation": moved,
        "projects": projects_of(request.user).only("name").order_by("name", "pk")[:PROJECTS_LIMIT],
        "chosen": request.POST.get("project", str(moved.project_id or "")),
        "name": request.POST.get("name", ""),
        "name_limit": NAME_LIMIT,
        "open": values.get("open", ""),
        "error": error,
    }
    template = "chat/_move.html" if request.htmx else "chat/move.html"
    return render(request, template, context, status=400 if error else 200)


def _after(request: SignedInRequest) -> ListPosition | None:
    """Return the position after which a page begins; `None`: the first page. Raises NotFound if it is invalid."""
    form = ProjectPageForm(request.GET)
    if not form.is_valid():
        raise NotFound
    after: ListPosition | None = form.cleaned_data["after"]
    return after


def _position(end: ListPosition | None) -> str:
    return ListPositionField.serialize(end) if end else ""


urlpatterns = [
    path("projects/", projects, name="projects"),
    path("projects/<uuid:project_id>/", project, name="project"),
    path("projects/<uuid:project_id>/conversations/", project_conversation, name="project-conversation"),
    path("projects/<uuid:project_id>/files/", project_files, name="project-files"),
    path(
        "projects/<uuid:project_id>/files/<uuid:attachment_id>/remove/",
        project_file_remove,
        name="project-file-remove",
    ),
    path("projects/<uuid:project_id>/delete/", project_delete, name="project-delete"),
    path("c/<uuid:conversation_id>/move/", conversation_move, name="conversation-move"),
]
