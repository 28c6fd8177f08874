"""Pages of conversations: their content, the changes that they make, and the number of their queries."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from chat.models import Conversation, LanguageModel, NumberLedger, PythonSession, Turn, User
from chat.page.message_views import ConversationUsage
from chat.page.transcript.usage import conversation_usage
from chat.providers.catalogue.choices import DEMO_NOTICE
from chat.python.kernels.places import LocalService, ServiceStatus
from chat.python.sessions import places
from chat.vocabulary.parts import PartKind
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_graph,
    make_model_message,
    make_user_message,
)
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db


def count_queries_of(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


@pytest.mark.parametrize(("is_staff", "is_debug"), [(False, False), (True, False), (False, True)])
def test_page_says_that_no_code_can_run_and_shows_the_reason_only_to_staff_or_in_debug_mode(
    browser: Client,
    owner: User,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    is_staff: bool,
    is_debug: bool,
) -> None:
    broken = ServiceStatus(launch_error="Install it with `apt-get install bubblewrap`.")
    monkeypatch.setattr(LocalService, "status", lambda service: broken)
    settings.DEBUG, owner.is_staff = is_debug, is_staff
    owner.save()
    places._read_launch_error.cache_clear()
    request.addfinalizer(places._read_launch_error.cache_clear)
    page = browser.get(make_conversation(owner).get_absolute_url()).content.decode()
    notice = ParsedHtml(page).only(id="no-code")
    assert "This server cannot run code:" in notice.text
    assert ("apt-get install bubblewrap" in notice.text) is (is_staff or is_debug)


# --- home and new


def test_home_redirects_to_the_newest_conversation(browser: Client, owner: User) -> None:
    older, newer = make_conversation(owner), make_conversation(owner)
    make_conversation()
    assert browser.get("/").headers["Location"] == newer.get_absolute_url()
    older.save()
    assert browser.get("/").headers["Location"] == older.get_absolute_url()


def test_home_creates_one_empty_conversation_for_a_new_user(browser: Client, owner: User) -> None:
    first = browser.get("/", follow=True)
    second = browser.get("/", follow=True)
    assert first.status_code == second.status_code == 200
    assert owner.conversations.count() == 1
    assert first.context["conversation"] == second.context["conversation"] == owner.conversations.get()


def test_new_view_opens_an_existing_empty_conversation_and_makes_it_the_newest(browser: Client, owner: User) -> None:
    empty = make_conversation(owner)
    make_model_message(make_conversation(owner))
    for _ in range(3):
        assert browser.post("/c/new/").headers["Location"] == empty.get_absolute_url()
    assert owner.conversations.count() == 2
    assert owner.conversations.newest_first()[0] == empty


@pytest.mark.parametrize("touch", [{"title": "A"}, {"code_execution": "off"}, {"system_instruction": "Be brief."}])
def test_new_view_does_not_reuse_an_empty_conversation_with_settings(
    browser: Client, owner: User, touch: dict[str, str]
) -> None:
    prepared = Conversation.objects.create(owner=owner, **touch)
    assert browser.post("/c/new/").headers["Location"] != prepared.get_absolute_url()
    assert owner.conversations.count() == 2


def test_new_view_does_not_reuse_an_empty_conversation_of_another_user(browser: Client, owner: User) -> None:
    make_conversation()
    browser.post("/c/new/")
    assert owner.conversations.count() == 1


# --- the page


def test_page_shows_all_messages_escaped(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="Primes & <sums>")
    make_user_message(conversation, "Is <b>2</b> prime?")
    graph = make_graph(make_model_message(conversation, parts=[(PartKind.TEXT, "Yes, it is.")]), part_index=0)
    html = browser.get(conversation.get_absolute_url()).content.decode()
    assert "Primes &amp; &lt;sums&gt;" in html
    assert "Is &lt;b&gt;2&lt;/b&gt; prime?" in html
    assert "Yes, it is." in html
    assert str(graph.pk) in html
    assert f"/ws/conversations/{conversation.pk}/?revision=0" in html


def test_copy_button_of_an_answer_loads_the_models_markdown(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    texts = ["# A\n\n**bo", "ld** $x<y$\n"]
    answer = make_model_message(conversation, parts=[(PartKind.TEXT, text) for text in texts])
    url = reverse("message-text", args=[answer.pk])
    assert f'data-action="copy" data-url="{url}"' in browser.get(conversation.get_absolute_url()).content.decode()
    response = browser.get(url)
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode() == "# A\n\n**bold** $x<y$"


def test_socket_url_on_the_page_contains_the_revision_of_the_conversation(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    Conversation.objects.filter(pk=conversation.pk).update(revision=7)
    context = browser.get(conversation.get_absolute_url()).context
    assert context["socket_url"] == f"/ws/conversations/{conversation.pk}/?revision=7&expects=window"
    assert list(context["messages"]) == []
    assert context["code_execution_choices"] == Conversation.CodeExecution.choices


@pytest.mark.parametrize("is_emulated", [True, False])
def test_page_mentions_the_demo_model_only_if_gemini_is_emulated(
    browser: Client, owner: User, settings: Settings, is_emulated: bool
) -> None:
    settings.GEMINI_EMULATED = is_emulated
    html = browser.get(make_conversation(owner).get_absolute_url()).content.decode()
    assert ("Demo model" in html) is is_emulated


def test_page_mentions_the_demo_model_only_if_the_demo_model_answers(
    browser: Client, owner: User, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = True
    settings.OPENAI_BASE_URL, settings.OPENAI_MODELS = "http://localhost:11434/v1", ["llama"]
    settings.DEFAULT_MODEL = "llama"
    banner, notice = "Demo model: not an AI", DEMO_NOTICE
    for model, is_demo in (("", False), ("llama", False), ("plotline-demo", True), ("scenario-text", True)):
        html = browser.get(make_conversation(owner, model=model).get_absolute_url()).content.decode()
        assert (banner in html) is is_demo, model
        assert notice not in html
        assert '<option value="llama"' in html
        assert '<option value="plotline-demo"' in html
        assert '<optgroup label="Default"><option value=""' in html
    settings.DEFAULT_MODEL = "plotline-demo"
    html = browser.get(make_conversation(owner).get_absolute_url()).content.decode()
    assert banner in html
    assert notice in html
    assert banner not in browser.get(make_conversation(owner, model="llama").get_absolute_url()).content.decode()


def test_empty_page_says_whether_answers_of_the_chosen_model_can_run_code(
    browser: Client, owner: User, settings: Settings
) -> None:
    LanguageModel.objects.create(provider="gemini", name="coder", label="Coder", code_execution=True)
    LanguageModel.objects.create(provider="gemini", name="talker", label="Talker", image_output=True)
    runs, does_not = "Answers can run Python", "its answers do not run code here"
    for model, code_execution, sentence in (
        ("coder", "auto", runs),
        ("coder", "off", does_not),
        ("talker", "auto", does_not),
        ("gone/away", "auto", does_not),
    ):
        conversation = make_conversation(owner, model=model, code_execution=code_execution)
        html = browser.get(conversation.get_absolute_url()).content.decode()
        assert [one for one in (runs, does_not) if one in html] == [sentence], (model, code_execution)


def test_pages_are_not_cached(browser: Client, owner: User) -> None:
    for path in ("/", make_conversation(owner).get_absolute_url()):
        assert "no-store" in browser.get(path).headers["Cache-Control"]


def test_number_of_queries_of_a_page_does_not_depend_on_its_content(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)

    def fill() -> None:
        for _ in range(5):
            make_graph(make_model_message(conversation), part_index=0)
            attach(make_user_message(conversation), make_attachment(owner))
            make_model_message(conversation, status=Turn.Status.FAILED, error_code="overloaded")
        for _ in range(10):
            make_model_message(make_conversation(owner))

    fill()
    few = count_queries_of(browser, conversation.get_absolute_url())
    fill()
    assert count_queries_of(browser, conversation.get_absolute_url()) == few


# --- changes


def test_rename_changes_the_title_and_nothing_else(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    Conversation.objects.filter(pk=conversation.pk).update(revision=3)
    before = Conversation.objects.values().get(pk=conversation.pk)
    response = browser.post(f"/c/{conversation.pk}/rename/", {"title": " New\nname "})
    assert (response.status_code, response.headers["Location"]) == (302, conversation.get_absolute_url())
    assert Conversation.objects.values().get(pk=conversation.pk) == {
        **before,
        "title": "New name",
        "title_source": "user",
    }


@pytest.mark.parametrize("data", [{"title": " "}, {}])
def test_blank_name_is_refused_with_an_error_page_that_links_to_the_conversation(
    browser: Client, owner: User, data: dict[str, str]
) -> None:
    conversation = make_conversation(owner, title="Kept")
    response = browser.post(f"/c/{conversation.pk}/rename/", data)
    assert response.status_code == 400
    assert "Give the conversation a name." in response.content.decode()
    assert f'href="{conversation.get_absolute_url()}"' in response.content.decode()
    conversation.refresh_from_db()
    assert conversation.title == "Kept"


def test_settings_that_are_not_in_the_form_are_not_changed(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="Kept")
    before = Conversation.objects.values().get(pk=conversation.pk)
    browser.post(f"/c/{conversation.pk}/settings/", {"code_execution": "off", "owner": "1", "revision": "9"})
    assert Conversation.objects.values().get(pk=conversation.pk) == {**before, "code_execution": "off"}


WRONG_APPROVAL = "Code may run without asking (auto) or after you have approved it (ask)."


@pytest.mark.parametrize(
    ("action", "data", "sentence"),
    [
        ("settings", {"code_execution": "maybe"}, "Answers may run code: auto, on or off."),
        *(("settings", {"approval": value}, WRONG_APPROVAL) for value in ("always", "maybe")),
    ],
)
def test_invalid_settings_are_refused_with_an_error_message_and_nothing_is_saved(
    browser: Client, owner: User, action: str, data: dict[str, str], sentence: str
) -> None:
    conversation = make_conversation(owner, title="Kept")
    before = Conversation.objects.values().get(pk=conversation.pk)
    response = browser.post(f"/c/{conversation.pk}/{action}/", data)
    assert (response.status_code, response.content.decode()) == (400, sentence)
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert Conversation.objects.values().get(pk=conversation.pk) == before


def test_all_settings_are_saved_and_only_a_request_without_script_is_redirected(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    LanguageModel.objects.create(name="a-model")
    values = {"model": "a-model", "code_execution": "on", "system_instruction": "\nBe brief.\n"}
    answer = browser.post(f"/c/{conversation.pk}/settings/", values, headers={"Accept": "text/plain"})
    assert (answer.status_code, answer.content) == (204, b"")
    conversation.refresh_from_db()
    assert {name: getattr(conversation, name) for name in values} == values
    answer = browser.post(f"/c/{conversation.pk}/settings/", {"code_execution": "off"})
    assert answer.headers["Location"] == conversation.get_absolute_url()


def test_model_that_is_not_offered_is_refused_and_nothing_is_saved(
    browser: Client, owner: User, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = False
    settings.ALLOW_UNLISTED_MODELS = False
    LanguageModel.objects.create(name="disabled", is_enabled=False)
    conversation = make_conversation(owner)
    for name in ("disabled", "unheard-of"):
        values = {"model": name, "system_instruction": "Be brief."}
        answer = browser.post(f"/c/{conversation.pk}/settings/", values)
        assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/plain; charset=utf-8")
        sentence = f"There is no model “{name}” here. Choose one of these: flash, pro, research, image, "
        assert answer.content.decode().startswith(sentence)
    conversation.refresh_from_db()
    assert (conversation.model, conversation.system_instruction) == ("", "")


def test_other_settings_can_be_changed_if_the_conversations_model_is_no_longer_offered(
    browser: Client, owner: User, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = settings.ALLOW_UNLISTED_MODELS = False
    conversation = make_conversation(owner, model="gone-1")
    values = {"model": "gone-1", "system_instruction": "Be brief."}
    assert browser.post(f"/c/{conversation.pk}/settings/", values).status_code == 302
    conversation.refresh_from_db()
    assert conversation.system_instruction == "Be brief."
    html = browser.get(conversation.get_absolute_url()).content.decode()
    assert "gone-1 (no longer offered)" in html


# --- usage


def test_usage_includes_every_ended_answer_of_all_versions(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    first = make_model_message(conversation)
    Turn.objects.filter(pk=first.turn.pk).update(cost=Decimal("0.25"), usage={"total": 1500})
    hidden = make_model_message(conversation)
    Turn.objects.filter(pk=hidden.turn.pk).update(cost=Decimal("1.5"), usage={"total": 2000})
    hidden.is_shown = False
    hidden.save()
    assert conversation_usage(conversation) == ConversationUsage(3500, "$1.75", 2)
    html = browser.get(conversation.get_absolute_url()).content.decode()
    assert "<span>3,500 tokens</span><span>$1.75</span>" in html
    make_model_message(conversation, status=Turn.Status.RUNNING)
    assert conversation_usage(conversation).turns == 2


def test_usage_shows_a_minimum_cost_if_the_price_of_an_answer_is_unknown(owner: User) -> None:
    conversation = make_conversation(owner)
    assert conversation_usage(conversation) == ConversationUsage(0, "", 0)
    unpriced = make_model_message(conversation)
    assert conversation_usage(conversation) == ConversationUsage(7, "", 1)
    Turn.objects.filter(pk=unpriced.turn.pk).update(cost=Decimal("0.02"))
    make_model_message(conversation)
    assert conversation_usage(conversation) == ConversationUsage(14, "at least $0.02", 2)


# --- the demo user


def test_demo_user_is_created_once_and_can_log_in(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.DEBUG = True
    call_command("create_demo_user")
    call_command("create_demo_user")
    assert capsys.readouterr().out.splitlines() == [
        "Made user demo with password demo.",
        "User demo with password demo is there already.",
    ]
    assert Client().login(username="demo", password="demo")
    demo = User.objects.get()
    assert not demo.is_staff
    assert not demo.is_superuser


def test_password_of_the_demo_user_is_reset(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.DEBUG = True
    User.objects.create_user("demo", password="something else", is_active=False)
    call_command("create_demo_user")
    assert capsys.readouterr().out == "Reset user demo with password demo.\n"
    assert Client().login(username="demo", password="demo")


def test_demo_user_is_not_created_if_debug_is_off(settings: Settings) -> None:
    settings.DEBUG = False
    with pytest.raises(CommandError, match="anybody can guess"):
        call_command("create_demo_user")
    assert not User.objects.exists()


def test_page_requests_number_traces_and_the_session_only_where_they_can_exist(browser: Client, owner: User) -> None:
    def read() -> tuple[list[bool], bool]:
        page = ParsedHtml(browser.get(conversation.get_absolute_url()).content.decode())
        lines = ["data-traced" in line.attributes for line in page.select(class_="numbers")]
        return lines, "data-exists" in page.only(id="session").attributes

    conversation = make_conversation(owner)
    old, new = (make_model_message(conversation, parts=[(PartKind.TEXT, "It has 3 rows.")]) for _ in range(2))
    Turn.objects.filter(message=old).update(ended_at=timezone.now() - timedelta(hours=1))
    assert read() == ([False, True], False)
    Turn.objects.filter(message=new).update(ended_at=timezone.now() - timedelta(hours=1))
    NumberLedger.objects.create(message=old, version=1, numbers=[], without_source=0)
    PythonSession.objects.create(conversation=conversation, owner=owner)
    assert read() == ([True, False], True)
