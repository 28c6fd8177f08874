"""`manage.py purge`: what is old goes as its owner would delete it, and nothing else."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from attachments.models import Attachment, PendingUpload
from chat.models import Conversation, Message, Turn
from tests.factories import attach, make_conversation, make_graph, make_model_message, make_user
from tests.live_server import ROOT, environment

MANY = 80
pytestmark = pytest.mark.django_db


def make_old(
    owner: User | None = None, *, days: float = 200, title: str = "", is_pinned: bool = False, is_archived: bool = False
) -> Conversation:
    """A conversation with a question and an answer with a graph, last changed so many days ago."""
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


def left() -> set[str]:
    return set(Conversation.objects.values_list("title", flat=True))


def test_old_conversations_go_with_all_that_hangs_from_them() -> None:
    make_old(title="old")
    make_old(title="new", days=179)
    assert purge("--older-than", "180d") == "Deleted 1 conversation, 2 messages, 1 attachment (10 B).\n"
    assert left() == {"new"}
    assert (Message.objects.count(), Turn.objects.count()) == (2, 1)
    assert Attachment.objects.count() == PendingUpload.objects.count() == 1
    assert purge("--older-than=180d").startswith("Deleted 0 conversations, 0 messages, 0 attachments")


def test_file_that_a_kept_conversation_shows_is_kept() -> None:
    owner = make_user()
    old, new = make_old(owner, title="old"), make_old(owner, title="new", days=1)
    shared = Attachment.objects.get(message_attachments__message__conversation=old)
    attach(new.messages.get(index=0), shared)
    dry = purge("--older-than", "180d", "--dry-run")
    assert dry == "Would delete 1 conversation, 2 messages, 0 attachments (0 B).\n"
    assert left() == {"old", "new"}
    assert purge("--older-than", "180d") == dry.replace("Would delete", "Deleted")
    assert Attachment.objects.filter(pk=shared.pk).exists()


def test_file_that_only_old_conversations_show_goes_with_the_last() -> None:
    owner = make_user()
    first, second = make_old(owner), make_old(owner, days=300)
    attach(second.messages.get(index=0), Attachment.objects.get(message_attachments__message__conversation=first))
    dry = purge("--older-than", "180d", "--dry-run")
    assert dry == "Would delete 2 conversations, 4 messages, 2 attachments (20 B).\n"
    assert purge("--older-than", "180d") == dry.replace("Would delete", "Deleted")
    assert not Attachment.objects.exists()


def test_pinned_and_live_ones_are_kept_unless_asked_for() -> None:
    make_old(title="pinned", is_pinned=True)
    live = make_old(title="live")
    Turn.objects.filter(conversation=live).update(status=Turn.Status.RUNNING, ended_at=None)
    make_old(title="other")
    purge("--older-than", "180d")
    assert left() == {"pinned", "live"}
    purge("--older-than", "180d", "--include-pinned")
    assert left() == {"live"}
    purge("--older-than", "180d", "--include-live")
    assert left() == set()


def test_only_archived_ones_or_those_of_one_person_go_where_asked_for() -> None:
    owner = make_user()
    make_old(owner, title="archived", is_archived=True)
    make_old(owner, title="in use")
    make_old(title="somebody else's", is_archived=True)
    purge("--older-than", "180d", "--archived-only", "--user", owner.username)
    assert left() == {"in use", "somebody else's"}
    purge("--older-than", "26w", "--user", owner.username)
    assert left() == {"somebody else's"}


def test_stored_bytes_are_said_to_stay() -> None:
    make_old()
    Attachment.objects.update(status=Attachment.Status.STORED, storage_name="ab/cd", size_bytes=60_000)
    PendingUpload.objects.all().delete()
    stay = "1 file of them (60 kB) {} in storage, where nothing refers to them any more.\n"
    assert purge("--older-than=180d", "--dry-run").endswith(stay.format("would stay"))
    assert purge("--older-than=180d").endswith(stay.format("stay"))


@pytest.mark.parametrize("age", ["", "180", "0d", "-1d", "d", "1y", "1.5d", "180 d", "9999999d"])
def test_age_that_is_none_is_refused(age: str) -> None:
    make_old()
    with pytest.raises(CommandError, match="is no age"):
        purge(f"--older-than={age}")
    assert Conversation.objects.count() == 1


def test_nothing_goes_without_an_age_or_for_nobody() -> None:
    make_old()
    with pytest.raises(CommandError, match="--older-than"):
        purge()
    with pytest.raises(CommandError, match="no user “nobody”"):
        purge("--older-than", "1d", "--user", "nobody")
    assert Conversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="It takes a database of this test's process.")
def test_killed_it_leaves_whole_conversations_and_goes_on_when_run_again(tmp_path: Path) -> None:
    owner = make_user()
    Conversation.objects.bulk_create(Conversation(owner=owner) for _ in range(MANY))
    Message.objects.bulk_create(
        Message(conversation=conversation, index=0, role="user", text="A question")
        for conversation in Conversation.objects.all()
    )
    Conversation.objects.update(updated_at=timezone.now() - timedelta(days=200))
    variables = environment(tmp_path, DATABASE_URL=f"sqlite:///{connection.settings_dict['NAME']}")
    command = [sys.executable, "manage.py", "purge", "--older-than", "180d"]
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and Conversation.objects.count() == MANY:
            time.sleep(0.01)
        process.kill()
    kept = Conversation.objects.count()
    assert 0 < kept < MANY
    assert Message.objects.count() == kept
    assert purge("--older-than", "180d").startswith(f"Deleted {kept} conversation")
    assert not Conversation.objects.exists()
