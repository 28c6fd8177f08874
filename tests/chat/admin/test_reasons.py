"""REVIEW_NEEDS_REASON: no content is shown before the reader has entered a reason."""

from __future__ import annotations

import io
import zipfile

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import AsyncClient, Client
from pytest_django import Settings

from attachments.models import Attachment
from chat.admin import read_access
from chat.models import AccessEntry, Conversation, Review, ReviewDecision
from tests.chat.admin.factories import (
    SECRET,
    admin_url,
    client_of,
    make_account,
    make_row_of_each_model,
    make_secret_conversation,
    review_url,
)
from tests.factories import make_conversation, make_user

READINGS_URL = "/accounts/readings/"
QUEUE_URL = admin_url(Conversation)


@pytest.fixture
def conversation(db: None) -> Conversation:
    return make_secret_conversation()


@pytest.fixture
def reasons_required(settings: Settings) -> None:
    settings.REVIEW_NEEDS_REASON = True


def file_url(conversation: Conversation) -> str:
    return review_url(conversation, f"files/{Attachment.objects.get().pk}/")


@pytest.mark.usefixtures("reasons_required")
def test_no_page_or_action_shows_content_without_a_reason(superuser: Client) -> None:
    rows = make_row_of_each_model()
    AccessEntry.objects.all()._raw_delete("default")
    paths = [f"{admin_url(model)}{query}" for model in rows for query in ("", f"?q={SECRET[:-1]}", "?o=1.2.3")]
    paths += [admin_url(model, row.pk, page) for model, row in rows.items() for page in ("change", "history", "delete")]
    conversation = rows[Conversation]
    assert isinstance(conversation, Conversation)
    paths += [file_url(conversation)]
    paths += [review_url(conversation, path) for path in ("change/?as=sent", "reason/")]
    for path in paths:
        page = superuser.get(path, follow=True).content.decode()
        assert SECRET not in page, path
        if "?q=" in path and "/chat/" in path:
            assert str(conversation.pk) not in page, path
    assert superuser.get(file_url(conversation)).status_code == 403
    for action in ("delete_selected", "export_results", "export", "assign"):
        data = {"action": action, ACTION_CHECKBOX_NAME: [str(conversation.pk)]}
        response = superuser.post(QUEUE_URL, data)
        assert response.streaming == (action == "export_results")
        if not response.streaming:
            assert SECRET not in response.content.decode(), action
    assert not AccessEntry.objects.exists()


@pytest.mark.usefixtures("reasons_required")
def test_reason_form_refuses_empty_and_long_reasons(reviewer: Client, conversation: Conversation) -> None:
    form_url = reviewer.get(review_url(conversation)).headers["Location"]
    assert form_url.startswith(review_url(conversation, "reason/"))
    assert "sees your name and this reason" in reviewer.get(form_url).content.decode()
    for reason in ("", "  ", "x" * 501):
        response = reviewer.post(form_url, {"reason": reason})
        assert response.status_code == 400
        assert 'role="alert"' in response.content.decode()
    assert not AccessEntry.objects.exists()


@pytest.mark.usefixtures("reasons_required")
def test_reason_gives_access_to_one_conversation_and_is_shown_to_the_owner(
    reviewer: Client, conversation: Conversation
) -> None:
    other = make_conversation(conversation.owner, title=f"{SECRET} other")
    form_url = reviewer.get(review_url(conversation, "change/?as=sent")).headers["Location"]
    response = reviewer.post(form_url, {"reason": "Reported by <its> user"})
    assert response.headers["Location"] == review_url(conversation, "change/?as=sent")
    page = reviewer.get(review_url(conversation)).content.decode()
    assert SECRET in page
    assert "Reported by &lt;its&gt; user" in page
    assert AccessEntry.objects.get().reason == "Reported by <its> user"
    assert "Reported by &lt;its&gt; user" in client_of(conversation.owner).get(READINGS_URL).content.decode()
    assert reviewer.get(file_url(conversation)).status_code == 200
    queue = reviewer.get(QUEUE_URL).content.decode()
    assert f"{SECRET} title" in queue
    assert f"{SECRET} other" not in queue
    assert f"Conversation {other.pk.hex[:8]}" in queue
    assert reviewer.get(review_url(other)).status_code == 302
    assert client_of(make_account("superuser")).get(review_url(conversation)).status_code == 302


@pytest.mark.usefixtures("reasons_required")
def test_word_search_finds_only_conversations_for_which_a_reason_was_given(
    reviewer: Client, conversation: Conversation
) -> None:
    other = make_conversation(conversation.owner, title=f"{SECRET} other")
    reviewer.post(review_url(conversation, "reason/"), {"reason": "because"})
    by_word = reviewer.get(f"{QUEUE_URL}?q={SECRET}").content.decode()
    assert str(conversation.pk) in by_word
    assert str(other.pk) not in by_word
    by_id = reviewer.get(f"{QUEUE_URL}?q={other.pk}").content.decode()
    assert str(other.pk) in by_id


@pytest.mark.usefixtures("reasons_required")
def test_reason_expires(reviewer: Client, conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_access, "REASON_LIFETIME_S", -1)
    reviewer.post(review_url(conversation, "reason/"), {"reason": "because"})
    assert reviewer.get(review_url(conversation)).status_code == 302


@pytest.mark.usefixtures("reasons_required")
@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "", "/\\evil"])
def test_reason_form_redirects_only_within_the_site(reviewer: Client, conversation: Conversation, target: str) -> None:
    response = reviewer.post(review_url(conversation, f"reason/?next={target}"), {"reason": "because"})
    assert response.headers["Location"] == review_url(conversation)


@pytest.mark.usefixtures("reasons_required")
def test_oldest_reason_no_longer_gives_access_if_a_reader_enters_too_many_reasons(
    reviewer: Client, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_access, "REASONS_LIMIT", 2)
    conversations = [conversation, *(make_conversation(conversation.owner) for _ in range(2))]
    for each in conversations:
        reviewer.post(review_url(each, "reason/"), {"reason": "because"})
    assert [reviewer.get(review_url(each)).status_code for each in conversations] == [302, 200, 200]


async def post_action(client: AsyncClient, data: dict[str, object]) -> tuple[int, bytes]:
    """Return the status and the body, which may be streamed."""
    response = await client.post(QUEUE_URL, data)
    if not response.streaming:
        return response.status_code, response.content
    chunks = response.streaming_content  # type: ignore[attr-defined]  # the stubs miss the streaming response
    return response.status_code, b"".join([chunk async for chunk in chunks])


@pytest.mark.django_db(transaction=True)
async def test_exports_are_logged_with_their_reason(settings: Settings) -> None:
    owner = await sync_to_async(make_user)("owner")
    conversations = [await sync_to_async(make_secret_conversation)(owner) for _ in range(2)]
    empty = await sync_to_async(make_conversation)(owner)
    ids = [conversation.pk for conversation in conversations]
    boss = await sync_to_async(make_account)("superuser")
    await sync_to_async(Review.objects.decide)(ids, boss, ReviewDecision.FLAGGED, note=f"says {SECRET}")
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(make_account)("reviewer"))
    data: dict[str, object] = {"action": "export", ACTION_CHECKBOX_NAME: [*map(str, ids), str(empty.pk)]}

    status, body = await post_action(client, data)
    names = zipfile.ZipFile(io.BytesIO(body)).namelist()
    assert status == 200
    assert len({name.split("/")[0] for name in names}) == 2
    entries = AccessEntry.objects.filter(action=AccessEntry.Action.EXPORTED)
    assert {pk async for pk in entries.values_list("conversation_id", flat=True)} == set(ids)

    settings.REVIEW_NEEDS_REASON = True
    for fields in ({}, {"confirmed": "yes"}, {"confirmed": "yes", "reason": " "}):
        status, body = await post_action(client, data | fields)
        assert (status, SECRET.encode() in body) == (200, False)
        assert b'name="reason"' in body
    assert await entries.acount() == 2
    status, body = await post_action(client, data | {"action": "export_results"})
    assert (status, SECRET.encode() in body, b"flagged" in body) == (200, False, True)
    status, body = await post_action(client, data | {"confirmed": "yes", "reason": "asked by the court"})
    assert len(zipfile.ZipFile(io.BytesIO(body)).namelist()) == len(names)
    assert await entries.filter(reason="asked by the court").acount() == 2
