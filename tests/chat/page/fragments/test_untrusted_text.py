"""Text of models, kernels and users stays text in every template that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.template.loader import render_to_string
from django.utils import timezone

from chat.messages.approval import Approval, ApprovalKind
from chat.messages.notices import Notice
from chat.models import Conversation
from chat.models.full_text.excerpt import Piece
from chat.models.search_results import SearchResult
from chat.page.fragments import error_html, message_html, part_html, rating_html, title_html
from chat.page.message_views import AnswerDetails, ConversationUsage, Grounding, Rating, SourceView
from chat.providers.catalogue.choices import Choice
from chat.vocabulary.parts import (
    JSON,
    PART_TYPES,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from tests.chat.page.fragments.samples import FILE, GRAPH, MESSAGE_ID, message_view, view_of
from tests.parsed_html import ParsedHtml

HOSTILE = "\"><script>alert(1)</script>' onload=x {{ 1|add:1 }} \u202ex"
HOSTILE_OBJECT: dict[str, JSON] = {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}

HOSTILE_PARTS: tuple[Part, ...] = (
    Text(HOSTILE),
    Thought(HOSTILE),
    ExecutableCode(HOSTILE, HOSTILE, HOSTILE),
    CodeExecutionResult(output=HOSTILE, outcome=HOSTILE, call_id=HOSTILE),
    InlineData(HOSTILE, HOSTILE),
    FileData(HOSTILE, HOSTILE),
    FunctionCall(HOSTILE, HOSTILE_OBJECT, HOSTILE),
    FunctionResponse(HOSTILE, HOSTILE_OBJECT, HOSTILE),
    FunctionResponse(HOSTILE, HOSTILE_OBJECT, HOSTILE, is_error=True),
    ToolCall(HOSTILE, HOSTILE_OBJECT, HOSTILE),
    ToolCall("GOOGLE_SEARCH_WEB", HOSTILE_OBJECT, HOSTILE),
    ToolResponse(HOSTILE, {HOSTILE: HOSTILE, "text": "a \u202ex", **HOSTILE_OBJECT}, HOSTILE),
    Display({"text/plain": HOSTILE, "text/html": HOSTILE}),
    Display(HOSTILE_OBJECT),
    Unsupported(provider_data=HOSTILE_OBJECT),
)


def test_test_data_contain_every_kind_of_part() -> None:
    assert {part.kind for part in HOSTILE_PARTS} == set(PART_TYPES)


def hostile_messages() -> Iterator[str]:
    """Yield the HTML of parts and messages with hostile text in every field."""
    file, graph = replace(FILE, name=HOSTILE), replace(GRAPH, name=HOSTILE, url=HOSTILE)
    for part in HOSTILE_PARTS:
        yield part_html(view_of(part, file, graph))
    yield message_html(message_view(role="user", text=HOSTILE, attachments=(file, graph)))
    yield message_html(message_view(notice=Notice("error", HOSTILE)))
    source = SourceView(f"https://e.example/{HOSTILE}", HOSTILE, HOSTILE)
    answer = replace(
        message_view(),
        grounding=Grounding((source,), (HOSTILE,)),
        details=AnswerDetails(
            HOSTILE, True, 1.0, HOSTILE, HOSTILE, HOSTILE, ((HOSTILE, 1),), 1, HOSTILE, 2, (HOSTILE,), HOSTILE
        ),
        retry_notice=HOSTILE,
    )
    for status in ("done", "running", "waiting"):
        yield message_html(replace(answer, status=status))
    for approval in (
        Approval(HOSTILE, ApprovalKind.CALL, HOSTILE, {"code": HOSTILE, HOSTILE: HOSTILE_OBJECT}, HOSTILE),
        Approval(HOSTILE, ApprovalKind.CALL, HOSTILE, HOSTILE_OBJECT, None),
        Approval(HOSTILE, ApprovalKind.RESULT, HOSTILE, {"code": HOSTILE}, HOSTILE, HOSTILE_OBJECT),
    ):
        yield message_html(replace(answer, status="waiting", approval=approval))
    yield rating_html(Rating(MESSAGE_ID, is_good=False, reason=HOSTILE))


def hostile_page_parts() -> Iterator[str]:
    """Yield the HTML around the messages with hostile titles, settings and searches."""
    yield error_html(HOSTILE)
    conversation = Conversation(title=HOSTILE, model=HOSTILE, system_instruction=f"</textarea>{HOSTILE}")
    yield title_html(conversation)
    settings = {
        "conversation": conversation,
        "model_choices": [Choice(HOSTILE, HOSTILE, HOSTILE, HOSTILE, is_missing=True)],
        "code_execution_choices": Conversation.CodeExecution.choices,
        "usage": ConversationUsage(1, HOSTILE, 1),
    }
    yield render_to_string("chat/_composer.html", settings)
    yield render_to_string("chat/_settings.html", settings)
    yield render_to_string("chat/_sidebar.html", {"conversation": conversation, "conversations": [conversation]})
    pieces = (Piece(HOSTILE, is_match=False), Piece(HOSTILE, is_match=True))
    search = {"searched": HOSTILE, "more_url": HOSTILE, "conversations": [conversation]}
    result = SearchResult(conversation, pieces, MESSAGE_ID, pieces, "user", timezone.now())
    yield render_to_string("chat/_search.html", search)
    yield render_to_string("chat/_sidebar.html", {**search, "found": [result]})
    yield render_to_string("chat/_sidebar.html", {"searched": HOSTILE})


def assert_is_harmless(html: str) -> None:
    """Check that the hostile text became neither an element nor an attribute, and was not evaluated as a template."""
    parsed = ParsedHtml(html)
    assert not parsed.find_all("script")
    assert not [name for name in parsed.attribute_names if name.startswith("on")]
    # The result if a template engine evaluates the expression in `HOSTILE`.
    assert "2 \u202e" not in html


def test_hostile_text_in_messages_stays_text() -> None:
    for html in hostile_messages():
        assert_is_harmless(html)


def test_hostile_text_around_messages_stays_text() -> None:
    for html in hostile_page_parts():
        assert_is_harmless(html)
