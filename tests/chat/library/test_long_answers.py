"""Answers that are too long for a page: it holds a part of them, and only its readers can load the rest."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from chat.messages.records import records_by_id
from chat.models import Message, Share
from chat.page.fragments import message_html
from chat.page.readers import export_reader
from chat.page.transcript.views import message_view
from chat.vocabulary.parts import PartKind
from tests.chat.admin.factories import client_of, make_account, review_url
from tests.factories import make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db

TEXT = "".join(f"Paragraph {number:05d} of this answer.\n\n" for number in range(8000))
ABSENT = re.compile(r'<div class="blocks" data-absent id="(part-[0-9a-f-]+-b(\d+))"><a [^>]*href="([^"]+)"')


@pytest.fixture
def answer() -> Message:
    return make_model_message(make_conversation(make_user("owner-name")), parts=[(PartKind.TEXT, TEXT)])


def owner_of(answer: Message) -> Client:
    client = Client()
    client.force_login(answer.conversation.owner)
    return client


def read(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def test_page_shows_both_ends_of_a_long_answer_and_its_owner_can_load_the_rest(answer: Message) -> None:
    client = owner_of(answer)
    html = read(client, answer.conversation.get_absolute_url())
    assert "Paragraph 00000" in html
    assert "Paragraph 07999" in html
    assert "Paragraph 04000" not in html
    shown = set(re.findall(r"Paragraph (\d+)", html))
    for _, _, url in ABSENT.findall(html):
        response = client.get(url, headers={"HX-Request": "true"})
        shown |= set(re.findall(r"Paragraph (\d+)", response.content.decode()))
    assert len(shown) == 8000


def test_section_that_a_long_answer_does_not_have_is_not_found(answer: Message) -> None:
    client = owner_of(answer)
    for absent in ("1/blocks/3", "0/blocks/0", "0/blocks/999"):
        path = f"/messages/{answer.pk}/parts/{absent}/"
        assert client.get(path, headers={"HX-Request": "true"}).status_code == 404


def test_link_in_place_of_a_missing_section_opens_a_page_with_it_for_every_reader(answer: Message) -> None:
    share = Share.objects.issue(answer.conversation)
    staff = client_of(make_account("reviewer"))
    pages = [
        (owner_of(answer), answer.conversation.get_absolute_url(), ""),
        (Client(), share.get_absolute_url(), "?from=1"),
        (staff, review_url(answer.conversation, "change/"), "?from=1"),
    ]
    for client, page_url, query in pages:
        element_id, _, link = ABSENT.findall(read(client, page_url + query))[2]
        response = client.get(link if link.startswith("/") else f"{page_url}{unescape(link)}", follow=True)
        html = response.content.decode()
        assert f'<div class="blocks" id="{element_id}"><p>' in html


def test_search_result_opens_the_section_of_a_long_answer_with_the_words(answer: Message) -> None:
    url = answer.conversation.get_absolute_url()
    assert "Paragraph 05000" in read(owner_of(answer), f"{url}?message={answer.pk}&q=05000")


def test_page_opens_if_the_section_in_its_url_does_not_exist(answer: Message) -> None:
    url = answer.conversation.get_absolute_url()
    for at in ("x", f"{answer.pk}.0.999999", f"{answer.pk}.7.1"):
        assert "Paragraph 07999" in read(owner_of(answer), f"{url}?at={at}")


def test_export_contains_all_of_a_long_answer(answer: Message) -> None:
    html = message_html(message_view(records_by_id([answer.pk])[answer.pk], export_reader(str)))
    assert len(set(re.findall(r"Paragraph (\d+)", html))) == 8000
