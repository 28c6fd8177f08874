"""Pages of long conversations: which messages they hold, where their links lead, and how many queries they run."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Message, User
from chat.page.transcript.snapshot import path_length, snapshot
from chat.page.transcript.window import newest
from tests.factories import make_conversation, make_long_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(owner: User) -> Conversation:
    return make_long_conversation(owner, messages=100)


def get(browser: Client, conversation: Conversation, query: str = "") -> str:
    response = browser.get(f"/c/{conversation.pk}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def shown(html: str) -> list[int]:
    """Return the numbers of the messages on a page."""
    return [int(number) for number in re.findall(r"<p>Message (\d+)\.</p>", html)]


def message_id(conversation: Conversation, index: int) -> uuid.UUID:
    return conversation.messages.get(index=index, is_shown=True).pk


def follow(browser: Client, conversation: Conversation, html: str, link: str) -> str:
    """Follow a link as a browser without scripts does; return the page, or an empty text if there is no link."""
    found = re.search(rf'href="(\?{link}=[^"#]+)', html)
    return get(browser, conversation, found[1]) if found else ""


def test_page_opens_with_the_newest_messages(browser: Client, conversation: Conversation) -> None:
    html = get(browser, conversation)
    assert shown(html) == list(range(70, 100))
    assert '<nav id="earlier" data-first="70"' in html
    assert '<nav id="later" aria-label="Later messages" hidden></nav>' in html


def test_page_of_a_short_conversation_has_no_links_to_earlier_or_later_messages(browser: Client, owner: User) -> None:
    html = get(browser, make_long_conversation(owner, messages=30))
    assert shown(html) == list(range(30))
    assert "?before=" not in html
    assert "?after=" not in html


def test_link_to_a_message_opens_the_page_around_it(browser: Client, conversation: Conversation) -> None:
    html = get(browser, conversation, f"?message={message_id(conversation, 50)}")
    assert shown(html) == list(range(35, 65))
    assert 'data-action="earlier"' in html
    assert 'data-action="later"' in html
    assert shown(get(browser, conversation, f"?message={message_id(conversation, 85)}")) == list(range(70, 100))
    assert shown(get(browser, conversation, f"?message={message_id(conversation, 0)}")) == list(range(30))


@pytest.mark.parametrize("name", ["message", "before", "after"])
def test_unknown_foreign_and_malformed_ids_are_not_found(
    browser: Client, conversation: Conversation, owner: User, name: str
) -> None:
    foreign = make_model_message(make_conversation(make_user()))
    other = make_model_message(make_conversation(owner))
    for value in (foreign.pk, other.pk, uuid.uuid4(), "x", "0"):
        assert browser.get(f"/c/{conversation.pk}/", {name: str(value)}).status_code == 404
    assert shown(get(browser, conversation, f"?{name}=")) == list(range(70, 100))


def test_link_to_a_version_that_is_not_shown_opens_its_position_and_says_so(
    browser: Client, conversation: Conversation
) -> None:
    hidden = make_version(conversation, 50)
    html = get(browser, conversation, f"?message={hidden.pk}")
    assert shown(html) == list(range(35, 65))
    assert "belongs to another version" in html
    assert "belongs to another version" not in get(browser, conversation)


def make_version(conversation: Conversation, index: int) -> Message:
    """Create a version of a message that is not shown."""
    message = conversation.messages.get(index=index, is_shown=True)
    return Message.objects.create(
        conversation=conversation,
        parent=message.parent,
        index=index,
        role=message.role,
        text="other",
        is_shown=False,
    )


def test_number_of_versions_of_a_message_is_the_same_in_every_window(conversation: Conversation) -> None:
    for index in (0, 50, 99):
        make_version(conversation, index)
    make_version(conversation, 50)
    views = {view.message_id: view.versions for view in snapshot(conversation.pk).messages}
    parts = [snapshot(conversation.pk, newest), snapshot(conversation.pk, lambda _: newest(100).earlier())]
    parts.append(snapshot(conversation.pk, lambda _: newest(30)))
    for view in (view for part in parts for view in part.messages):
        assert view.versions == views[view.message_id]
    totals = [views[message_id(conversation, index)] for index in (0, 50, 99, 98)]
    assert [versions.total if versions else 1 for versions in totals] == [2, 3, 2, 1]


def count_queries(browser: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(path).status_code == 200
    return len(queries)


def test_queries_and_size_do_not_grow_with_the_conversation(browser: Client, owner: User) -> None:
    costs: list[Sequence[int]] = []
    for messages in (90, 1000):
        conversation = make_long_conversation(owner, messages=messages)
        path = f"/c/{conversation.pk}/"
        queries = ["", *(f"?{name}={message_id(conversation, 40)}" for name in ("message", "before", "after"))]
        costs.append([count_queries(browser, path + query) for query in queries])
        assert all(len(shown(get(browser, conversation, query))) == 30 for query in queries)
    assert costs[0] == costs[1]


def test_queries_for_shown_messages_use_the_database_index(conversation: Conversation) -> None:
    with CaptureQueriesContext(connection) as queries:
        path_length(conversation.pk)
        snapshot(conversation.pk, newest)
    reads = [query["sql"] for query in queries if 'FROM "chat_message"' in query["sql"]]
    if connection.vendor != "sqlite":
        pytest.skip("plans of other databases depend on their statistics")
    for sql in reads[:2]:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            plan = " ".join(row[-1] for row in cursor.fetchall())
        assert "one_shown_message_per_index" in plan, plan
