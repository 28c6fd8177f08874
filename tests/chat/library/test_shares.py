"""Shares: the content that a link gives access to, and the content that it does not."""

from __future__ import annotations

import json
import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.library.imports import importer, shared_copy
from chat.models import Conversation, Message, MessageAttachment, Quota, Share, ShareRefused, Turn
from chat.models import shares as shares_module
from chat.models.deletion import delete_conversation, hide_conversation, restore_conversation
from chat.page.transcript import shared_pages
from chat.vocabulary.parts import PartKind
from tests.chat.library.exports.samples import graph_in, png
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_graph,
    make_long_conversation,
    make_model_message,
    make_user,
    make_user_message,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer() -> Message:
    """An answer with a graph, in a conversation with private settings."""
    owner = make_user("owner-name")
    conversation = make_conversation(owner, title="Sales of May", system_instruction="My secret instruction")
    message = make_model_message(conversation, parts=[(PartKind.THOUGHT, "Let me think."), (PartKind.TEXT, "It rose.")])
    graph_in(message, part_index=1)
    return message


@pytest.fixture
def share(answer: Message) -> Share:
    """A link to the answer."""
    return Share.objects.issue(answer.conversation)


def client_of(person: str = "reader") -> Client:
    client = Client()
    client.force_login(make_user(person))
    return client


def owner_of(share: Share) -> Client:
    client = Client()
    client.force_login(share.conversation.owner)
    return client


def page_of(share: Share, query: str = "") -> str:
    response = Client().get(share.get_absolute_url() + query)
    assert response.status_code == 200
    return response.content.decode()


def file_url(share: Share, attachment: Attachment) -> str:
    return f"{share.get_absolute_url()}files/{attachment.pk}/"


def graph_of(message: Message) -> Attachment:
    return message.message_attachments.get().attachment


# --- what a link shows


def test_anybody_with_a_link_can_read_messages_thoughts_and_graphs(share: Share, answer: Message) -> None:
    page = page_of(share)
    assert '<h1 dir="auto">Sales of May</h1>' in page
    assert all(text in page for text in ("What is this?", "Let me think.", "It rose."))
    url = file_url(share, graph_of(answer))
    assert f'src="{url}"' in page
    response = Client().get(url)
    assert (response.status_code, response.content) == (200, png())


def test_shared_page_has_no_data_of_its_owner_no_scripts_and_no_forms(share: Share, answer: Message) -> None:
    Turn.objects.filter(message=answer).update(cost="1.5", code_reason="The owner wanted it.", endpoint="inner-server")
    page = page_of(share)
    for private in ("owner-name", "My secret instruction", "$1.50", "The owner wanted it", "inner-server", "7 tokens"):
        assert private not in page
    assert not re.search(r"<(script|form|input|textarea)\b|hx-|/attachments/|/api/|/c/", page)
    assert not re.search(r'data-action="(edit|regenerate|continue|rerun|rate|say-why|switch|copy-image)"', page)


def test_shared_messages_do_not_change_when_the_conversation_continues(share: Share, answer: Message) -> None:
    before = page_of(share)
    conversation = answer.conversation
    later = make_model_message(conversation, parts=[(PartKind.TEXT, "Said later.")])
    late_graph = make_graph(later)
    # A file that is kept later is added to an old message.
    kept = make_attachment(conversation.owner, name="kept.csv")
    attach(answer, kept)
    # Another version takes the place of the shared answer, and the conversation is renamed.
    Message.objects.filter(conversation=conversation).update(is_shown=False)
    conversation.change_settings({"title": "Private title", "archived": True})
    assert page_of(share) == before
    assert "kept.csv" in page_of(Share.objects.issue(make_copy_shown(conversation)))
    for attachment in (late_graph, kept):
        assert Client().get(file_url(share, attachment)).status_code == 404


def make_copy_shown(conversation: Conversation) -> Conversation:
    Message.objects.filter(conversation=conversation).update(is_shown=True)
    return conversation


def test_share_gives_no_access_to_files_of_other_versions_and_conversations(share: Share, answer: Message) -> None:
    other_version = Message.objects.create(
        conversation=answer.conversation, parent=answer.parent, index=answer.index, role="model", is_shown=False
    )
    others = [
        make_graph(other_version),
        make_graph(make_model_message(make_conversation(answer.conversation.owner))),
        make_attachment(answer.conversation.owner),
    ]
    Share.objects.update(last_attachment=10**9)
    for attachment in others:
        assert Client().get(file_url(share, attachment)).status_code == 404
    # The link gives no access to the attachment's own address.
    assert Client().get(f"/attachments/{graph_of(answer).pk}/content/").status_code == 302
    assert client_of().get(f"/attachments/{graph_of(answer).pk}/content/").status_code == 404


def test_number_of_queries_for_a_file_does_not_depend_on_how_many_messages_have_it(share: Share) -> None:
    conversation = share.conversation
    repeated, last = make_attachment(conversation.owner), share.last_message
    counts = []
    for _ in range(2):
        for _ in range(3):
            attach(make_user_message(conversation), repeated)
        Share.objects.update(last_message=last, last_attachment=10**9)
        with CaptureQueriesContext(connection) as queries:
            assert Client().get(file_url(share, repeated)).status_code == 404
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_share_leaves_out_an_answer_that_is_being_written_and_its_question(answer: Message) -> None:
    make_model_message(answer.conversation, parts=[(PartKind.TEXT, "Half")], status=Turn.Status.RUNNING)
    share = Share.objects.issue(answer.conversation)
    assert share.last_message == answer
    alone = make_model_message(make_conversation(), status=Turn.Status.RUNNING).conversation
    for conversation in (alone, make_conversation()):
        with pytest.raises(ShareRefused):
            Share.objects.issue(conversation)


def test_long_share_has_pages_that_all_run_the_same_number_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    share = Share.objects.issue(make_long_conversation(messages=60))
    counts = []
    for size in (4, 20):
        monkeypatch.setattr(shared_pages, "PAGE_MESSAGES", size)
        with CaptureQueriesContext(connection) as queries:
            page = page_of(share, f"?from={size}")
        counts.append(len(queries))
        shown = re.findall(r"Message (\d+)\.</p>", page)
        assert shown == [str(index) for index in range(size, 2 * size)]
        assert f'href="?to={size}" rel="prev"' in page
        assert re.findall(r"Message (\d+)\.</p>", page_of(share, f"?to={size}")) == [str(one) for one in range(size)]
        assert f'href="?from={2 * size}" rel="next"' in page
    assert counts[0] == counts[1]
    assert 'rel="next"' not in page_of(share, "?from=40")
    for query in ("?from=60", "?from=999999999", "?from=99999999999999999999"):
        assert Client().get(share.get_absolute_url() + query).status_code == 404
    assert 'rel="prev"' not in page_of(share, "?from=-1")


def test_pages_of_a_share_with_long_messages_are_short_and_together_show_all_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_pages, "PAGE_CHARS", 350)
    share = Share.objects.issue(make_long_conversation(messages=12, lines=8))
    for query, direction in (("", "next"), ("?to=12", "prev")):
        read: list[list[str]] = []
        link: re.Match[str] | None = None
        while link or not read:
            page = page_of(share, link[1] if link else query)
            read.append(list(dict.fromkeys(re.findall(r"Message (\d+)\.</p>", page))))
            assert len(read[-1]) == 3
            link = re.search(rf'href="(\?\w+=\d+)" rel="{direction}"', page)
        pages = read if direction == "next" else read[::-1]
        assert [number for numbers in pages for number in numbers] == [str(index) for index in range(12)]


# --- links that lead nowhere


def test_guessed_revoked_expired_and_deleted_links_get_the_same_response(
    share: Share, answer: Message, settings: Settings
) -> None:
    graph = graph_of(answer)
    reader = Client()

    def responses(token: str) -> set[tuple[int, int]]:
        found = set()
        for path in (f"/s/{token}/", f"/s/{token}/files/{graph.pk}/"):
            response = reader.get(path)
            assert response.headers.get("Cache-Control", "") in ("", "private, no-store")
            found.add((response.status_code, len(response.content)))
        return found

    absent = responses("A" * 32)
    assert {status for status, _ in absent} == {404}
    for token in (share.token[:-1], share.token.swapcase(), f"{share.token}A", str(share.pk), "0"):
        assert responses(token) == absent
    assert responses(share.token) != absent
    settings.ALLOW_SHARING = False
    assert responses(share.token) == absent
    settings.ALLOW_SHARING = True
    Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert responses(share.token) == absent
    Share.objects.update(expires_at=timezone.now() + timedelta(hours=1))
    share.conversation.owner.is_active = False
    share.conversation.owner.save()
    assert responses(share.token) == absent
    share.conversation.owner.is_active = True
    share.conversation.owner.save()
    assert responses(share.token) != absent
    hide_conversation(answer.conversation)
    assert responses(share.token) == absent
    restore_conversation(answer.conversation)
    assert responses(share.token) != absent
    delete_conversation(answer.conversation)
    assert responses(share.token) == absent
    assert not Share.objects.exists()
    assert not Attachment.objects.filter(pk=graph.pk).exists()


def test_share_tokens_have_192_random_bits(share: Share) -> None:
    assert shares_module.RANDOM_BYTES * 8 == 192
    assert re.fullmatch(r"[\w-]{32}", share.token)
    assert Share.objects.issue(share.conversation).token != share.token


def test_revoked_link_shows_no_content_even_in_browsers_that_have_loaded_it(share: Share, answer: Message) -> None:
    url = file_url(share, graph_of(answer))
    reader = Client()
    etag = reader.get(url).headers["ETag"]
    assert reader.get(url, headers={"If-None-Match": etag}).status_code == 304
    assert owner_of(share).post(f"/shares/{share.pk}/revoke/").status_code == 302
    assert reader.get(url, headers={"If-None-Match": etag}).status_code == 404
    assert reader.get(share.get_absolute_url()).status_code == 404


def test_headers_forbid_indexing_caching_and_referrers_for_shared_pages_and_files(
    share: Share, answer: Message
) -> None:
    for path in (share.get_absolute_url(), file_url(share, graph_of(answer))):
        for method in ("get", "head"):
            response = getattr(Client(), method)(path)
            assert response.status_code == 200
            assert response.headers["Cache-Control"] == "private, no-store"
            assert response.headers["Referrer-Policy"] == "no-referrer"
            assert "noindex" in response.headers["X-Robots-Tag"]
            assert "Set-Cookie" not in response.headers
        for method in ("options", "post", "put", "delete"):
            assert getattr(Client(), method)(path).status_code == 405
    policy = Client().get(share.get_absolute_url()).headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert '<meta name="robots" content="noindex' in page_of(share)


def test_requests_of_readers_are_limited_by_ip_address(share: Share, settings: Settings) -> None:
    settings.API_CALLS_PER_MINUTE = 3
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 0
    reader = Client()
    # A header of the client does not change the address that is counted.
    statuses = [
        reader.get(share.get_absolute_url(), headers={"X-Forwarded-For": f"10.0.0.{number}"}).status_code
        for number in range(4)
    ]
    assert statuses == [200, 200, 200, 429]
    assert Client(REMOTE_ADDR="192.0.2.7").get(share.get_absolute_url()).status_code == 200


def test_each_opening_of_a_share_is_counted_once_and_openings_by_its_owner_are_not(share: Share) -> None:
    stale = Share.objects.get(pk=share.pk)
    reader = Client()
    reader.get(share.get_absolute_url())
    reader.head(share.get_absolute_url())
    reader.get(f"{share.get_absolute_url()}?from=1")
    owner_of(share).get(share.get_absolute_url())
    # Two requests that have read the same count.
    stale.count_opening()
    share.count_opening()
    share.refresh_from_db()
    assert share.opened_count == 3
    assert share.last_opened_at is not None


# --- the owner's links


def test_owner_can_create_list_and_revoke_links_on_pages(answer: Message) -> None:
    client = Client()
    client.force_login(answer.conversation.owner)
    path = f"/c/{answer.conversation_id}/shares/"
    assert "This conversation has no links yet." in client.get(path).content.decode()
    page = client.post(path, {"days": "7"}).content.decode()
    share = Share.objects.get()
    assert share.expires_at is not None
    assert timedelta(days=6) < share.expires_at - timezone.now() <= timedelta(days=7)
    assert f"http://testserver{share.get_absolute_url()}" in page
    assert client.post(path, {"days": "8"}).status_code == 400
    for place in (path, "/shares/"):
        listed = client.get(place).content.decode()
        assert share.token in listed
        assert f"Shows {answer.index + 1} messages" in listed
    assert client.post(f"/shares/{share.pk}/revoke/", {"all": "1"}).headers["Location"] == "/shares/"
    assert not Share.objects.exists()
    assert share.token not in client.get("/shares/").content.decode()


def test_number_of_links_is_limited(share: Share, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares_module, "SHARES_LIMIT", 1)
    response = owner_of(share).post(f"/c/{share.conversation_id}/shares/")
    assert response.status_code == 400
    assert "has 1 links already" in response.content.decode()


def test_number_of_queries_of_a_list_of_links_does_not_depend_on_the_number_of_links(share: Share) -> None:
    client = owner_of(share)
    counts = []
    for number in (0, 5):
        for _ in range(number):
            Share.objects.issue(make_model_message(make_conversation(share.conversation.owner)).conversation)
            Share.objects.issue(share.conversation)
        with CaptureQueriesContext(connection) as queries:
            client.get("/shares/")
            client.get(f"/c/{share.conversation_id}/shares/")
            client.get(f"/api/v1/conversations/{share.conversation_id}/shares/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_share_buttons_are_hidden_and_share_pages_return_404_if_sharing_is_turned_off(
    share: Share, settings: Settings
) -> None:
    client = owner_of(share)
    own_pages = [
        "/shares/",
        f"/c/{share.conversation_id}/shares/",
        f"/api/v1/conversations/{share.conversation_id}/shares/",
    ]
    conversation = f"/c/{share.conversation_id}/"
    assert 'data-action="share"' in client.get(conversation).content.decode()
    assert [client.get(path).status_code for path in own_pages] == [200, 200, 200]
    settings.ALLOW_SHARING = False
    assert "share" not in client.get(conversation).content.decode().lower()
    assert [client.get(path).status_code for path in own_pages] == [404, 404, 404]
    assert client.post(own_pages[1]).status_code == 404


def test_api_can_create_list_and_revoke_links(answer: Message) -> None:
    client = Client()
    client.force_login(answer.conversation.owner)
    path = f"/api/v1/conversations/{answer.conversation_id}/shares/"

    def post(**body: object) -> tuple[int, dict[str, object]]:
        response = client.post(path, json.dumps(body), content_type="application/json")
        return response.status_code, response.json()

    status, made = post()
    assert (status, made["expires_at"], made["opened_count"]) == (201, None, 0)
    assert Client().get(str(made["url"])).status_code == 200
    until = (timezone.now() + timedelta(hours=1)).isoformat()
    assert post(expires_at=until)[0] == 201
    assert [post(expires_at=bad)[0] for bad in ("2020-01-01T00:00:00Z", "soon", 5)] == [422, 400, 400]
    assert [one["id"] for one in client.get(path).json()["results"]][-1] == made["id"]
    assert client.delete(f"/api/v1/shares/{made['id']}/").status_code == 204
    assert Client().get(str(made["url"])).status_code == 404
    empty = make_conversation(answer.conversation.owner)
    refused = client.post(f"/api/v1/conversations/{empty.pk}/shares/", "{}", content_type="application/json")
    assert (refused.status_code, refused.json()["title"]) == (409, "Cannot be shared")


# --- a copy


def test_reader_can_continue_with_an_own_copy_of_the_share(share: Share, answer: Message) -> None:
    Turn.objects.filter(message=answer).update(cost="1.5", endpoint="inner", usage={"total": 7}, response_id="r-1")
    Turn.objects.filter(message=answer).update(code_reason="The owner wanted it")
    make_model_message(answer.conversation, parts=[(PartKind.TEXT, "Said later.")])
    Message.objects.filter(conversation=answer.conversation).update(is_shown=False)
    client = client_of()
    path = f"{share.get_absolute_url()}continue/"
    assert "Make my copy" in client.get(path).content.decode()
    response = client.post(path)
    copy = Conversation.objects.exclude(pk=answer.conversation_id).get()
    assert response.headers["Location"] == copy.get_absolute_url()
    assert (copy.title, copy.system_instruction, copy.owner.username) == ("Sales of May", "", "reader")
    assert [message.text for message in copy.messages.order_by("index")] == ["What is this?", "It rose."]
    assert all(message.is_shown for message in copy.messages.all())
    turn = Turn.objects.get(conversation=copy)
    assert (turn.cost, turn.endpoint, turn.usage, turn.response_id, turn.code_reason) == (None, "", {}, "", "")
    graph = MessageAttachment.objects.get(message__conversation=copy).attachment
    assert (graph.owner, graph.sha256) == (copy.owner, graph_of(answer).sha256)
    # A second press redirects to the same copy.
    assert client.post(path).headers["Location"] == copy.get_absolute_url()
    delete_conversation(answer.conversation)
    assert client.get(f"/attachments/{graph.pk}/content/").status_code == 200
    assert client.post(path).status_code == 404


def test_copy_of_a_private_conversation_is_private(share: Share, answer: Message) -> None:
    Conversation.objects.filter(pk=share.conversation_id).update(private_data=True)
    Turn.objects.filter(message=answer).update(private_data=True)
    copy_id = shared_copy.copy_share(Share.objects.get(pk=share.pk), owner_id=make_user().pk)
    assert Conversation.objects.get(pk=copy_id).private_data
    assert Turn.objects.get(conversation=copy_id).private_data


def test_copy_counts_towards_the_quotas_of_the_reader(share: Share) -> None:
    client = client_of()
    Quota.objects.create(user_id=int(client.session["_auth_user_id"]), storage_mb=1, conversations_per_day=1)
    make = f"{share.get_absolute_url()}continue/"
    assert client.post(make).status_code == 302
    again = Share.objects.issue(share.conversation)
    response = client.post(f"{again.get_absolute_url()}continue/")
    assert response.status_code == 429
    assert Conversation.objects.filter(owner__username="reader").count() == 1


def test_unknown_share_cannot_be_copied() -> None:
    client = client_of()
    for method in ("get", "post"):
        assert getattr(client, method)(f"/s/{uuid.uuid4().hex}/continue/").status_code == 404


def test_copies_of_one_reader_are_built_one_at_a_time(share: Share, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of()
    monkeypatch.setattr(importer, "_importing_users", {int(client.session["_auth_user_id"])})
    # A copy may take as much memory as an import, so it is refused before it is built.
    monkeypatch.delattr(shared_pages, "records_by_id")
    response = client.post(f"{share.get_absolute_url()}continue/")
    assert response.status_code == 400
    assert "is being imported just now" in response.content.decode()


def test_share_that_is_too_large_is_not_copied(share: Share, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_copy, "IMPORT_LIMIT_BYTES", 500)
    response = client_of().post(f"{share.get_absolute_url()}continue/")
    assert response.status_code == 400
    assert "too large to be copied" in response.content.decode()
    assert not Conversation.objects.filter(owner__username="reader").exists()
