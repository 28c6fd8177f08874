"""The review page: the transcript as its owner saw it, parts as sent, other versions and turns."""

from __future__ import annotations

import re
import uuid
from html import unescape
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from attachments.models import Attachment
from chat.admin import transcript_pages
from chat.models import Conversation, Feedback, Message, Part, Round, Turn, TurnEvent
from chat.vocabulary.part_json import SIGNATURE
from chat.vocabulary.parts import ExecutableCode, PartKind
from tests.chat.admin.factories import (
    HOSTILE_HTML,
    SECRET,
    admin_url,
    client_of,
    make_account,
    make_secret_conversation,
    review_url,
)
from tests.dom import without_reruns
from tests.factories import (
    make_conversation,
    make_graph,
    make_long_conversation,
    make_model_message,
    make_user,
    make_user_message,
)
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db


def get_page(client: Client, conversation: Conversation, query: str = "") -> str:
    response = client.get(review_url(conversation, f"change/{query}"))
    assert response.status_code == 200
    return response.content.decode()


def cut_transcript(html: str) -> str:
    return html[html.index("<article") : html.rindex("</article>")]


def as_owner_html(html: str) -> str:
    """Return a reviewer's or owner's HTML with the owner's file URLs and without feedback buttons."""
    html = re.sub(r"/admin/chat/conversation/[0-9a-f-]+/files/([0-9a-f-]+)/", r"/attachments/\1/content/", html)
    return re.sub(r'<span id="message-[0-9a-f-]+-rating".*?</span>(?=<|$)', "", html)


def without_graph_buttons(html: str) -> str:
    """Return the HTML without the buttons below graphs, whose scripts and icons the reviewer's page does not have."""
    html = re.sub(r"<button[^>]* data-action=\"(?:show-code|copy-image|change-graph)\".*?</button>", "", html)
    return re.sub(r"(?<=</span>)<a [^>]*download=.*?</a>", "", html)


def test_transcript_equals_what_its_owner_sees(reviewer: Client, conversation: Conversation) -> None:
    owners = cut_transcript(client_of(conversation.owner).get(conversation.get_absolute_url()).content.decode())
    reviewers = cut_transcript(get_page(reviewer, conversation))
    graph = Attachment.objects.get()
    file_url = review_url(conversation, f"files/{graph.pk}/")
    assert f'src="{file_url}"' in reviewers
    assert graph.url not in reviewers
    parts = re.compile(r'<div id="message-[0-9a-f-]+-parts".*?(?=<footer)', flags=re.DOTALL)
    shown, expected = as_owner_html(without_graph_buttons(reviewers)), without_graph_buttons(without_reruns(owners))
    assert parts.findall(shown) == parts.findall(expected)
    assert len(parts.findall(owners)) == 2
    assert reviewer.get(file_url).content == b"some bytes"


@pytest.mark.parametrize("kind", ["", "&as=sent"])
def test_long_conversation_is_reviewed_page_by_page(
    reviewer: Client, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(transcript_pages, "SNAPSHOT_CHARS", 35)
    conversation = make_long_conversation(messages=5)
    read, query = [], f"?from=0{kind}"
    while query:
        page = get_page(reviewer, conversation, query)
        read.append(list(dict.fromkeys(re.findall(r"Message (\d)\.", page))))
        later = re.search(r'href="(\?[^"]*)">Later messages', page)
        query = unescape(later[1]) if later else ""
    assert read == [["0", "1"], ["2", "3"], ["4"]]
    assert 'href="?from=0' in page
    assert "No message yet." in get_page(reviewer, conversation, "?from=99")


def test_page_of_an_empty_conversation_says_that_it_is_empty(reviewer: Client) -> None:
    assert "No message yet." in get_page(reviewer, make_conversation())
    assert "No message yet." in get_page(reviewer, make_conversation(), "?as=sent")


def test_unknown_conversation_redirects_to_the_queue(reviewer: Client) -> None:
    for unknown_id in (uuid.uuid4(), "x", "'"):
        response = reviewer.get(admin_url(Conversation, unknown_id), follow=True)
        assert response.redirect_chain[-1][0] == admin_url(Conversation)
        assert "does not exist any more" in response.content.decode()


def test_view_of_parts_as_sent_shows_all_their_fields_and_shortens_long_texts(
    reviewer: Client, conversation: Conversation
) -> None:
    message = conversation.messages.get(role="model")
    code = ExecutableCode(
        "print(2)",
        language="PYTHON",
        call_id="call-7",
        provider_data={SIGNATURE: "c" * 1_236, "odd": ["wire", 1]},
    )
    Part.objects.filter(message=message, index=1).delete()
    Part.from_value(code, index=1, message=message).save()
    Part.objects.filter(message=message, index=0).update(text="**raw** " + "x" * 30_000)
    Turn.objects.update(parameters={"label": "Fast"})
    Round.objects.create(turn=message.turn, index=0, metadata={"grounding": {"q": "rain"}}, response_id="resp-1")
    html = get_page(reviewer, conversation, "?as=sent")
    for shown in (
        "**raw**",
        "1,236 characters of base64",
        "PYTHON",
        "call-7",
        "&quot;odd&quot;",
        "rain",
        "Fast",
        "resp-1",
    ):
        assert shown in html
    assert "10,008 more characters" in html
    assert "x" * 20_001 not in html
    assert "Draw them, please." in html


def test_table_of_turns_shows_durations_errors_and_feedback(reviewer: Client, conversation: Conversation) -> None:
    make_model_message(conversation, status=Turn.Status.FAILED, error_code="overloaded", error_detail="503 busy")
    message = conversation.messages.get(index=1)
    Feedback.objects.create(message=message, user=conversation.owner, is_good=False, reason="wrong sum")
    html = get_page(reviewer, conversation)
    turns = html[html.index('id="turns"') :]
    for shown in ("done", "failed", "2.0 s", "5.0 s", "overloaded", "503 busy", "wrong sum", "plotline-demo"):
        assert shown in turns
    assert 'data-feedback="bad"' in turns


def test_every_version_can_be_opened_with_the_messages_that_follow_it(
    reviewer: Client, conversation: Conversation
) -> None:
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
    html = get_page(reviewer, conversation)
    assert "Another" not in html
    link = f"?version={other.pk}"
    assert link in html
    assert "Answer 1, version 2 of 2" in html
    read = get_page(reviewer, conversation, link)
    assert "Another <strong>answer</strong>." in read
    assert "And then?" in read
    assert "Here <strong>they</strong> are." not in read
    assert f"/files/{graph.pk}/" in read
    assert "another version than the one in view" in read
    assert f'data-message-id="{shown.pk}"' in read  # The link back to the shown version.
    assert get_page(reviewer, conversation, f"?version={after.pk}").count("<article") == 3
    assert "Another **answer**." in get_page(reviewer, conversation, f"{link}&as=sent")
    foreign = make_user_message(make_conversation(), "foreign")
    assert "foreign" not in get_page(reviewer, conversation, f"?version={foreign.pk}")


def test_review_page_of_a_running_answer_without_parts_is_shown(reviewer: Client) -> None:
    message = make_model_message(make_conversation(), status=Turn.Status.RUNNING)
    Part.objects.filter(message=message).delete()
    TurnEvent.objects.all().delete()
    assert 'data-status="running"' in get_page(reviewer, message.conversation)
    assert get_page(reviewer, message.conversation, "?as=sent")


def test_number_of_queries_does_not_depend_on_the_length_of_a_conversation(
    reviewer: Client, conversation: Conversation
) -> None:
    def count_queries(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            get_page(reviewer, conversation, query)
        return len(queries)

    get_page(reviewer, conversation)
    queries_of_few = [count_queries(query) for query in ("", "?as=sent")]
    for _ in range(60):
        make_graph(make_model_message(conversation), part_index=0)
    assert [count_queries(query) for query in ("", "?as=sent")] == queries_of_few


def test_review_views_refuse_wrong_methods_and_requests_without_a_csrf_token(
    reviewer: Client, conversation: Conversation
) -> None:
    assert reviewer.get(review_url(conversation, "verdict/")).status_code == 405
    assert reviewer.post(review_url(conversation), {"title": "x"}).status_code == 403
    assert reviewer.post(review_url(conversation, f"files/{Attachment.objects.get().pk}/")).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_account("superuser"))
    for path in ("verdict/", "reason/", "delete/"):
        data = {"decision": "approved", "reason": "x", "post": "yes"}
        assert strict.post(review_url(conversation, path), data).status_code == 403


def test_hostile_content_is_escaped_on_every_page(reviewer: Client) -> None:
    conversation = make_secret_conversation(make_user("<b>owner</b>"), HOSTILE_HTML)
    message = conversation.messages.get(role="model")
    Feedback.objects.create(message=message, user=conversation.owner, is_good=False, reason=HOSTILE_HTML)
    Turn.objects.update(error_code="x", error_detail=HOSTILE_HTML, model=HOSTILE_HTML)
    Part.objects.update(data={"provider_data": {"x": HOSTILE_HTML}, "id": HOSTILE_HTML, "language": HOSTILE_HTML})
    verdict = {"decision": "flagged", "note": HOSTILE_HTML, "labels": HOSTILE_HTML[:40]}
    assert reviewer.post(review_url(conversation, "verdict/"), verdict).status_code == 302
    queue_url = admin_url(Conversation)
    paths = [queue_url, f"{queue_url}?{urlencode({'q': HOSTILE_HTML, 'user': HOSTILE_HTML, 'label': HOSTILE_HTML})}"]
    queries = ("", "?as=sent", f"?version={HOSTILE_HTML}", f"?{HOSTILE_HTML}={HOSTILE_HTML}")
    paths += [review_url(conversation, f"change/{query}") for query in queries]
    for path in paths:
        html = reviewer.get(path).content.decode()
        assert "<script>alert(" not in html, path
        assert "<img src=x" not in html, path
        assert "<b>owner" not in html, path
        page = ParsedHtml(html)
        scripts = [one for one in page.select("script") if one.attributes.get("type") != "application/json"]
        assert not "".join(script.text for script in scripts).strip(), path
        assert not [name for name in page.attribute_names if name.startswith("on")], path
    assert SECRET in html
