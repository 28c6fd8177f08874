"""The page of graphs and images: its content, its readers, and the number of its queries."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.library import conversation_views as views
from chat.models import Message, Part, User
from chat.vocabulary import parts as parts_module
from chat.vocabulary.parts import ExecutableCode, InlineData
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_graph,
    make_model_message,
    make_user,
    make_user_message,
)

pytestmark = pytest.mark.django_db


def page(browser: Client, path: str = "/gallery/") -> str:
    response = browser.get(path)
    assert response.status_code == 200
    return response.content.decode()


def answer_with_graph(owner: User, title: str) -> Message:
    """Create a conversation whose answer draws a graph with this title."""
    message = make_model_message(make_conversation(owner))
    message.parts.all().delete()
    parts: list[parts_module.Part] = [ExecutableCode(f"plt.plot(x)\nplt.title({title!r})"), InlineData("image/png")]
    for index, part in enumerate(parts):
        Part.from_value(part, index=index, message=message).save()
    make_graph(message, part_index=1)
    return message


def test_images_link_to_their_messages_newest_first(browser: Client, owner: User) -> None:
    first, second = answer_with_graph(owner, "Old <b>"), answer_with_graph(owner, "Latest")
    html = page(browser)
    assert html.index("Line chart: Latest") < html.index("Line chart: Old &lt;b&gt;")
    for message in (first, second):
        assert f'href="/c/{message.conversation_id}/?message={message.pk}#message-{message.pk}"' in html
    html = page(browser, f"/c/{first.conversation_id}/gallery/")
    assert "Old" in html
    assert "Latest" not in html


def test_only_shown_images_of_the_owner_are_listed(browser: Client, owner: User) -> None:
    answer_with_graph(make_user("stranger"), "Of a stranger")
    hidden = answer_with_graph(owner, "Of a hidden version")
    Message.objects.filter(pk=hidden.pk).update(is_shown=False)
    attach(make_user_message(make_conversation(owner)), make_attachment(owner))
    html = page(browser)
    assert "<img" not in html
    assert "No graphs and images yet" in html


def test_gallery_of_another_user_is_not_found(browser: Client) -> None:
    theirs = answer_with_graph(make_user("stranger"), "x")
    for pk in (theirs.conversation_id, uuid.uuid4()):
        assert browser.get(f"/c/{pk}/gallery/").status_code == 404
    assert Client().get("/gallery/").status_code == 302


def test_second_page_of_the_gallery_has_the_older_images(
    browser: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "GALLERY_PAGE_SIZE", 2)
    for number in range(3):
        answer_with_graph(owner, f"Title {number}")
    html = page(browser)
    assert html.count("<img") == 2
    end = html.partition("?before=")[2].partition('"')[0]
    html = page(browser, f"/gallery/?before={end}")
    assert html.count("<img") == 1
    assert "Title 0" in html
    assert "?before=" not in html
    assert "There are no older ones." in page(browser, "/gallery/?before=1")
    assert page(browser, "/gallery/?before=x").count("<img") == 2


def test_number_of_queries_does_not_depend_on_the_images(browser: Client, owner: User) -> None:
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(browser)
        return len(queries)

    for number in range(2):
        answer_with_graph(owner, f"{number}")
    few = count_queries()
    for number in range(4):
        answer_with_graph(owner, f"{number}")
    assert count_queries() == few
