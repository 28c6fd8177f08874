"""The list of conversations and its search: pages, fragments for htmx, access, and the number of queries."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.library.conversation_list import LIST_PAGE_SIZE, SEARCH_PAGE_SIZE
from chat.models import Conversation, ListPosition, Message, Project, User
from chat.models.form_fields import ListPositionField
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_model_message, make_user, make_user_message
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
INVALID_POSITION = "This link to the next page is not valid. Open the list from the beginning."


def make_many(owner: User, count: int, text: str = "needle") -> None:
    """Create conversations with one message each."""
    rows = Conversation.objects.bulk_create(
        Conversation(owner=owner, title=f"Number {number}") for number in range(count)
    )
    Message.objects.bulk_create(Message(conversation=row, index=0, role="user", text=text) for row in rows)


def ids_in(html: str) -> list[str]:
    """Return the ids of the entries, in order."""
    ids = [entry.get("id", "").partition("-") for entry in ParsedHtml(html).find_all("li")]
    return [entry_id for kind, _, entry_id in ids if kind in ("entry", "found")]


def headings_in(html: str) -> list[str]:
    """Return the keys of the headings, in order."""
    headings = ParsedHtml(html).select("li", class_="heading")
    return [heading.attributes["id"].removeprefix("heading-") for heading in headings]


def next_page(html: str) -> str:
    """Return the path of the page that follows; empty if this is the last one."""
    links = [link for more in ParsedHtml(html).select("li", class_="more") for link in more.find_all("a")]
    return links[0]["hx-get"] if links else ""


def all_pages(browser: Client, path: str) -> list[list[str]]:
    """Return the ids on each page, as a user gets them who scrolls to the end."""
    pages, next_path = [], path
    while next_path:
        html = browser.get(next_path, headers=HTMX).content.decode()
        pages.append(ids_in(html))
        next_path = next_page(html)
    return pages


def newest_first(owner: User) -> list[str]:
    return [str(row.pk) for row in owner.conversations.order_by("-updated_at", "-pk")]


@pytest.mark.parametrize(("query", "size"), [("", LIST_PAGE_SIZE), ("?q=needle", SEARCH_PAGE_SIZE)])
def test_pages_contain_each_conversation_once_newest_first(browser: Client, owner: User, query: str, size: int) -> None:
    make_many(owner, 2 * size)
    # Conversations with the same time are ordered by their id.
    same_time = owner.conversations.latest("updated_at").updated_at
    Conversation.objects.filter(title__contains="1").update(updated_at=same_time)
    pages = all_pages(browser, f"/conversations/{query}")
    assert [len(page) for page in pages] == [size, size]
    assert [each for page in pages for each in page] == newest_first(owner)


def test_conversation_that_becomes_newer_between_two_pages_is_not_repeated(browser: Client, owner: User) -> None:
    make_many(owner, LIST_PAGE_SIZE + 5)
    order = newest_first(owner)
    first = browser.get("/conversations/", headers=HTMX).content.decode()
    Conversation.objects.get(pk=order[3]).save()
    second = browser.get(next_page(first), headers=HTMX).content.decode()
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
def test_number_of_queries_of_a_list_does_not_depend_on_its_length(browser: Client, owner: User, path: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(path, headers=HTMX).status_code in (200, 302)
        return len(captured)

    make_many(owner, 10)
    few = queries()
    make_many(owner, 290)
    # A search for results of lower ranks is left out when a page is full.
    assert queries() <= few


def test_conversation_page_shows_the_first_page_of_the_conversation_list(browser: Client, owner: User) -> None:
    make_many(owner, LIST_PAGE_SIZE + 1)
    opened = owner.conversations.first()
    assert opened
    html = browser.get(opened.get_absolute_url()).content.decode()
    assert len(ids_in(html)) == LIST_PAGE_SIZE
    assert html.count('aria-current="page"') == 1
    assert f"open={opened.pk}" in html


def test_search_without_javascript_returns_a_full_page(browser: Client, owner: User) -> None:
    make_many(owner, SEARCH_PAGE_SIZE + 1)
    html = browser.get("/conversations/", {"q": "needle"}).content.decode()
    assert html.startswith("<!doctype html>")
    assert 'value="needle"' in html
    assert "<mark>needle</mark>" in html
    assert len(ids_in(html)) == SEARCH_PAGE_SIZE
    for empty, advice in (("qqqq", "Only conversations that contain all words"), ("!?", "A search needs a letter")):
        html = browser.get("/conversations/", {"q": empty}).content.decode()
        assert f"Nothing was found for “{empty}”." in html
        assert advice in html
    browser.force_login(make_user())
    assert "Your conversations will appear here." in browser.get("/conversations/").content.decode()


def test_search_result_page_links_to_the_next_and_the_previous_match_in_the_conversation(
    browser: Client, owner: User
) -> None:
    conversation = make_conversation(owner)
    texts = ("needle", "other", "needles", "needle & thread")
    first, other, second, third = (make_user_message(conversation, text) for text in texts)
    page = conversation.get_absolute_url()

    def links(message: Message, query: str) -> list[str]:
        html = browser.get(page, {"message": str(message.pk), "q": query}).content.decode()
        parsed = ParsedHtml(html)
        return [link.attributes["href"] for rel in ("prev", "next") for link in parsed.select("a", rel=rel)]

    def link(message: Message, query: str) -> str:
        return f"{page}?message={message.pk}&q={query}#message-{message.pk}"

    assert links(second, "needle") == [link(first, "needle&from=end"), link(third, "needle")]
    assert links(third, "needle") == [link(second, "needle&from=end"), link(first, "needle")]
    # Messages with all words, if there are any.
    assert links(third, "needle thread") == [link(third, "needle+thread&from=end"), link(third, "needle+thread")]
    assert links(other, "other thread") == [link(third, "other+thread&from=end"), link(third, "other+thread")]
    assert links(other, "needle") == links(other, "") == links(other, "!?") == []


def test_search_result_links_to_its_message_and_its_text_is_escaped(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="<i>needle</i>")
    message = make_user_message(conversation, "a <script>needle</script>")
    html = browser.get("/conversations/", {"q": "needle", "open": str(conversation.pk)}, headers=HTMX).content.decode()
    url = f"/c/{conversation.pk}/?message={message.pk}&amp;q=needle#message-{message.pk}"
    assert f'href="{url}" aria-current="page"' in html
    assert "&lt;i&gt;<mark>needle</mark>&lt;/i&gt;" in html
    assert "a &lt;script&gt;<mark>needle</mark>&lt;/script&gt;" in html


def test_search_result_says_when_its_message_was_written_and_whether_by_user_or_model(
    browser: Client, owner: User
) -> None:
    conversation = make_conversation(owner, title="Harbour")
    day = datetime(2026, 1, 5, 12, tzinfo=UTC)
    expected = [(make_user_message(conversation, "alpha beta"), "alpha", "Question")]
    expected.append((make_model_message(conversation, parts=[(PartKind.TEXT, "gamma")]), "gamma", "Answer"))
    Message.objects.filter(conversation=conversation).update(created_at=day)
    for message, query, side in expected:
        html = browser.get("/conversations/", {"q": query}, headers=HTMX).content.decode()
        assert f"message={message.pk}" in html
        assert f">2026-01-05</time> · {side}</span>" in html
    # Only the title matches.
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=day + timedelta(days=1))
    html = browser.get("/conversations/", {"q": "harbour"}, headers=HTMX).content.decode()
    assert ">2026-01-06</time></span>" in html


def test_search_result_contains_its_project_without_another_query(browser: Client, owner: User) -> None:
    project = Project.objects.start(owner.pk, name="<b>Harbour</b>")
    numbers: set[int] = set()
    for number, own in enumerate((None, project, project)):
        row = Conversation.objects.create(owner=owner, title=f"needle {number}", project=own)
        with CaptureQueriesContext(connection) as captured:
            html = browser.get("/conversations/?q=needle", headers=HTMX).content.decode()
        named = [str(row.pk) in html, *re.findall(r"Project: <bdi>(.*?)</bdi>", html)]
        assert named == [True, *["&lt;b&gt;Harbour&lt;/b&gt;"] * number]
        assert not any('"chat_project"."instruction"' in query["sql"] for query in captured)
        numbers.add(len(captured))
    assert len(numbers) == 1


def test_search_finds_no_conversation_of_another_user(browser: Client) -> None:
    stranger = make_user()
    make_many(stranger, 3)
    theirs = stranger.conversations.get(title="Number 0")
    html = browser.get("/conversations/", {"q": "needle", "open": str(theirs.pk)}, headers=HTMX).content.decode()
    assert ids_in(html) == []
    after = ListPositionField.serialize(ListPosition(theirs.updated_at, theirs.pk))
    assert ids_in(browser.get("/conversations/", {"after": after}, headers=HTMX).content.decode()) == []


def mark_some(owner: User, ending: str, **marks: bool) -> set[str]:
    """Mark the conversations whose title has this ending, and return their ids."""
    rows = list(owner.conversations.filter(title__endswith=ending))
    for row in rows:
        row.change_settings(marks)
    return {str(row.pk) for row in rows}


@pytest.mark.parametrize("endings", ["0", "01234567"])
def test_pinned_conversations_come_first_and_archived_ones_have_their_own_list(
    browser: Client, owner: User, endings: str
) -> None:
    make_many(owner, 3 * LIST_PAGE_SIZE)
    order = newest_first(owner)
    pinned = {pk for ending in endings for pk in mark_some(owner, ending, pinned=True)}
    archived = mark_some(owner, "9", archived=True) | mark_some(owner, "10", archived=True)
    # Marking a conversation does not change its order.
    assert newest_first(owner) == order
    expected = [pk for pk in order if pk in pinned - archived] + [pk for pk in order if pk not in pinned | archived]
    pages = all_pages(browser, "/conversations/")
    assert [each for page in pages for each in page] == expected
    assert [each for page in all_pages(browser, "/conversations/?group=archived") for each in page] == [
        pk for pk in order if pk in archived
    ]
    # Search finds all of them.
    assert sum(map(len, all_pages(browser, "/conversations/?q=needle"))) == len(order)


def headings_of_all_pages(browser: Client) -> list[str]:
    """Return the keys of the headings, as a user gets them who scrolls to the end."""
    whole, path = "", "/conversations/"
    while path:
        html = browser.get(path, headers=HTMX).content.decode()
        whole, path = whole + html, next_page(html)
    return headings_in(whole)


@pytest.mark.parametrize("pinned", [0, 1, LIST_PAGE_SIZE, LIST_PAGE_SIZE + 1])
def test_each_group_of_conversations_has_one_heading_across_all_pages(
    browser: Client, owner: User, pinned: int
) -> None:
    make_many(owner, 2 * LIST_PAGE_SIZE + 5)
    yesterday = timezone.now() - timedelta(days=1)
    for row in owner.conversations.all()[:pinned]:
        row.change_settings({"pinned": True})
    # The first page ends inside of one of the groups.
    rest = owner.conversations.filter(pinned_at=None).values_list("pk", flat=True)[:3]
    Conversation.objects.exclude(pk__in=list(rest)).filter(pinned_at=None).update(updated_at=yesterday)
    assert headings_of_all_pages(browser) == [*(["pinned"] if pinned else []), "today", "yesterday"]


def age(conversation: Conversation, **units: float) -> Conversation:
    """Set the time of a conversation's last change to this number of days or hours ago."""
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=timezone.now() - timedelta(**units))
    return conversation


def test_second_page_of_the_list_uses_the_day_of_the_first_for_its_headings(browser: Client, owner: User) -> None:
    make_many(owner, LIST_PAGE_SIZE + 1)
    first = browser.get("/conversations/", headers=HTMX).content.decode()
    following = next_page(first)
    # As if midnight had passed since, so that the entries belong to yesterday.
    path = re.sub(r"day=[0-9-]+", f"day={timezone.now().date() + timedelta(days=1)}", following)
    assert headings_in(first) == ["today"]
    assert headings_in(browser.get(following, headers=HTMX).content.decode()) == []
    assert headings_in(browser.get(path, headers=HTMX).content.decode()) == []


def test_days_in_headings_are_those_of_the_persons_time_zone(browser: Client, owner: User) -> None:
    make_conversation(owner)
    # Between these two zones, it is always another day.
    for zone, heading in (("Etc/GMT-14", "today"), ("Etc/GMT+12", "today"), ("../../etc/passwd", "today")):
        browser.cookies["timezone"] = zone
        assert headings_of_all_pages(browser) == [heading]
    age(owner.conversations.get(), hours=25)
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        browser.cookies["timezone"] = zone
        changed, now = (
            at.astimezone(zoneinfo.ZoneInfo(zone)).date()
            for at in (owner.conversations.get().updated_at, timezone.now())
        )
        assert headings_of_all_pages(browser) == ["yesterday" if (now - changed).days == 1 else "week"]


def test_open_conversation_is_listed_first_and_only_once_even_if_it_is_old(browser: Client, owner: User) -> None:
    old = age(make_conversation(owner, title="Old"), days=400)
    make_many(owner, LIST_PAGE_SIZE + 1)
    html = browser.get(old.get_absolute_url()).content.decode()
    assert headings_in(html) == ["open", "today"]
    assert ids_in(html)[0] == str(old.pk)
    pages = all_pages(browser, f"/conversations/?open={old.pk}")
    assert sorted(each for page in pages for each in page) == sorted(newest_first(owner))
    # A conversation of another list or person is not added.
    stranger, archived = make_conversation(), age(make_conversation(owner), days=400)
    archived.change_settings({"archived": True})
    Conversation.objects.filter(pk=archived.pk).update(updated_at=old.updated_at)
    for other in (stranger, archived):
        html = browser.get("/conversations/", {"open": str(other.pk)}, headers=HTMX).content.decode()
        assert headings_in(html) == ["today"]
    html = browser.get("/conversations/", {"open": str(old.pk), "group": "archived"}, headers=HTMX).content.decode()
    assert ids_in(html) == [str(archived.pk)]


def test_number_of_queries_of_a_list_group_does_not_depend_on_its_length(browser: Client, owner: User) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(path, headers=HTMX).status_code == 200
        return len(captured)

    make_many(owner, 20)
    # The oldest conversation is soon on none of the first pages.
    oldest = owner.conversations.earliest("updated_at").get_absolute_url()
    paths = ("/conversations/", "/conversations/?group=archived", oldest)
    few = list(map(queries, paths))
    make_many(owner, 100)
    mark_some(owner, "1", pinned=True)
    mark_some(owner, "2", archived=True)
    assert list(map(queries, paths)) == few


def mark(browser: Client, conversation: Conversation, **fields: str) -> str:
    """Mark a conversation, and return the fragment for htmx."""
    response = browser.post(f"/c/{conversation.pk}/marks/", fields, headers=HTMX)
    assert response.status_code == 200
    return response.content.decode()


def test_archived_conversation_is_removed_from_the_list_and_undo_restores_it(browser: Client, owner: User) -> None:
    kept, archived = make_conversation(owner, title="Kept"), make_conversation(owner, title="<i>Put away</i>")
    html = mark(browser, archived, archived="true", open=str(archived.pk))
    assert f'hx-target="#entry-{archived.pk}" hx-swap="delete"' in html
    assert "Archived: &lt;i&gt;Put away&lt;/i&gt;" in html
    assert 'data-mark="archived" data-value="false"' in html
    assert '<p id="archived" class="banner">' in html
    assert ids_in(browser.get("/conversations/", headers=HTMX).content.decode()) == [str(kept.pk)]
    assert '<p id="archived" class="banner">' in browser.get(archived.get_absolute_url()).content.decode()
    html = mark(browser, archived, archived="false", open=str(kept.pk))
    assert ids_in(html) == [str(archived.pk), str(kept.pk)]
    assert "Undo" not in html
    assert 'id="archived"' not in html


def test_pinning_again_keeps_the_first_time_and_unpinning_restores_the_row(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="A")
    before = Conversation.objects.values().get()
    mark(browser, conversation, pinned="true")
    since = Conversation.objects.get().pinned_at
    mark(browser, conversation, pinned="true")
    assert Conversation.objects.get().pinned_at == since
    mark(browser, conversation, pinned="false")
    assert Conversation.objects.values().get() == before


def test_archiving_on_a_page_updates_the_list_that_the_page_shows(browser: Client, owner: User) -> None:
    make_many(owner, 2)
    first, second = owner.conversations.order_by("title")
    mark_some(owner, "0", archived=True)
    html = mark(browser, second, archived="true", group="archived")
    assert set(ids_in(html)) == {str(first.pk), str(second.pk)}
    html = mark(browser, first, archived="false", group="archived")
    assert f'hx-target="#entry-{first.pk}" hx-swap="delete"' in html
    assert "Nothing was found" in mark(browser, first, archived="true", q="qqqq")


def test_home_never_redirects_to_an_archived_conversation(browser: Client, owner: User) -> None:
    older, newer = make_conversation(owner, title="Older"), make_conversation(owner, title="Newer")
    newer.change_settings({"archived": True})
    assert browser.get("/").headers["Location"] == older.get_absolute_url()
    older.change_settings({"archived": True})
    opened = browser.get("/").headers["Location"]
    assert Conversation.objects.in_use().get().get_absolute_url() == opened


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Say what to change: archived or pinned."),
        ({"archived": "maybe"}, "This must be true or false."),
        ({"pinned": ""}, "This must be true or false."),
        ({"pinned": "true", "group": "mine"}, "There is no such list; there are pinned, others, archived."),
    ],
)
def test_invalid_pin_or_archive_request_is_refused_with_an_error_message(
    browser: Client, owner: User, fields: dict[str, str], sentence: str
) -> None:
    conversation = make_conversation(owner)
    response = browser.post(f"/c/{conversation.pk}/marks/", fields, headers=HTMX)
    assert (response.status_code, response.content.decode()) == (400, sentence)
    assert Conversation.objects.get().pinned_at is None


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"group": "mine"}, "There is no such list; there are pinned, others, archived."),
        ({"q": "a" * 201}, "At most 200 characters can be searched for."),
        ({"after": "yesterday"}, INVALID_POSITION),
        ({"after": "2026-01-01_5"}, INVALID_POSITION),
        ({"after": f"2026-01-01T00:00:00_{'0' * 32}"}, INVALID_POSITION),
        ({"after": f"0001-01-01T00:00:00+12:00_{'0' * 32}"}, INVALID_POSITION),
        ({"day": "today"}, "Write the day as 2026-12-31."),
        ({"imported": "last"}, "There is no such import."),
        ({"imported": "0"}, "There is no such import."),
        ({"imported": str(2**63)}, "There is no such import."),
        ({"open": "this"}, "There is nothing with this id."),
    ],
)
def test_invalid_query_of_a_list_is_refused_with_an_error_message(
    browser: Client, query: dict[str, str], sentence: str
) -> None:
    response = browser.get("/conversations/", query)
    assert (response.status_code, response.content.decode()) == (400, sentence)
