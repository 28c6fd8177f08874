"""A conversation's review page: what its owner saw, what was sent, every version, and how it went."""

from __future__ import annotations

import re
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from attachments.models import Attachment
from chat.models import Conversation, Feedback, Message, Part, Turn, TurnEvent
from chat.parts import PartKind
from tests.chat.admin.people import client_of, person
from tests.factories import make_conversation, make_graph, make_model_message, make_user_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer() -> Client:
    return client_of(person("reviewer"))


@pytest.fixture
def conversation() -> Conversation:
    conversation = make_conversation(title="Primes")
    make_user_message(conversation, "Draw them, please.")
    message = make_model_message(
        conversation,
        parts=[
            (PartKind.TEXT, "Here **they** are."),
            (PartKind.EXECUTABLE_CODE, "print(2)"),
            (PartKind.CODE_EXECUTION_RESULT, "2\n"),
        ],
    )
    make_graph(message, part_index=2)
    return conversation


def page(client: Client, conversation: Conversation, query: str = "") -> str:
    response = client.get(f"/admin/chat/conversation/{conversation.pk}/change/{query}")
    assert response.status_code == 200
    return response.content.decode()


def transcript_of(html: str) -> str:
    return html[html.index("<article") : html.rindex("</article>")]


def without_what_owners_press(html: str) -> str:
    """Owners have buttons to rate an answer; files come through another door."""
    html = re.sub(r"/admin/chat/conversation/[0-9a-f-]+/files/([0-9a-f-]+)/", r"/attachments/\1/content/", html)
    return re.sub(r'<span id="message-[0-9a-f-]+-rating".*?</span>(?=<|$)', "", html)


def test_transcript_is_what_its_owner_saw(reviewer: Client, conversation: Conversation) -> None:
    owned = transcript_of(client_of(conversation.owner).get(conversation.get_absolute_url()).content.decode())
    shown = transcript_of(page(reviewer, conversation))
    graph = Attachment.objects.get()
    door = f"/admin/chat/conversation/{conversation.pk}/files/{graph.pk}/"
    assert f'src="{door}"' in shown
    assert graph.url not in shown
    parts = re.compile(r'<div id="message-[0-9a-f-]+-parts".*?(?=<footer)', flags=re.DOTALL)
    assert parts.findall(without_what_owners_press(shown)) == parts.findall(owned)
    assert len(parts.findall(owned)) == 2
    assert reviewer.get(door).content == b"some bytes"


def test_an_empty_conversation_has_a_page(reviewer: Client) -> None:
    assert "No message yet." in page(reviewer, make_conversation())
    assert "No message yet." in page(reviewer, make_conversation(), "?as=sent")


def test_what_is_gone_leads_back_to_the_queue(reviewer: Client) -> None:
    for absent in (uuid.uuid4(), "x", "'"):
        response = reviewer.get(f"/admin/chat/conversation/{absent}/change/", follow=True)
        assert response.redirect_chain[-1][0] == "/admin/chat/conversation/"
        assert "does not exist any more" in response.content.decode()


def test_parts_are_shown_as_they_were_sent(reviewer: Client, conversation: Conversation) -> None:
    message = conversation.messages.get(role="model")
    Part.objects.filter(message=message, index=1).update(
        thought_signature=b"x" * 1234, language="PYTHON", call_id="call-7", fields={"odd": ["wire", 1]}
    )
    Part.objects.filter(message=message, index=0).update(text="**raw** " + "x" * 30_000)
    Turn.objects.update(metadata={"grounding": {"q": "rain"}}, parameters={"label": "Fast"}, response_id="resp-1")
    html = page(reviewer, conversation, "?as=sent")
    for shown in ("**raw**", "1,234 bytes", "PYTHON", "call-7", "&quot;odd&quot;", "rain", "Fast", "resp-1"):
        assert shown in html
    assert "10,008 more characters" in html
    assert "x" * 20_001 not in html
    assert "Draw them, please." in html


def test_turns_say_how_they_went(reviewer: Client, conversation: Conversation) -> None:
    make_model_message(conversation, status=Turn.Status.FAILED, error_code="overloaded", error_detail="503 busy")
    message = conversation.messages.get(index=1)
    Feedback.objects.create(message=message, user=conversation.owner, is_good=False, reason="wrong sum")
    html = page(reviewer, conversation)
    turns = html[html.index('id="turns"') :]
    for shown in ("done", "failed", "2.0 s", "5.0 s", "overloaded", "503 busy", "wrong sum", "plotline-demo"):
        assert shown in turns
    assert 'data-feedback="bad"' in turns


def test_every_version_can_be_read(reviewer: Client, conversation: Conversation) -> None:
    question = conversation.messages.get(index=0)
    shown = conversation.messages.get(index=1)
    other = Message.objects.create(
        conversation=conversation, parent=question, index=1, is_shown=False, role="model", text="Another answer."
    )
    Part.objects.create(message=other, index=0, kind=PartKind.TEXT, text="Another **answer**.")
    Turn.objects.create(
        conversation=conversation, user_message=question, message=other, status="done", provider="x", model="m"
    )
    after = Message.objects.create(
        conversation=conversation, parent=other, index=2, is_shown=False, role="user", text="And then?"
    )
    graph = make_graph(other, part_index=0)
    html = page(reviewer, conversation)
    assert "Another" not in html
    link = f"?version={other.pk}"
    assert link in html
    assert "Answer 1, version 2 of 2" in html
    read = page(reviewer, conversation, link)
    assert "Another <strong>answer</strong>." in read
    assert "And then?" in read
    assert "Here <strong>they</strong> are." not in read
    assert f"/files/{graph.pk}/" in read
    assert "another version than the one in view" in read
    assert f'data-message-id="{shown.pk}"' in read  # the arrow back
    assert page(reviewer, conversation, f"?version={after.pk}").count("<article") == 3
    assert "Another **answer**." in page(reviewer, conversation, f"{link}&as=sent")
    # Of nobody else's conversation.
    foreign = make_user_message(make_conversation(), "foreign")
    assert "foreign" not in page(reviewer, conversation, f"?version={foreign.pk}")


def test_a_live_answer_is_shown_as_far_as_it_has_come(reviewer: Client) -> None:
    message = make_model_message(make_conversation(), status=Turn.Status.RUNNING)
    Part.objects.filter(message=message).delete()
    TurnEvent.objects.all().delete()  # nothing has come yet
    assert 'data-status="running"' in page(reviewer, message.conversation)
    assert page(reviewer, message.conversation, "?as=sent")


def test_a_page_takes_the_same_queries_for_long_conversations(reviewer: Client, conversation: Conversation) -> None:
    def costs(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            page(reviewer, conversation, query)
        return len(queries)

    page(reviewer, conversation)
    few = [costs(query) for query in ("", "?as=sent")]
    for _ in range(60):
        make_graph(make_model_message(conversation), part_index=0)
    assert [costs(query) for query in ("", "?as=sent")] == few


def test_pages_change_nothing_by_get_and_need_their_token(reviewer: Client, conversation: Conversation) -> None:
    base = f"/admin/chat/conversation/{conversation.pk}/"
    assert reviewer.get(f"{base}verdict/").status_code == 405
    assert reviewer.post(f"{base}change/", {"title": "x"}).status_code == 403
    assert reviewer.post(f"{base}files/{Attachment.objects.get().pk}/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("superuser"))
    for door in ("verdict/", "reason/", "delete/"):
        assert strict.post(f"{base}{door}", {"decision": "approved", "reason": "x", "post": "yes"}).status_code == 403
