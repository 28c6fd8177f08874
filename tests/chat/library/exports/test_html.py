"""The HTML export: it shows the same as the page, runs no scripts and sends no requests."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace

import pytest

from attachments.models import Attachment
from chat.library.exports.as_html import styles
from chat.models import Message, Turn
from chat.page.fragments import message_html
from chat.page.readers import export_reader
from chat.page.transcript.snapshot import snapshot
from chat.vocabulary.parts import Display, PartKind
from tests.chat.library.exports.samples import add_parts, exported_bytes, png, rich_conversation, session_conversation
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "![x](https://example.org/?q=1)",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    '<meta http-equiv="refresh" content="0; url=https://example.org">',
]


def test_html_export_shows_messages_as_the_page_does() -> None:
    conversation = rich_conversation()
    html = exported_bytes(conversation, "html").decode()
    for view in snapshot(conversation.pk, reader=export_reader(str)).messages:
        if not view.attachments and not any(part.attachments for part in view.parts):
            assert message_html(replace(view, versions=None)) in html
    assert html.count("<article") == 4
    assert f'<img src="data:image/png;base64,{base64.b64encode(png()).decode()}"' in html
    assert html.count("data:image/png") == 1
    assert "data:application/octet-stream;base64,bW9udGgsc2FsZXMK" in html
    assert "/attachments/" not in html


def test_content_security_policy_allows_only_the_embedded_styles() -> None:
    html = exported_bytes(rich_conversation(), "html").decode()
    page = ParsedHtml(html)
    policy, embedded = page.only("meta", http_equiv="Content-Security-Policy"), page.only("style").text
    assert embedded == styles()
    digest = base64.b64encode(hashlib.sha256(embedded.encode()).digest()).decode()
    assert policy.attributes["content"] == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<title>") < html.index("<style>")
    assert "url(" not in embedded[1]
    assert "@import" not in embedded[1]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_users_and_models_adds_no_active_elements_to_the_html_export(text: str) -> None:
    conversation = make_conversation(title=text[:200])
    question = make_user_message(conversation, text)
    file = make_attachment(conversation.owner, name=text)
    Attachment.objects.filter(pk=file.pk).update(mime_type="text/html")
    attach(question, file)
    kinds = (PartKind.TEXT, PartKind.THOUGHT, PartKind.EXECUTABLE_CODE, PartKind.CODE_EXECUTION_RESULT)
    answer = make_model_message(conversation, parts=[(kind, text) for kind in kinds])
    add_parts(answer, Display({"text/plain": text, "text/html": text}))
    Message.objects.filter(pk=answer.pk).update(text=text)
    html = exported_bytes(conversation, "html").decode()
    page = ParsedHtml(html)
    tags = {element.tag for element in page.elements}
    assert not tags & {"script", "iframe", "link", "base", "object", "embed", "form", "svg", "img"}
    assert not {name for name in page.attribute_names if name.startswith("on") or name in ("style", "srcset", "srcdoc")}
    assert html.count("<meta") == 5
    attributes = [attribute for element in page.elements for attribute in element.attributes.items()]
    addresses = [value for name, value in attributes if name in ("href", "src", "action")]
    urls = [url for url in addresses if not url.startswith("data:application/octet-stream")]
    assert {url for url in urls if not url.startswith("https://example.org/")} <= {"#transcript"}
    assert "data:text/html" not in html


def test_typed_text_that_looks_like_an_attachment_placeholder_is_exported_as_text() -> None:
    conversation = rich_conversation()
    graph = conversation.messages.get(index=1, is_shown=True).message_attachments.get().attachment
    make_user_message(conversation, f"{'0' * 32}:{graph.pk}")
    assert f"{'0' * 32}:{graph.pk}" in exported_bytes(conversation, "html").decode()


def test_table_in_the_html_export_is_shown_as_on_the_page_without_buttons() -> None:
    html = exported_bytes(session_conversation(), "html").decode()
    assert "<button" not in html
    display = html[html.index('data-part-kind="display"') :].partition('data-part-kind="code_execution_result"')[0]
    assert '<td class="number">1</td>' in display
    assert "data-all" in display
    for kind in ("function_call", "executable_code", "display", "code_execution_result", "function_response"):
        assert f'data-part-kind="{kind}"' in html


def test_html_export_shows_session_code_and_hides_its_function_call_as_the_page_does() -> None:
    html = exported_bytes(session_conversation(), "html").decode()
    roots = [one.attributes for one in ParsedHtml(html).elements if "data-part-kind" in one.attributes]
    hidden = [root["data-part-kind"] for root in roots if "hidden" in root]
    assert hidden == ["function_call", "function_response"]
    shown = [root["data-part-kind"] for root in roots if "hidden" not in root]
    assert shown[:3] == ["executable_code", "inline_data", "display"]
    # The second call ran no code.
    assert shown[-3:] == ["function_call", "function_response", "text"]


def test_html_export_shows_model_and_service_of_an_answer_but_not_its_cost() -> None:
    conversation = make_conversation()
    make_model_message(conversation, endpoint="local", engine="session", code_reason="The owner wanted it", cost="1.5")
    html = exported_bytes(conversation, "html").decode()
    for name, value in (
        ("Model", "plotline-demo"),
        ("Service", "Google Gemini, endpoint local"),
        ("Where code runs", "in the Python session"),
    ):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in html
    for private in ("The owner wanted it", "$1.50", "7 tokens"):
        assert private not in html


def test_reason_of_a_refused_request_is_escaped() -> None:
    conversation = make_conversation()
    reason = "Bad <img src=x onerror=alert(1)>"
    make_model_message(
        conversation, parts=[], status=Turn.Status.FAILED, error_code="invalid_request", finish_message=reason
    )
    html = exported_bytes(conversation, "html").decode()
    assert "The service says: “Bad &lt;img src=x onerror=alert(1)&gt;”" in html
    assert "<img" not in html
