"""Exports show texts that a signature separates as one document, as the page does."""

from __future__ import annotations

import json

import pytest

from chat.models import Conversation
from chat.page.transcript.snapshot import snapshot
from chat.vocabulary.parts import Text, Thought
from tests.chat.library.exports.samples import SIGNATURE, add_parts, exported_bytes
from tests.factories import make_conversation, make_model_message, make_user_message

pytestmark = pytest.mark.django_db

TEXT = "The **sum** is:\n\n```python\nx = 1\n```\n\nDone."


@pytest.fixture
def conversation() -> Conversation:
    """Return a conversation whose answer has signatures within bold text and within a fence."""
    conversation = make_conversation()
    make_user_message(conversation, "Why?")
    answer = make_model_message(conversation, parts=[])
    add_parts(
        answer,
        Text("The **su", provider_data=SIGNATURE),
        Text("", provider_data=SIGNATURE),
        Thought("", provider_data=SIGNATURE),
        Text("m** is:\n\n```python\nx =", provider_data=SIGNATURE),
        Text(" 1\n```\n\nDone."),
    )
    return conversation


def test_page_and_html_export_join_texts_before_and_after_a_signature(conversation: Conversation) -> None:
    [_, answer] = snapshot(conversation.pk).messages
    [part] = answer.parts
    assert part.text is not None
    html = "".join(part.text)
    assert "<p>The <strong>sum</strong> is:</p>" in html
    assert html.count("<pre") == 1
    assert part.text.closed in exported_bytes(conversation, "html").decode()


def test_markdown_export_joins_texts_before_and_after_a_signature(conversation: Conversation) -> None:
    assert f"\n{TEXT}\n" in exported_bytes(conversation, "md").decode()


def test_notebook_export_joins_texts_before_and_after_a_signature(conversation: Conversation) -> None:
    cells = json.loads(exported_bytes(conversation, "ipynb"))["cells"]
    assert [cell["source"].endswith(TEXT) for cell in cells] == [False, False, True]


def test_stored_parts_before_and_after_a_signature_stay_separate(conversation: Conversation) -> None:
    answer = conversation.messages.get(role="model")
    assert answer.parts.order_by("index")[0].value.long_text == "The **su"
    assert answer.parts.count() == 5
