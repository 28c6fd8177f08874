"""Deleting an account deletes all of its rows, and all of its objects in storage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from attachments.deletions import attempt_deletion, find_due_deletions
from attachments.models import AttachmentPreview, ObjectDeletion
from attachments.uploads import attempt_upload
from chat.library.imports.uploads import append_piece, begin_upload
from chat.models import (
    AccessEntry,
    ApiToken,
    CallDecision,
    Feedback,
    ImportedConversation,
    Label,
    NewerFileRun,
    NumberLedger,
    Part,
    Project,
    ProviderFile,
    PythonSession,
    Quota,
    QuotaUse,
    RefusedFile,
    Review,
    ReviewDecision,
    Round,
    RunningExport,
    Share,
    User,
)
from chat.models.projects import add_files, move_conversation
from chat.people.account.due_deletions import delete_due_accounts
from chat.python.sessions.reaper import delete_orphans
from tests.attachments.conftest import create_graph
from tests.chat.admin.factories import admin_url, client_of, make_account
from tests.factories import attach, make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db

WITHOUT_ACCOUNT = {
    "account.emailconfirmation",  # Plotline sends no mail.
    "attachments.objectdeletion",
    "auth.group",
    "auth.group_permissions",
    "auth.permission",
    "chat.endpointmodel",
    "chat.instruction",
    "chat.label",
    "chat.languagemodel",
    "chat.modelendpoint",
    "chat.preset",
    "chat.sharedcount",
    "contenttypes.contenttype",
    "sessions.session",  # Plotline has a table of its own.
}
"""Models whose rows belong to no account."""
OUTLASTING = {
    "admin.logentry",  # The entry names who deleted the account.
    "django_tasks_database.dbtaskresult",  # The worker deletes tasks after a day.
}
SEARCH_TABLES = {"chat_searchentry", "chat_searchwords"}
"""Tables of the search index in SQLite, which have no model. PostgreSQL has indexes in their place."""


def count_rows() -> dict[str, int]:
    """Return the number of rows of every table."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    counts = {model._meta.label_lower: model._default_manager.count() for model in models}
    with connection.cursor() as cursor:
        for table in SEARCH_TABLES.intersection(connection.introspection.table_names(cursor)):
            cursor.execute(f"SELECT count(*) FROM {table}")
            [counts[table]] = cursor.fetchone()
    return counts


def create_account(reviewer: User) -> User:
    """Create a user with rows in every table that can refer to one but tokens, and with five objects in storage."""
    user = make_user("leaving")
    user.groups.add(Group.objects.get(name="Reviewer"))
    user.user_permissions.add(Permission.objects.all()[0])
    conversation = make_conversation(user, title="A title")
    message = make_model_message(conversation)
    graphs = [create_graph(user, number) for number in range(5)]
    attach(message, graphs[0])
    Part.objects.filter(message=message).update(attachment=graphs[1])
    for graph in graphs[:4]:
        assert attempt_upload(graph.pk) == "stored"
    now = timezone.now()
    AttachmentPreview.objects.create(attachment=graphs[0], version=1, content={})
    ProviderFile.objects.create(attachment=graphs[0], account="a", uri="u", expires_at=now)
    RefusedFile.objects.create(attachment=graphs[0], account="a", model="m")
    Round.objects.create(turn=message.turn, index=0)
    CallDecision.objects.create(turn=message.turn, call_id="c", is_result=False, is_approved=True, decided_by=user)
    Feedback.objects.create(message=message, user=user, is_good=True)
    NumberLedger.objects.create(message=message, version=1, numbers=[], without_source=0)
    NewerFileRun.objects.create(conversation=conversation, replaced=graphs[0], newer=graphs[4])
    ImportedConversation.objects.create(owner=user, conversation=conversation, digest="d")
    append_piece(begin_upload(user.pk, name="export.zip", size_bytes=400_000), 0, bytes(300_000))
    PythonSession.objects.create(conversation=conversation, owner=user, variables=[{"name": "x"}])
    AccessEntry.objects.record(reviewer, [conversation], AccessEntry.Action.READ)
    Review.objects.decide([conversation.pk], reviewer, ReviewDecision.TAKEN)
    Review.objects.get().labels.add(Label.objects.get())
    project = Project.objects.start(user.pk, name="A project")
    add_files(project, graphs[2:4])
    move_conversation(conversation, project)
    Share.objects.issue(conversation)
    Quota.objects.create(user=user)
    QuotaUse.objects.create(user=user, day="2026-01-31")
    RunningExport.objects.create(user=user, claim=conversation.pk, expires_at=now)
    EmailAddress.objects.create(user=user, email="leaving@localhost")
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    LogEntry.objects.create(user=user, action_flag=CHANGE, object_id="1")
    Client().force_login(user)
    return user


@pytest.fixture(params=["s3", "files"])
def names_in_storage(
    request: pytest.FixtureRequest, media: Path, read_bucket: Callable[[], dict[str, bytes]]
) -> Callable[[], set[str]]:
    """Configure a storage, and return a function that lists its objects."""
    if request.param == "s3":
        request.getfixturevalue("s3")
        return lambda: set(read_bucket())
    return lambda: {str(path.relative_to(media)) for path in media.rglob("*")}


def delete_in_admin(user: User) -> None:
    """Delete an account as a superuser does."""
    client = client_of(User.objects.get(is_superuser=True))
    assert client.post(admin_url(User, user.pk, "delete"), {"post": "yes"}).status_code == 302
    assert delete_due_accounts() == 1
    # The login is a row, too.
    client.logout()


def delete_as_planned(user: User) -> None:
    """Delete an account as its owner planned it, once its time is over."""
    User.objects.filter(pk=user.pk).update(deletion_at=timezone.now() - timedelta(seconds=1))
    assert delete_due_accounts() == 1


@pytest.mark.parametrize("delete", [delete_in_admin, delete_as_planned])
def test_deleted_account_leaves_no_row_and_no_object(
    names_in_storage: Callable[[], set[str]], delete: Callable[[User], None]
) -> None:
    other = make_account("reviewer")
    make_account("superuser")
    assert attempt_upload(create_graph(other).pk) == "stored"
    Label.objects.create(name="a label")
    rows_before, names_before = count_rows(), names_in_storage()

    user = create_account(other)
    _, secret = ApiToken.objects.issue(user.pk, name="a token", life=timedelta(days=1))
    shared_page = f"/s/{Share.objects.get().token}/"
    assert Client().get(shared_page).status_code == 200
    assert ApiToken.objects.authenticate(secret) is not None
    rows = count_rows()
    grown = {label for label, number in rows.items() if number > rows_before[label]}
    assert grown | WITHOUT_ACCOUNT == set(rows), "the account must have a row in every table that can refer to one"
    assert len([name for name in names_in_storage() - names_before if name.endswith(".png")]) == 4

    delete(user)
    delete_orphans()
    # Time passes, until no upload of the deleted files can be under way.
    ObjectDeletion.objects.update(next_attempt_at=Now())
    for deletion_id in find_due_deletions().values_list("pk", flat=True):
        assert attempt_deletion(deletion_id) == "deleted"

    changed = {label for label, number in count_rows().items() if number != rows_before[label]}
    assert changed <= OUTLASTING
    assert names_in_storage() == names_before
    assert Client().get(shared_page).status_code == 404
    assert ApiToken.objects.authenticate(secret) is None
