"""The page of a conversation: the hooks of its composer, and its settings."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory

from chat.models import Conversation
from chat.page.message_views import ConversationUsage
from chat.providers.catalogue.choices import Choice
from tests.chat.page.fragments.samples import message_view
from tests.parsed_html import ParsedHtml

MODEL_CHOICES = [
    Choice("", "Flash", "", "Default", is_missing=False),
    Choice("quick", "Quick", "For most questions.", "Presets", is_missing=False),
    Choice("gone-1", "Gone", "No longer offered by the provider.", "Models", is_missing=True),
]


def settings_context(conversation: Conversation) -> dict[str, object]:
    """Return the context of the templates that show the settings of a conversation."""
    return {
        "conversation": conversation,
        "model_choices": MODEL_CHOICES,
        "code_execution_choices": Conversation.CodeExecution.choices,
        "prompt_limit_bytes": 1024,
        "usage": ConversationUsage(7, "", 1),
    }


def page_html(conversation: Conversation) -> str:
    """Return the page of a conversation with one message."""
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    context = {
        **settings_context(conversation),
        "messages": [message_view()],
        "conversations": [conversation],
        "is_demo": True,
        "socket_url": "/ws/conversations/x/?revision=1",
    }
    return render_to_string("chat/conversation.html", context, request)


def test_conversation_page_has_the_elements_that_scripts_of_the_composer_use() -> None:
    html = page_html(Conversation(title="Waves & more"))
    assert "composer" in [form.get("id") for form in ParsedHtml(html).find_all("form")]
    start = html.index('<form id="composer"')
    composer = ParsedHtml(html[start : html.index("</form>", start)])
    assert [box["name"] for box in composer.find_all("textarea")] == ["text"]
    assert 'data-action="stop"' in html
    assert 'hx-ws:connect="/ws/conversations/x/?revision=1"' in html


def test_conversation_page_shows_title_usage_and_the_demo_model() -> None:
    html = page_html(Conversation(title="Waves & more"))
    assert "Waves &amp; more · Plotline" in html
    assert "Demo model" in html
    assert "7 tokens" in html


def test_conversation_page_has_unique_ids_and_no_inline_style_or_script() -> None:
    parsed = ParsedHtml(page_html(Conversation(title="Waves & more")))
    ids = [element.attributes["id"] for element in parsed.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert not [name for name in parsed.attribute_names if name == "style" or name.startswith("on")]


def test_composer_selects_the_saved_settings_and_lists_a_model_that_is_no_longer_offered() -> None:
    conversation = Conversation(model="gone-1", code_execution="on", system_instruction="\nBe <brief>.")
    html = render_to_string("chat/_composer.html", settings_context(conversation))
    composer = ParsedHtml(html)
    options = composer.find_all("option")
    assert [option["value"] for option in options if "selected" in option] == ["gone-1", "on"]
    assert [select["data-saved"] for select in composer.find_all("select")] == ["gone-1", "on"]
    assert "Gone (no longer offered)</option>" in html
    assert [group["label"] for group in composer.find_all("optgroup")] == [
        "Default",
        "Presets",
        "Models",
        "In this conversation",
        "Only for the next message",
    ]
    assert [option["value"] for option in options][-2:] == ["once-on", "once-off"]


def test_settings_dialog_shows_every_saved_setting() -> None:
    conversation = Conversation(model="quick", code_execution="off", system_instruction="\nBe <brief>.")
    html = render_to_string("chat/_settings.html", settings_context(conversation))
    inputs = ParsedHtml(html).find_all("input")
    checked = [(field["name"], field["value"]) for field in inputs if "checked" in field]
    assert checked == [("model", "quick"), ("code_execution", "off"), ("private_data", "false")]
    assert "For most questions." in html
    # The browser drops a newline directly after the start tag, so the template writes one more.
    assert '">\n\nBe &lt;brief&gt;.</textarea>' in html
    assert 'data-limit-bytes="1024"' in html
