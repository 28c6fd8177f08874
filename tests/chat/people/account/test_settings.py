"""The settings of a person: name, colours, defaults of new conversations and the person's own instruction."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.answering.prompt.history import prepare
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.rows import read_rows
from chat.answering.turns.start import Ask
from chat.models import Conversation, LanguageModel, User
from chat.models.user import INSTRUCTION_LIMIT
from tests.chat.library.exports.samples import exported_bytes, exported_json
from tests.chat.turn_driver import create_turn
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db

DEFAULTS = {
    "default_model": "",
    "default_code_execution": "off",
    "default_engine": "session",
    "default_approval": "ask",
    "default_release": "ask",
    "instruction": "Label all axes.",
}


@pytest.fixture
def person(client: Client) -> User:
    """A person who is logged in."""
    user = make_user("ann")
    client.force_login(user)
    return user


def page(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def new_conversation(client: Client) -> Conversation:
    path = client.post("/c/new/").headers["Location"]
    return Conversation.objects.get(pk=path.split("/")[2])


def test_pages_show_the_display_name_instead_of_the_username(person: User, client: Client) -> None:
    conversation = make_conversation(person)
    assert client.post("/accounts/profile/", {"display_name": "  Ann \n Example "}).status_code == 302
    person.refresh_from_db()
    assert person.display_name == "Ann Example"
    assert '<bdi class="name">Ann Example</bdi>' in page(client, f"/c/{conversation.pk}/")
    assert client.post("/accounts/profile/", {"display_name": "a" * 101}).status_code == 400
    client.post("/accounts/profile/", {"display_name": ""})
    assert '<bdi class="name">ann</bdi>' in page(client, f"/c/{conversation.pk}/")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_have_the_light_or_dark_theme_that_the_account_has_chosen(
    person: User, client: Client, theme: str
) -> None:
    conversation = make_conversation(person)
    assert client.post("/accounts/appearance/", {"theme": theme}).status_code == 302
    for path in ("/accounts/appearance/", f"/c/{conversation.pk}/"):
        assert f'<html lang="en" data-theme="{theme}">' in page(client, path)
        assert f'<meta name="color-scheme" content="{theme}">' in page(client, path)
    client.post("/accounts/appearance/", {"theme": "system"})
    assert '<html lang="en">' in page(client, "/accounts/appearance/")


def test_unknown_colours_are_refused(person: User, client: Client) -> None:
    response = client.post("/accounts/appearance/", {"theme": '"><script>'})
    assert (response.status_code, User.objects.get(pk=person.pk).theme) == (400, "system")


def test_new_conversations_have_the_default_settings_of_the_person(person: User, client: Client) -> None:
    waiting = new_conversation(client)
    assert client.post("/accounts/defaults/", DEFAULTS).status_code == 302
    opened = new_conversation(client)
    assert opened == waiting, "the empty conversation has taken the new settings"
    assert (opened.code_execution, opened.engine, opened.approval) == ("off", "session", "ask")
    assert opened.system_instruction == ""
    path = client.post("/c/new/temporary/").headers["Location"]
    assert Conversation.objects.get(pk=path.split("/")[2]).engine == "session"
    make_conversation(person, title="Begun")
    assert Conversation.objects.get(title="Begun").engine == "auto", "other conversations keep their settings"


def test_default_model_that_is_no_longer_offered_is_not_used(person: User, client: Client) -> None:
    model = LanguageModel.objects.filter(is_enabled=True).earliest("pk")
    assert client.post("/accounts/defaults/", {**DEFAULTS, "default_model": model.name}).status_code == 302
    assert new_conversation(client).model == model.name
    LanguageModel.objects.filter(pk=model.pk).update(is_enabled=False)
    assert new_conversation(client).model == ""
    assert "(no longer offered)" in page(client, "/accounts/defaults/")


def test_form_of_defaults_shows_a_refused_instruction_again_and_stores_nothing(person: User, client: Client) -> None:
    response = client.post("/accounts/defaults/", {**DEFAULTS, "instruction": "a" * (INSTRUCTION_LIMIT + 1)})
    assert response.status_code == 400
    assert "at most 4,000 characters" in response.content.decode()
    assert "a" * (INSTRUCTION_LIMIT + 1) in response.content.decode()
    person.refresh_from_db()
    assert (person.instruction, person.default_engine) == ("", "auto")


@pytest.mark.parametrize("value", ["always", "maybe"])
def test_unknown_default_approval_is_refused_with_the_names_of_both_values(
    person: User, client: Client, value: str
) -> None:
    response = client.post("/accounts/defaults/", {**DEFAULTS, "default_approval": value})
    assert response.status_code == 400
    assert "Code may run without asking (auto) or after you have approved it (ask)." in response.content.decode()
    person.refresh_from_db()
    assert (person.default_approval, person.default_engine) == ("auto", "auto")


def test_line_break_in_an_instruction_counts_as_one_character(person: User, client: Client) -> None:
    text = "a\r\n" * (INSTRUCTION_LIMIT // 2)
    assert client.post("/accounts/defaults/", {**DEFAULTS, "instruction": text}).status_code == 302
    person.refresh_from_db()
    assert "\r" not in person.instruction


def test_persons_instruction_is_sent_before_that_of_the_conversation_without_another_query(
    person: User, client: Client, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    client.post("/accounts/defaults/", DEFAULTS)
    conversation = make_conversation(person, system_instruction="Answer in German.")
    other = make_conversation()
    turn = create_turn(Ask(person, conversation.pk, text="Hello")).turn
    [rows] = read_rows([turn])
    with django_assert_num_queries(0):  # type: ignore[operator]  # pytest-django's fixture has no public type
        sent = prepare(turn, rows, Replay()).request.system_instruction
    assert sent.endswith("Label all axes.\n\nAnswer in German.")
    foreign = create_turn(Ask(other.owner, other.pk, text="Hello")).turn
    [rows] = read_rows([foreign])
    assert "Label all axes." not in prepare(foreign, rows, Replay()).request.system_instruction


def test_exports_do_not_contain_the_persons_instruction(person: User, client: Client) -> None:
    client.post("/accounts/defaults/", DEFAULTS)
    conversation = make_conversation(person, system_instruction="Answer in German.")
    for format_name in ("json", "md", "html"):
        text = exported_bytes(conversation, format_name).decode()
        assert "Label all axes." not in text
    assert exported_json(conversation)["conversation"]["system_instruction"] == "Answer in German."
