"""The list of conversations and the search over it: pages, what htmx gets, access, and how many queries they take."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.forms import ListForm, PlaceField
from chat.models import Conversation, Message, Place
from chat.views import FOUND_AT_ONCE, LISTED_AT_ONCE
from tests.factories import make_conversation, make_user, make_user_message

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def owner() -> User:
    return make_user("owner")


@pytest.fixture
def browser(owner: User) -> Client:
    """The owner's."""
    client = Client()
    client.force_login(owner)
    return client


def make_many(owner: User, count: int, text: str = "needle") -> None:
    """Conversations of one message each."""
    rows = Conversation.objects.bulk_create(
        Conversation(owner=owner, title=f"Number {number}") for number in range(count)
    )
    Message.objects.bulk_create(Message(conversation=row, index=0, role="user", text=text) for row in rows)


def ids_in(html: str) -> list[str]:
    """Of the entries, in order."""
    return re.findall(r'<li id="(?:entry|found)-([0-9a-f-]+)"', html)


def all_pages(browser: Client, path: str) -> list[list[str]]:
    """Ids of each page, as one who scrolls to the end gets them."""
    pages, next_path = [], path
    while next_path:
        html = browser.get(next_path, headers=HTMX).content.decode()
        pages.append(ids_in(html))
        more = re.search(r'hx-get="([^"]+)"', html)
        next_path = unescape(more[1]) if more else ""
    return pages


def newest_first(owner: User) -> list[str]:
    return [str(row.pk) for row in owner.conversations.order_by("-updated_at", "-pk")]


@pytest.mark.parametrize(("query", "size"), [("", LISTED_AT_ONCE), ("?q=needle", FOUND_AT_ONCE)])
def test_pages_hold_each_conversation_once_newest_first(browser: Client, owner: User, query: str, size: int) -> None:
    make_many(owner, 2 * size)
    # Many at one moment: what orders them then is their id.
    moment = owner.conversations.latest("updated_at").updated_at
    Conversation.objects.filter(title__contains="1").update(updated_at=moment)
    pages = all_pages(browser, f"/conversations/{query}")
    assert [len(page) for page in pages] == [size, size]
    assert [each for page in pages for each in page] == newest_first(owner)


def test_what_moves_up_between_two_pages_does_not_come_twice(browser: Client, owner: User) -> None:
    make_many(owner, LISTED_AT_ONCE + 5)
    order = newest_first(owner)
    first = browser.get("/conversations/", headers=HTMX).content.decode()
    Conversation.objects.get(pk=order[3]).save()
    more = re.search(r'hx-get="([^"]+)"', first)
    assert more
    second = browser.get(unescape(more[1]), headers=HTMX).content.decode()
    assert ids_in(first) + ids_in(second) == order


@pytest.mark.parametrize(
    "path",
    [
        "/conversations/",
        "/conversations/?q=needle",
        "/conversations/?q=needle+numb",
        '/conversations/?q="number+1"',
        "/",
    ],
)
def test_lists_take_the_same_queries_whatever_there_is(browser: Client, owner: User, path: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(path, headers=HTMX).status_code in (200, 302)
        return len(captured)

    make_many(owner, 10)
    few = queries()
    make_many(owner, 290)
    assert queries() == few


def test_conversation_page_shows_one_page_of_the_list(browser: Client, owner: User) -> None:
    make_many(owner, LISTED_AT_ONCE + 1)
    opened = owner.conversations.first()
    assert opened
    html = browser.get(opened.get_absolute_url()).content.decode()
    assert len(ids_in(html)) == LISTED_AT_ONCE
    assert html.count('aria-current="page"') == 1
    assert f"open={opened.pk}" in html


def test_search_is_a_page_where_there_are_no_scripts(browser: Client, owner: User) -> None:
    make_many(owner, FOUND_AT_ONCE + 1)
    html = browser.get("/conversations/", {"q": "needle"}).content.decode()
    assert html.startswith("<!doctype html>")
    assert 'value="needle"' in html
    assert "<mark>needle</mark>" in html
    assert len(ids_in(html)) == FOUND_AT_ONCE
    for empty in ("qqqq", "!?"):
        html = browser.get("/conversations/", {"q": empty}).content.decode()
        assert f"Nothing was found for “{empty}”." in html
    browser.force_login(make_user())
    assert "Your conversations will stand here." in browser.get("/conversations/").content.decode()


def test_result_leads_to_the_message_and_holds_only_text(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="<i>needle</i>")
    message = make_user_message(conversation, "a <script>needle</script>")
    html = browser.get("/conversations/", {"q": "needle", "open": str(conversation.pk)}, headers=HTMX).content.decode()
    assert f'href="/c/{conversation.pk}/#message-{message.pk}" aria-current="page"' in html
    assert "&lt;i&gt;<mark>needle</mark>&lt;/i&gt;" in html
    assert "a &lt;script&gt;<mark>needle</mark>&lt;/script&gt;" in html


def test_search_shows_nothing_of_other_people(browser: Client) -> None:
    stranger = make_user()
    make_many(stranger, 3)
    theirs = stranger.conversations.get(title="Number 0")
    html = browser.get("/conversations/", {"q": "needle", "open": str(theirs.pk)}, headers=HTMX).content.decode()
    assert ids_in(html) == []
    place = PlaceField.written(Place(theirs.updated_at, theirs.pk))
    assert ids_in(browser.get("/conversations/", {"after": place}, headers=HTMX).content.decode()) == []


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"q": "a" * 201}, "At most 200 characters can be searched for."),
        ({"after": "yesterday"}, "The list cannot go on from there."),
        ({"after": "2026-01-01_5"}, "The list cannot go on from there."),
        ({"after": f"2026-01-01T00:00:00_{'0' * 32}"}, "The list cannot go on from there."),
        ({"after": f"0001-01-01T00:00:00+12:00_{'0' * 32}"}, "The list cannot go on from there."),
        ({"open": "this"}, "There is nothing with this id."),
    ],
)
def test_bad_input_gets_a_sentence(browser: Client, query: dict[str, str], sentence: str) -> None:
    response = browser.get("/conversations/", query)
    assert (response.status_code, response.content.decode()) == (400, sentence)


def test_places_are_read_as_they_are_written(owner: User) -> None:
    conversation = make_conversation(owner)
    place = Place(conversation.updated_at, conversation.pk)
    form = ListForm({"after": PlaceField.written(place)})
    assert form.is_valid()
    assert form.cleaned_data["after"] == place
