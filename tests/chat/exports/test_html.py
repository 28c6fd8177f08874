"""The page as one file: what it holds, and that nothing in it acts or asks."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from attachments.models import Attachment
from chat.exports.as_html import styles
from chat.fragments import message_html
from chat.models import Message
from chat.parts import PartKind
from chat.turns.transcript import snapshot
from tests.chat.exports.building import exported_bytes, png, rich_conversation
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

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


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def test_messages_are_those_of_the_page_but_for_addresses_of_bytes() -> None:
    conversation = rich_conversation()
    html = exported_bytes(conversation, "html").decode()
    for view in snapshot(conversation.pk).messages:
        if not view.attachments and not any(part.attachments for part in view.parts) and not view.notice:
            assert message_html(view) in html
    assert html.count("<article") == 4
    assert f'<img src="data:image/png;base64,{base64.b64encode(png()).decode()}"' in html
    assert html.count("data:image/png") == 1
    assert "data:application/octet-stream;base64,bW9udGgsc2FsZXMK" in html
    assert "/attachments/" not in html


def test_policy_allows_its_own_styles_alone() -> None:
    html = exported_bytes(rich_conversation(), "html").decode()
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    written = re.search(r"<style>(.*?)</style>", html, flags=re.DOTALL)
    assert written
    assert written[1] == styles()
    digest = base64.b64encode(hashlib.sha256(written[1].encode()).digest()).decode()
    assert policy[1].replace("&#x27;", "'") == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<title>") < html.index("<style>")
    assert "url(" not in written[1]
    assert "@import" not in written[1]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_anybody_wrote_becomes_markup(text: str) -> None:
    conversation = make_conversation(title=text[:200])
    question = make_user_message(conversation, text)
    file = make_attachment(conversation.owner, name=text)
    Attachment.objects.filter(pk=file.pk).update(mime_type="text/html")
    attach(question, file)
    kinds = (PartKind.TEXT, PartKind.THOUGHT, PartKind.EXECUTABLE_CODE, PartKind.CODE_EXECUTION_RESULT)
    answer = make_model_message(conversation, parts=[(kind, text) for kind in kinds])
    Message.objects.filter(pk=answer.pk).update(text=text)
    html = exported_bytes(conversation, "html").decode()
    found = Elements()
    found.feed(html)
    assert not found.names & {"script", "iframe", "link", "base", "object", "embed", "form", "svg", "img"}
    assert not {name for name in found.attributes if name.startswith("on") or name in ("style", "srcset", "srcdoc")}
    assert html.count("<meta") == 5
    addresses = [address for address in found.addresses if not address.startswith("data:application/octet-stream")]
    assert {address for address in addresses if not address.startswith("https://example.org/")} <= {"#transcript"}
    assert "data:text/html" not in html


def test_placeholder_that_somebody_wrote_is_text() -> None:
    conversation = rich_conversation()
    graph = conversation.messages.get(index=1, is_shown=True).message_attachments.get().attachment
    make_user_message(conversation, f"{'0' * 32}:{graph.pk}")
    assert f"{'0' * 32}:{graph.pk}" in exported_bytes(conversation, "html").decode()
