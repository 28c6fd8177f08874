"""Projects that are changed, deleted and locked at the same time by several requests, and columns that lists read."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.library import project_views
from chat.models import Project, User
from chat.models.deletion import delete_account, delete_project, hide_conversations_of
from chat.models.projects import add_files, move_conversation
from chat.people.access import AnyUser, writable_project
from tests.factories import attach, make_attachment, make_conversation, make_user_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(owner: User) -> Project:
    """A project with two conversations, and a file that one of them shows, too."""
    project = Project.objects.start(owner.pk, name="Harbour", instruction="Use metres.")
    file = make_attachment(owner)
    add_files(project, [file])
    for _ in range(2):
        move_conversation(make_conversation(owner), project)
    conversation = project.conversations.first()
    assert conversation is not None
    attach(make_user_message(conversation), file)
    return project


def read_tables(act: Callable[[], object]) -> list[str]:
    """Return the tables that are read or changed, in the order of the first query of each."""
    with CaptureQueriesContext(connection) as queries:
        act()
    tables = ("chat_project", "chat_conversation", "attachments_attachment")
    first = {table: next(i for i, query in enumerate(queries) if f'FROM "{table}"' in query["sql"]) for table in tables}
    return sorted(first, key=lambda table: first[table])


def test_deletions_lock_projects_then_conversations_then_files(project: Project, owner: User) -> None:
    order = ["chat_project", "chat_conversation", "attachments_attachment"]
    assert read_tables(lambda: delete_project(project)) == order
    other = Project.objects.start(owner.pk, name="Docks")
    move_conversation(make_conversation(owner), other)
    assert read_tables(lambda: delete_account(owner)) == order


def test_conversations_of_a_project_are_locked_in_the_order_of_their_ids(project: Project) -> None:
    with CaptureQueriesContext(connection) as queries:
        hide_conversations_of(project)
    [first] = [query["sql"] for query in queries if 'FROM "chat_conversation"' in query["sql"]]
    assert "ORDER BY 1 ASC" in first  # the id
    assert not project.conversations.filter(deleted_at__isnull=True).exists()


def test_change_of_a_project_that_was_just_deleted_is_answered_with_404(
    project: Project, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_before_the_deletion(user: AnyUser, project_id: uuid.UUID) -> Project:
        read = writable_project(user, project_id)
        Project.objects.filter(pk=read.pk).delete()
        return read

    monkeypatch.setattr(project_views, "writable_project", read_before_the_deletion)
    assert browser.post(project.get_absolute_url(), {"name": "Docks", "instruction": ""}).status_code == 404
    assert not Project.objects.exists()


def test_api_checks_the_etag_against_the_project_row_that_it_has_locked(
    project: Project, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/api/v1/projects/{project.pk}/"
    etag = browser.get(path).headers["ETag"]

    def read_before_another_change(user: AnyUser, project_id: uuid.UUID) -> Project:
        read = writable_project(user, project_id)
        Project.objects.filter(pk=read.pk).update(instruction="Use feet.")
        return read

    monkeypatch.setattr("chat.api.views.projects.writable_project", read_before_another_change)
    changed = browser.patch(
        path,
        {"name": "Docks"},
        content_type="application/json",
        headers={"If-Match": etag, "Origin": "http://testserver"},
    )
    assert changed.status_code == 412
    project.refresh_from_db()
    assert project.name == "Harbour"


def test_pages_with_project_lists_do_not_read_project_instructions(project: Project, browser: Client) -> None:
    conversation = make_conversation(project.owner)
    for path in ("/projects/", "/conversations/", f"/c/{conversation.pk}/", f"/c/{conversation.pk}/move/"):
        with CaptureQueriesContext(connection) as queries:
            assert "Harbour" in browser.get(path).content.decode()
        assert not [query for query in queries if '"chat_project"."instruction"' in query["sql"]]


def test_error_about_a_refused_move_is_in_the_language_of_the_browser(project: Project, browser: Client) -> None:
    path = f"/c/{make_conversation(project.owner).pk}/move/"
    refused = browser.post(path, {"project": "new", "name": ""}, headers={"Accept-Language": "de"})
    assert refused.status_code == 400
    assert "Give the project a name." not in refused.content.decode()
