"""The order in which an import locks rows: projects first, so that it and the deletion of a project do not deadlock."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.library.imports import store
from chat.library.imports.importer import import_file
from chat.library.imports.records import ParsedConversation
from chat.library.imports.rows import create_conversation
from chat.models import Conversation, Project, User
from chat.models.deletion import delete_project, hide_conversation
from chat.models.projects import move_conversation
from tests.chat.library.imports.documents import MINIMAL, changed, zipped
from tests.factories import make_user
from tests.polling import wait_until

NAME = "Harbour"
FIRST = json.dumps(MINIMAL).encode()
SECOND = changed("conversation.project", NAME, json.loads(changed("messages.0.text", "Another question")))


@pytest.fixture
def owner() -> User:
    return make_user()


@pytest.fixture
def project(owner: User) -> Project:
    """A project with a hidden conversation, which was imported from the first document."""
    project = Project.objects.start(owner.pk, name=NAME)
    [first] = import_file(FIRST, owner_id=owner.pk).created
    conversation = Conversation.objects.get(pk=first)
    move_conversation(conversation, project)
    hide_conversation(conversation)
    return project


def import_both(owner: User) -> None:
    """Import a conversation that is hidden, then one of the project."""
    archive = zipped({"a/conversation.json": FIRST, "b/conversation.json": SECOND})
    assert len(import_file(archive, owner_id=owner.pk).created) == 2


@pytest.mark.django_db
def test_projects_are_locked_after_hidden_conversations_are_deleted_and_before_rows_are_written(
    owner: User, project: Project
) -> None:
    with CaptureQueriesContext(connection) as queries:
        import_both(owner)

    def places(start: str, table: str) -> list[int]:
        texts = [query["sql"] for query in queries]
        return [index for index, sql in enumerate(texts) if sql.startswith(start) and f'"{table}"' in sql]

    [deleted] = places("DELETE", "chat_conversation")
    [locked] = [index for index in places("SELECT", "chat_project") if index > deleted]
    assert locked < places("INSERT", "chat_conversation")[0]
    assert Conversation.objects.filter(project=project).count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one lock for all rows")
@pytest.mark.django_db(transaction=True)
def test_import_into_a_project_that_is_being_deleted_does_not_deadlock(
    owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    deletions: list[Future[object]] = []
    create: Callable[..., Conversation] = create_conversation

    def delete_in_thread() -> object:
        try:
            return delete_project(project)
        finally:
            connection.close()

    def create_while_the_project_is_deleted(parsed: ParsedConversation, *others: object) -> Conversation:
        if parsed.project:
            deletions.append(executor.submit(delete_in_thread))
            wait_until(is_a_lock_awaited)
        return create(parsed, *others)

    monkeypatch.setattr(store, "create_conversation", create_while_the_project_is_deleted)
    with ThreadPoolExecutor(1) as executor:
        import_both(owner)
    assert deletions[0].result() == []
    assert Conversation.objects.filter(project__isnull=True).count() == 2
    assert not Project.objects.exists()


def is_a_lock_awaited() -> bool:
    """Return whether a transaction waits for a lock of another one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])
