"""The language of a page: the person's choice, or else the browser's. Programs get English."""

from __future__ import annotations

import json

import pytest
from django.http import HttpRequest
from django.test import Client
from django.utils import translation

from attachments.models import Attachment
from chat.models import Share, User
from chat.vocabulary.sentences import translate_sentence
from config.language import PAGE_HEADER
from tests.factories import make_conversation, make_model_message, make_user, make_user_message
from tests.parsed_html import ParsedHtml

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make_user()


@pytest.fixture
def client(person: User) -> Client:
    signed_in = Client()
    signed_in.force_login(person)
    return signed_in


def language_of(html: bytes) -> str:
    return ParsedHtml(html.decode()).only("html").attributes["lang"]


@pytest.mark.parametrize(
    ("headers", "language", "heading"),
    [
        ({}, "en", "Log in"),
        (GERMAN, "de", "Anmelden"),
        (CHINESE, "zh-Hans", "登录"),
        ({"Accept-Language": "fr"}, "en", "Log in"),
    ],
)
def test_login_page_is_in_the_language_of_the_browser(headers: dict[str, str], language: str, heading: str) -> None:
    response = Client().get("/accounts/login/", headers=headers)
    assert language_of(response.content) == language
    assert f"<h1>{heading}</h1>" in response.content.decode()
    assert response.headers["Content-Language"].lower() == language.lower()
    assert "Accept-Language" in response.headers["Vary"]


def test_chosen_language_has_priority_over_that_of_the_browser(person: User, client: Client) -> None:
    assert client.post("/accounts/appearance/", {"theme": "system", "language": "zh-hans"}).status_code == 302
    page = client.get("/accounts/appearance/", headers=GERMAN)
    assert language_of(page.content) == "zh-Hans"
    assert "已保存。" in page.content.decode()
    assert User.objects.get(pk=person.pk).shown_language == "zh-hans"


def test_unknown_language_is_refused_with_an_error(person: User, client: Client) -> None:
    response = client.post("/accounts/appearance/", {"theme": "system", "language": "tlh"}, headers=GERMAN)
    assert response.status_code == 400
    assert "Die Seiten gibt es in dieser Sprache noch nicht." in response.content.decode()


def test_language_of_the_browser_is_stored_at_the_first_request_and_not_again(
    person: User, client: Client, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    client.get("/accounts/profile/", headers=GERMAN)
    person.refresh_from_db()
    assert (person.language, person.browser_language, person.shown_language) == ("", "de", "de")
    with django_assert_num_queries(2):  # type: ignore[operator]  # the session and the person
        client.get("/accounts/logout/", headers=GERMAN)


def test_account_that_is_deleted_during_a_request_causes_no_server_error(
    person: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(request: HttpRequest) -> str:
        assert request.user.is_authenticated
        User.objects.filter(pk=person.pk).delete()
        return "de"

    monkeypatch.setattr("config.language.translation.get_language_from_request", ask)
    assert client.get("/accounts/login/").status_code < 500


def test_error_for_a_request_of_a_script_is_in_the_language_of_the_page(client: Client) -> None:
    refused = client.get("/conversations/states/", {"ids": ",".join(["a"] * 101)}, headers=GERMAN)
    assert refused.status_code == 400
    assert refused.content.decode() == translate_sentence_in_german("At most 100 ids can be sent at once.")


def translate_sentence_in_german(sentence: str) -> str:
    with translation.override("de"):
        translated = translate_sentence(sentence)
    assert translated != sentence
    return translated


def test_request_of_a_script_stores_no_language_and_is_answered_in_the_stored_language(
    person: User, client: Client
) -> None:
    client.get("/accounts/profile/", headers=GERMAN)
    chinese = {"accept-language": "zh-CN", "sec-fetch-dest": "empty"}
    assert client.get("/accounts/profile/", headers=chinese).headers["Content-Language"] == "de"
    person.refresh_from_db()
    assert person.browser_language == "de"


def test_request_without_an_accept_language_header_stores_no_language(person: User, client: Client) -> None:
    client.get("/accounts/profile/")
    person.refresh_from_db()
    assert person.browser_language == ""


def test_language_of_a_request_is_not_active_after_the_request(client: Client) -> None:
    client.get("/accounts/profile/", headers=GERMAN)
    assert translation.get_language() == "en"


def test_api_answers_programs_in_english_and_scripts_in_the_language_of_the_page(client: Client) -> None:
    path = "/api/v1/conversations/00000000-0000-0000-0000-000000000000/"
    assert "you may not see it" in client.get(path, headers=GERMAN).json()["detail"]
    page = {**GERMAN, PAGE_HEADER: "1"}
    assert client.get(path, headers=page).json()["detail"] == "Das gibt es nicht, oder Sie dürfen es nicht sehen."


def test_refused_uploads_are_explained_in_the_language_of_the_page(client: Client) -> None:
    response = client.post("/attachments/", headers=GERMAN)
    assert response.json() == {"detail": "Diese Anfrage enthält keine Datei."}
    assert not Attachment.objects.exists()


def test_a_shared_page_speaks_the_language_of_its_reader(person: User, client: Client) -> None:
    person.language = "zh-hans"
    person.save()
    conversation = make_conversation(person, title="Umsatz")
    make_user_message(conversation)
    make_model_message(conversation)
    client.post(f"/c/{conversation.pk}/shares/", {"days": ""})
    html = Client().get(Share.objects.get().get_absolute_url(), headers=GERMAN).content
    assert language_of(html) == "de"
    assert "Eine geteilte Unterhaltung" in html.decode()
    assert ">Frage, <time " in html.decode()


def test_page_holds_the_translations_for_its_scripts_as_json(person: User, client: Client) -> None:
    conversation = make_conversation(person)
    html = client.get(f"/c/{conversation.pk}/", headers=GERMAN).content.decode()
    words = json.loads(ParsedHtml(html).only("script", id="words", type="application/json").text)
    assert words["Settings saved."] == "Einstellungen gespeichert."
    assert words["{number} line"] == ["{number} Zeile", "{number} Zeilen"]
    html = client.get(f"/c/{conversation.pk}/", HTTP_ACCEPT_LANGUAGE="en").content.decode()
    assert '<script type="application/json" id="words">{}</script>' in html
