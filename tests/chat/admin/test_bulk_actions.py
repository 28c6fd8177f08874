"""Bulk actions of the review queue: verdicts, assignment, retried uploads and the streamed zip export."""

from __future__ import annotations

import io
import random
import zipfile
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.test import AsyncClient, Client
from django.utils import timezone

from attachments.models import PendingUpload
from chat.models import AccessEntry, Conversation, Review, ReviewDecision, User, Verdict
from chat.models.deletion import delete_conversation
from tests.chat.admin.actions import QUEUE_URL, post_action, stream_action
from tests.chat.admin.factories import make_account
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message

FILE_BYTES = 300_000


def states_and_assignees() -> list[tuple[str, str | None]]:
    return list(Review.objects.order_by("updated_at").values_list("state", "assignee__username"))


@pytest.mark.parametrize(
    ("action", "state", "decision"),
    [("approve", "approved", "approved"), ("flag", "flagged", "flagged"), ("take", "in_review", "taken")],
)
def test_decision_applies_to_all_selected_conversations(
    reviewer: Client, action: str, state: str, decision: str
) -> None:
    selected, _ = [make_conversation() for _ in range(3)], make_conversation()
    response = post_action(reviewer, action, selected, "?state=unreviewed")
    assert response.headers["Location"] == f"{QUEUE_URL}?state=unreviewed"
    assert states_and_assignees() == [(state, "reviewer" if action == "take" else None)] * 3
    assert set(Verdict.objects.values_list("reviewer_name", "decision")) == {("reviewer", decision)}
    assert "3 conversations" in reviewer.get(QUEUE_URL).content.decode()


def test_action_on_all_pages_of_a_filtered_list_applies_to_all_its_conversations(reviewer: Client) -> None:
    owner = make_user("anna")
    conversations = [make_conversation(owner) for _ in range(30)]
    make_conversation(make_user("bert"))
    post_action(reviewer, "approve", conversations[:1], "?user=anna", select_across="1")
    assert Review.objects.filter(state="approved").count() == 30
    assert Verdict.objects.count() == 30


def test_conversations_can_only_be_assigned_to_active_reviewers(reviewer: Client) -> None:
    other = make_user("other", is_staff=True)
    inactive = make_user("inactive", is_staff=True)
    for user in (other, inactive):
        user.groups.add(Group.objects.get(name="Reviewer"))
    User.objects.filter(pk=inactive.pk).update(is_active=False)
    make_account("operator")
    conversations = [make_conversation(), make_conversation()]
    form = post_action(reviewer, "assign", conversations).content.decode()
    offered = [name for name in ("other", "reviewer", "inactive", "operator") if f">{name}</option>" in form]
    assert offered == ["other", "reviewer"]
    assert not Review.objects.exists()
    refused = post_action(reviewer, "assign", conversations, confirmed="yes", reviewer=inactive.pk)
    assert refused.status_code == 200
    assert not Review.objects.exists()
    assert post_action(reviewer, "assign", conversations, confirmed="yes", reviewer=other.pk).status_code == 302
    assert states_and_assignees() == [("unreviewed", "other")] * 2
    assert set(Verdict.objects.values_list("decision", "assignee_name")) == {("assigned", "other")}


def test_deleted_conversation_is_skipped(db: None) -> None:
    boss, deleted, kept = make_account("superuser"), make_conversation(), make_conversation()
    deleted_id = deleted.pk
    delete_conversation(deleted)
    assert Review.objects.decide([deleted_id, kept.pk], boss, ReviewDecision.APPROVED) == 1


def test_uploads_of_selected_conversations_are_retried(reviewer: Client) -> None:
    User.objects.get(username="reviewer").groups.add(Group.objects.get(name="Operator"))
    later = timezone.now() + timedelta(hours=1)
    conversations = []
    for _ in range(3):
        message = make_user_message(make_conversation())
        attach(message, make_attachment(message.conversation.owner))
        conversations.append(message.conversation)
    PendingUpload.objects.update(next_attempt_at=later)
    post_action(reviewer, "try_storage_again", conversations[:2])
    assert PendingUpload.objects.filter(next_attempt_at__lt=later).count() == 2
    assert "2 uploads tried again now." in reviewer.get(QUEUE_URL).content.decode()


def make_conversations_with_large_files(count: int) -> list[Conversation]:
    """Return conversations with a file of random bytes each, which cannot be compressed."""
    owner, generator = make_user("owner"), random.Random(7)
    conversations = []
    for number in range(count):
        conversation = make_conversation(owner, title=f"Heavy {number}")
        data = generator.randbytes(FILE_BYTES)
        attach(make_model_message(conversation), make_attachment(owner, data=data, name=f"{number}.csv"))
        conversations.append(conversation)
    return conversations


@pytest.mark.django_db(transaction=True)
async def test_zip_export_reads_conversations_one_by_one_while_it_is_sent() -> None:
    conversations = await sync_to_async(make_conversations_with_large_files)(6)
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(make_account)("reviewer"))
    stream = await stream_action(client, "export", conversations[:1])
    first = await anext(stream)
    assert await AccessEntry.objects.acount() == 1, "conversations that are not yet read are not yet logged"
    rest = [block async for block in stream]
    assert max(map(len, [first, *rest])) < FILE_BYTES
    assert await AccessEntry.objects.filter(action="exported").acount() == 6
    archive = zipfile.ZipFile(io.BytesIO(b"".join([first, *rest])))
    assert archive.testzip() is None
    assert len({name.split("/")[0] for name in archive.namelist()}) == 6
