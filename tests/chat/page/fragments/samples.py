"""Views of parts and messages for the tests of the templates."""

from __future__ import annotations

import uuid
from dataclasses import replace

from django.utils.safestring import SafeString

from chat.messages.approval import Approval, ApprovalKind
from chat.messages.notices import Notice
from chat.page import fragments
from chat.page.attachment_views import AttachmentView
from chat.page.message_views import AnswerDetails, Grounding, MessageView, PartView, RenderedText, SourceView
from chat.page.readers import OWNER
from chat.page.rendering.markdown import render_question
from chat.vocabulary.parts import Part
from tests.part_examples import EXAMPLES

MESSAGE_ID = uuid.UUID(int=7, version=4)
OTHER_MESSAGE_ID = uuid.UUID(int=8, version=4)
ELEMENT_ID = f"part-{MESSAGE_ID}-0"

GRAPH = AttachmentView(
    index=0,
    attachment_id=uuid.UUID(int=50, version=4),
    url="/attachments/50/content/",
    name="graph-0.png",
    mime_type="image/png",
    size_bytes=2048,
    width=1000,
    height=600,
    is_graph=True,
    reader=OWNER,
)
IMAGE = replace(GRAPH, index=1, attachment_id=uuid.UUID(int=51, version=4), is_graph=False)
FILE = replace(IMAGE, index=2, name="data.csv", mime_type="text/csv", width=None, height=None)

GROUNDING = Grounding(
    (
        SourceView("https://example.org/a?b=1&c=2", "A page & more", "example.org"),
        SourceView("http://b.example/", "b.example", "b.example"),
    ),
    ("rivers of Europe", "longest <river>"),
)
DETAILS = AnswerDetails(
    model="Gemini Flash",
    code_execution=True,
    code_reason="The question asks for a plot.",
    usage=(("read", 1200), ("written", 34)),
    total=1234,
    cost="$0.0021",
    duration_s=4.2,
    rounds=1,
)


CALL_APPROVAL = Approval("approval-1", ApprovalKind.CALL, "run_python", {"code": "print(1)"}, "print(1)")
OTHER_APPROVAL = Approval("call-2", ApprovalKind.CALL, "look_up", {"value": "a"}, None)
RESULT_APPROVAL = Approval(
    "approval-2", ApprovalKind.RESULT, "run_python", {"code": "print(1)"}, "print(1)", {"output": "1"}
)


def view_of(part: Part, *attachments: AttachmentView) -> PartView:
    """Return the view of a part at index 0, with its attachments."""
    return fragments.part_view(MESSAGE_ID, 0, part, attachments, reader=OWNER)


def text_view(part: Part, *, closed: str, tail: str) -> PartView:
    """Return the view of a text or thought with this HTML."""
    rendered = RenderedText(SafeString(closed), SafeString(tail))
    return fragments.part_view(MESSAGE_ID, 0, part, reader=OWNER, rendered=rendered)


def message_view(
    *,
    role: str = "model",
    status: str = "done",
    text: str = "",
    parts: tuple[PartView, ...] = (),
    attachments: tuple[AttachmentView, ...] = (),
    notice: Notice | None = None,
) -> MessageView:
    """Return the view of a message; by default of a finished answer without parts."""
    return MessageView(
        message_id=MESSAGE_ID,
        reader=OWNER,
        role=role,
        status=status,
        text=text,
        text_html=render_question(text, f"message-{MESSAGE_ID}"),
        parts=parts,
        attachments=attachments,
        notice=notice,
        created_at="2026-05-04T10:12:13+00:00",
    )


PARTS_OF_EVERY_KIND = tuple(map(view_of, EXAMPLES.values()))

COMPLETE_ANSWER = replace(
    message_view(parts=PARTS_OF_EVERY_KIND, attachments=(GRAPH, IMAGE)),
    grounding=GROUNDING,
    details=DETAILS,
    left_out=2,
)
"""A finished answer with parts of every kind, attachments, sources and details."""
