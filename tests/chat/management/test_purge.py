"""`manage.py purge` deletes only old conversations, in the same way as their owners would."""

from __future__ import annotations

import io
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from attachments.models import Attachment, ObjectDeletion, PendingUpload
from chat.models import Conversation, Message, NewerFileRun, Project, Turn, User
from chat.models.projects import add_files
from tests.child_processes import tied
from tests.factories import attach, make_attachment, make_conversation, make_graph, make_model_message, make_user
from tests.live_server import ROOT, environment

pytestmark = pytest.mark.django_db

PURGE_THAT_STOPS = """
import sys
import django
django.setup()
from django.core.management import call_command
from chat.management.commands import purge
delete = purge.delete_conversation
deleted = []
def delete_until_the_third(conversation):
    deleted.append(delete(conversation))
    if len(deleted) == 3:
        print("in the third transaction", flush=True)
        sys.stdin.read()
    return deleted[-1]
purge.delete_conversation = delete_until_the_third
call_command("purge", "--older-than", "180d")
"""
"""A program that purges. In the transaction that deletes the third conversation, it waits for input."""


def make_old(
    owner: User | None = None, *, days: float = 200, title: str = "", is_pinned: bool = False, is_archived: bool = False
) -> Conversation:
    """Return a conversation with a question and an answer with a graph, which last changed `days` ago."""
    conversation = make_conversation(owner, title=title)
    make_graph(make_model_message(conversation))
    now = timezone.now()
    Conversation.objects.filter(pk=conversation.pk).update(
        updated_at=now - timedelta(days=days),
        pinned_at=now if is_pinned else None,
        archived_at=now if is_archived else None,
    )
    return conversation


def purge(*arguments: str) -> str:
    out = io.StringIO()
    call_command("purge", *arguments, stdout=out)
    return out.getvalue()


def remaining_titles() -> set[str]:
    return set(Conversation.objects.values_list("title", flat=True))


def test_old_conversations_are_deleted_with_messages_and_attachments() -> None:
    make_old(title="old")
    make_old(title="new", days=179)
    assert purge("--older-than", "180d") == "Deleted 1 conversation, 2 messages, 1 attachment (10 B).\n"
    assert remaining_titles() == {"new"}
    assert (Message.objects.count(), Turn.objects.count()) == (2, 1)
    assert Attachment.objects.count() == PendingUpload.objects.count() == 1
    assert purge("--older-than=180d").startswith("Deleted 0 conversations, 0 messages, 0 attachments")


def test_files_that_a_project_has_are_neither_counted_nor_deleted() -> None:
    owner = make_user()
    conversation = make_old(owner, title="old")
    add_files(Project.objects.start(owner.pk, name="Harbour"), list(Attachment.objects.all()))
    assert "2 messages, 0 attachments" in purge("--older-than", "180d", "--dry-run")
    assert "2 messages, 0 attachments" in purge("--older-than", "180d")
    assert not Conversation.with_deleted.filter(pk=conversation.pk).exists()
    assert Attachment.objects.count() == 1


def test_attachment_is_kept_while_another_conversation_shows_it() -> None:
    owner = make_user()
    old, new = make_old(owner, title="old"), make_old(owner, title="new", days=1)
    shared = Attachment.objects.get(message_attachments__message__conversation=old)
    attach(new.messages.get(index=0), shared)
    dry = purge("--older-than", "180d", "--dry-run")
    assert dry == "Would delete 1 conversation, 2 messages, 0 attachments (0 B).\n"
    assert remaining_titles() == {"old", "new"}
    assert purge("--older-than", "180d") == dry.replace("Would delete", "Deleted")
    assert Attachment.objects.filter(pk=shared.pk).exists()


def test_attachment_is_deleted_when_all_conversations_that_show_it_are_deleted() -> None:
    owner = make_user()
    first, second = make_old(owner), make_old(owner, days=300)
    attach(second.messages.get(index=0), Attachment.objects.get(message_attachments__message__conversation=first))
    dry = purge("--older-than", "180d", "--dry-run")
    assert dry == "Would delete 2 conversations, 4 messages, 2 attachments (20 B).\n"
    assert purge("--older-than", "180d") == dry.replace("Would delete", "Deleted")
    assert not Attachment.objects.exists()


def test_newer_files_of_runs_are_counted_and_deleted_unless_another_conversation_has_run_on_them() -> None:
    owner = make_user()
    old, new = make_old(owner), make_old(owner, days=1)
    replaced = Attachment.objects.get(message_attachments__message__conversation=old)
    only_here, elsewhere = make_attachment(owner), make_attachment(owner)
    for conversation, newer in ((old, only_here), (old, elsewhere), (new, elsewhere)):
        NewerFileRun.objects.create(conversation=conversation, replaced=replaced, newer=newer)
    attach(new.messages.get(index=0), replaced)
    dry = purge("--older-than", "180d", "--dry-run")
    assert "2 messages, 1 attachment (" in dry
    assert purge("--older-than", "180d") == dry.replace("Would delete", "Deleted")
    assert set(Attachment.objects.filter(pk__in=[only_here.pk, elsewhere.pk, replaced.pk])) == {elsewhere, replaced}


def test_pinned_and_live_conversations_are_kept_by_default() -> None:
    make_old(title="pinned", is_pinned=True)
    live = make_old(title="live")
    Turn.objects.filter(conversation=live).update(status=Turn.Status.RUNNING, ended_at=None)
    make_old(title="other")
    purge("--older-than", "180d")
    assert remaining_titles() == {"pinned", "live"}
    purge("--older-than", "180d", "--include-pinned")
    assert remaining_titles() == {"live"}
    purge("--older-than", "180d", "--include-live")
    assert remaining_titles() == set()


def test_purge_can_be_limited_to_archived_conversations_or_to_one_user() -> None:
    owner = make_user()
    make_old(owner, title="archived", is_archived=True)
    make_old(owner, title="in use")
    make_old(title="somebody else's", is_archived=True)
    purge("--older-than", "180d", "--archived-only", "--user", owner.username)
    assert remaining_titles() == {"in use", "somebody else's"}
    purge("--older-than", "26w", "--user", owner.username)
    assert remaining_titles() == {"somebody else's"}


def test_output_says_how_many_bytes_are_deleted_from_storage() -> None:
    make_old()
    Attachment.objects.update(status=Attachment.Status.STORED, storage_name="ab/cd", size_bytes=60_000)
    PendingUpload.objects.all().delete()
    stored = "1 file of them (60 kB) {} in storage, from which the attachments worker deletes them.\n"
    assert purge("--older-than=180d", "--dry-run").endswith(stored.format("would be"))
    assert purge("--older-than=180d").endswith(stored.format("are"))
    assert ObjectDeletion.objects.get().storage_name == "ab/cd"


def test_old_files_that_were_never_sent_are_deleted_too() -> None:
    live = make_model_message(make_conversation(), status=Turn.Status.RUNNING).conversation.owner
    sent = make_old(days=1).owner
    files = [make_attachment(owner) for owner in (sent, live)]
    Attachment.objects.update(created_at=timezone.now() - timedelta(days=200))
    new = make_attachment(sent)
    assert purge("--older-than=180d", "--archived-only").startswith("Deleted 0 conversations, 0 messages, 0 attach")
    dry = purge("--older-than=180d", "--dry-run")
    assert dry == "Would delete 0 conversations, 0 messages, 1 attachment (10 B).\n"
    assert purge("--older-than=180d", "--user", sent.username) == dry.replace("Would delete", "Deleted")
    assert not Attachment.objects.filter(pk=files[0].pk).exists()
    assert Attachment.objects.filter(pk__in=[files[1].pk, new.pk]).count() == 2
    assert Attachment.objects.filter(message_attachments__isnull=False).exists()


@pytest.mark.parametrize("age", ["", "180", "0d", "-1d", "d", "1y", "1.5d", "180 d", "9999999d"])
def test_invalid_age_is_refused(age: str) -> None:
    make_old()
    with pytest.raises(CommandError, match="is no age"):
        purge(f"--older-than={age}")
    assert Conversation.objects.count() == 1


def test_purge_without_an_age_or_with_an_unknown_user_is_refused() -> None:
    make_old()
    with pytest.raises(CommandError, match="--older-than"):
        purge()
    with pytest.raises(CommandError, match="no user “nobody”"):
        purge("--older-than", "1d", "--user", "nobody")
    assert Conversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="The child process opens the test database by its file name.")
def test_killed_purge_leaves_no_half_deleted_conversation_and_can_be_run_again(tmp_path: Path) -> None:
    owner = make_user()
    Conversation.objects.bulk_create(Conversation(owner=owner) for _ in range(5))
    Message.objects.bulk_create(
        Message(conversation=conversation, index=0, role="user", text="A question")
        for conversation in Conversation.objects.all()
    )
    Conversation.objects.update(updated_at=timezone.now() - timedelta(days=200))
    database_url = f"sqlite:///{connection.settings_dict['NAME']}"
    variables = environment(tmp_path, DATABASE_URL=database_url)
    command = [sys.executable, "-c", PURGE_THAT_STOPS]
    with subprocess.Popen(
        tied(command), cwd=ROOT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the third transaction\n"
        process.kill()
    assert Conversation.objects.count() == 3
    assert Message.objects.count() == 3
    assert purge("--older-than", "180d").startswith("Deleted 3 conversations")
    assert not Conversation.objects.exists()
