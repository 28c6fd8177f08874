"""Many conversations at once: verdicts, assignment, exports that are made while they are sent, results as CSV."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Group, User
from django.test import AsyncClient, Client
from django.utils import timezone

from attachments.models import PendingUpload
from chat.admin.results import FORMULA, safe_cell
from chat.models import AccessEntry, Conversation, Decision, Review, Verdict
from tests.chat.admin.people import client_of, person
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message

QUEUE = "/admin/chat/conversation/"


@pytest.fixture
def reviewer(db: None) -> Client:
    return client_of(person("reviewer"))


def act(client: Client, action: str, chosen: list[Conversation], query: str = "", **fields: object) -> Any:  # noqa: ANN401
    data = {"action": action, ACTION_CHECKBOX_NAME: [str(each.pk) for each in chosen], **fields}
    return client.post(f"{QUEUE}{query}", data)


def standings() -> list[tuple[str, str | None]]:
    return list(Review.objects.order_by("updated_at").values_list("state", "assignee__username"))


@pytest.mark.parametrize(
    ("action", "state", "decision"),
    [("approve", "approved", "approved"), ("flag", "flagged", "flagged"), ("take", "in_review", "taken")],
)
def test_verdicts_on_many(reviewer: Client, action: str, state: str, decision: str) -> None:
    chosen, _ = [make_conversation() for _ in range(3)], make_conversation()
    response = act(reviewer, action, chosen, "?state=unreviewed")
    assert response.headers["Location"] == f"{QUEUE}?state=unreviewed"
    assert standings() == [(state, "reviewer" if action == "take" else None)] * 3
    assert set(Verdict.objects.values_list("reviewer_name", "decision")) == {("reviewer", decision)}
    assert "3 conversations" in reviewer.get(QUEUE).content.decode()


def test_all_that_a_filter_finds(reviewer: Client) -> None:
    owner = make_user("anna")
    rows = [make_conversation(owner) for _ in range(30)]
    make_conversation(make_user("bert"))
    act(reviewer, "approve", rows[:1], "?user=anna", select_across="1")
    assert Review.objects.filter(state="approved").count() == 30
    assert Verdict.objects.count() == 30


def test_assignment_asks_to_whom(reviewer: Client) -> None:
    other = make_user("other", is_staff=True)
    other.groups.add(Group.objects.get(name="Reviewer"))
    gone = make_user("gone", is_staff=True)
    gone.groups.add(Group.objects.get(name="Reviewer"))
    User.objects.filter(pk=gone.pk).update(is_active=False)
    person("operator")
    rows = [make_conversation(), make_conversation()]
    asked = act(reviewer, "assign", rows).content.decode()
    offered = [name for name in ("other", "reviewer", "gone", "operator") if f">{name}</option>" in asked]
    assert offered == ["other", "reviewer"]
    assert not Review.objects.exists()
    assert act(reviewer, "assign", rows, confirmed="yes", reviewer=gone.pk).status_code == 200
    assert not Review.objects.exists()
    assert act(reviewer, "assign", rows, confirmed="yes", reviewer=other.pk).status_code == 302
    assert standings() == [("unreviewed", "other")] * 2
    assert set(Verdict.objects.values_list("decision", "assignee_name")) == {("assigned", "other")}


def test_a_conversation_that_is_gone_is_passed_over(db: None) -> None:
    boss, gone = person("superuser"), make_conversation()
    kept, pk = make_conversation(), gone.pk
    gone.delete_with_attachments()
    assert Review.objects.decide([pk, kept.pk], boss, Decision.APPROVED) == 1


def test_uploads_are_tried_again(reviewer: Client) -> None:
    user = User.objects.get(username="reviewer")
    user.groups.add(Group.objects.get(name="Operator"))
    later = timezone.now() + timedelta(hours=1)
    rows = []
    for _ in range(3):
        message = make_user_message(make_conversation())
        attach(message, make_attachment(message.conversation.owner))
        rows.append(message.conversation)
    PendingUpload.objects.update(next_attempt_at=later)
    act(reviewer, "try_storage_again", rows[:2])
    assert PendingUpload.objects.filter(next_attempt_at__lt=later).count() == 2
    assert "2 uploads tried again now." in reviewer.get(QUEUE).content.decode()


# --- exports


async def blocks(client: AsyncClient, action: str, chosen: list[Conversation]) -> AsyncIterator[bytes]:
    response: Any = await client.post(
        QUEUE, {"action": action, ACTION_CHECKBOX_NAME: [str(each.pk) for each in chosen], "select_across": "1"}
    )
    assert response.status_code == 200
    assert response.streaming
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    stream: AsyncIterator[bytes] = response.streaming_content
    return stream


def heavy(count: int) -> list[Conversation]:
    """Each with a file that does not shrink."""
    owner, noise = make_user("owner"), random.Random(7)
    rows = []
    for number in range(count):
        conversation = make_conversation(owner, title=f"Heavy {number}")
        message = make_model_message(conversation)
        attach(message, make_attachment(owner, data=noise.randbytes(300_000), name=f"{number}.csv"))
        rows.append(conversation)
    return rows


@pytest.mark.django_db(transaction=True)
async def test_an_export_is_made_while_it_is_sent() -> None:
    rows = await sync_to_async(heavy)(6)
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(person)("reviewer"))
    stream = await blocks(client, "export", rows[:1])
    first = await anext(stream)
    # What has not been reached was not read, and is not written down as read.
    assert await AccessEntry.objects.acount() == 1
    rest = [block async for block in stream]
    assert max(map(len, [first, *rest])) < 300_000
    assert await AccessEntry.objects.filter(action="exported").acount() == 6
    archive = zipfile.ZipFile(io.BytesIO(b"".join([first, *rest])))
    assert archive.testzip() is None
    assert len({name.split("/")[0] for name in archive.namelist()}) == 6


@pytest.mark.django_db(transaction=True)
async def test_results_are_a_table_that_no_spreadsheet_runs() -> None:
    def fill() -> list[Conversation]:
        boss = person("superuser")
        rows = [
            make_conversation(make_user(f"-user{number}"), title=f"={number}+cmd|'/c calc'!A0") for number in range(3)
        ]
        make_model_message(rows[0])
        Review.objects.decide([rows[0].pk], boss, Decision.FLAGGED, note='+1, "quoted"\nline', labels=["@x", "b"])
        return rows

    rows = await sync_to_async(fill)()
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(person)("reviewer"))
    stream = await blocks(client, "export_results", rows[:1])
    text = b"".join([block async for block in stream]).decode()
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == 3
    found = next(row for row in table if row["conversation"] == str(rows[0].pk))
    assert found["title"] == "'=0+cmd|'/c calc'!A0"
    assert found["user"] == "'-user0"
    assert found["labels"] == "'@x, b"
    assert found["note"] == '\'+1, "quoted"\nline'
    assert (found["state"], found["decided_by"], found["messages"], found["tokens"]) == (
        "flagged",
        "superuser",
        "2",
        "7",
    )


@pytest.mark.parametrize("first", FORMULA)
@pytest.mark.parametrize("rest", ["1+1", "cmd|' /C calc'!A0", "", 'HYPERLINK("http://x","y")'])
def test_no_cell_begins_a_formula(first: str, rest: str) -> None:
    assert safe_cell(first + rest) == f"'{first}{rest}"
    assert safe_cell(f"  {first}{rest}") == f"'  {first}{rest}"


@pytest.mark.parametrize("value", ["plain", "a=b", "1", 7, "", "'quoted"])
def test_other_cells_stay_as_they_are(value: object) -> None:
    assert safe_cell(value) == str(value)
