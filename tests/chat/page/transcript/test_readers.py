"""The content of a message that each reader sees, and the actions that each reader may take."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from attachments.models import Attachment
from chat.messages.approval import Approval, ApprovalKind
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Feedback, Message, Turn
from chat.page.fragments import message_html
from chat.page.readers import OWNER, Reader, export_reader, guest_reader, staff_reader
from chat.page.transcript.views import message_view
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, Display, Engine, ExecutableCode, Text, WrittenFile
from tests.display_bundles import wide_html
from tests.part_examples import EXAMPLES

READERS = {
    "owner": OWNER,
    "staff": staff_reader(lambda pk: f"/staff-files/{pk}/"),
    "guest": guest_reader(lambda pk: f"/guest-files/{pk}/"),
    "export": export_reader(lambda pk: f"nonce:{pk}"),
}
AT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
MARKDOWN = "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n"


def make_record(*, status: str = Turn.Status.DONE, approval: Approval | None = None) -> MessageRecord:
    """Return an answer with every kind of part, code, tables, a graph, files, sources, costs and a rating."""
    message = Message(pk=uuid.UUID(int=1), conversation_id=uuid.UUID(int=2), role="model", created_at=AT)
    turn = Turn(
        message=message,
        status=status,
        finish="length",
        provider="gemini",
        endpoint="inner-server",
        model="model-1",
        parameters={"label": "Model One", "temperature": 0.5},
        engine=Engine.SESSION,
        code_execution=True,
        code_reason="The question asks for a plot.",
        usage={"prompt": 3, "total": 7},
        cost=Decimal("1.5"),
        round_count=2,
        sources=[{"url": "https://example.org/", "title": "Example"}],
        queries=["rain"],
        created_at=AT,
        ended_at=None if status in Turn.LIVE else AT + timedelta(seconds=4),
    )
    parts = [
        Text(MARKDOWN),
        ExecutableCode("plt.plot([1])\nplt.title('Rain')", "PYTHON", "c", Engine.SESSION),
        CodeExecutionResult(
            "done\n",
            outcome=OUTCOME_OK,
            call_id="c",
            engine=Engine.SESSION,
            files=tuple(WrittenFile(name, 3, AT.isoformat(), is_new=True) for name in ("kept.csv", "lost.csv")),
        ),
        Display({"text/html": wide_html(100, 3)}),
        Display({"text/markdown": MARKDOWN}),
        Display({"application/json": {"a": 1}}),
        *EXAMPLES.values(),
    ]
    graph = Attachment(pk=uuid.UUID(int=3), name="g.png", mime_type="image/png", width=64, height=48, is_graph=True)
    kept = Attachment(pk=uuid.UUID(int=4), name="kept.csv", mime_type="text/csv")
    other = Attachment(pk=uuid.UUID(int=5), name="other.csv", mime_type="text/csv")
    return MessageRecord(
        message,
        turn,
        parts,
        attachments=[PlacedAttachment(graph, 0, 2), PlacedAttachment(kept, 1, None), PlacedAttachment(other, 2, None)],
        feedback=Feedback(message=message, is_good=False, reason="too short"),
        is_live=turn.is_live,
        approval=approval,
    )


def make_question() -> MessageRecord:
    """Return a question that consists of code alone."""
    message = Message(pk=uuid.UUID(int=6), role="user", text="```python\nx = 1\n```", created_at=AT)
    return MessageRecord(message)


def html_for(reader: Reader, record: MessageRecord | None = None) -> str:
    return message_html(message_view(record or make_record(), reader))


ALL = {*READERS}
OWN = {"owner"}
OWN_AND_STAFF = {"owner", "staff"}

SHOWN_TO = {
    # Actions of the owner alone. Data for them, such as URLs, are left out for others too.
    'data-action="regenerate"': OWN,
    'title="Copy"': OWN,
    "/text/": OWN,
    'data-action="continue"': OWN,
    'data-action="rate"': OWN,
    "too short": OWN,
    'data-action="rerun"': OWN,
    'data-action="show-code"': OWN,
    'data-action="copy-image"': OWN,
    'data-action="change-graph"': OWN,
    'data-action="preview"': OWN,
    'data-action="keep-file"': OWN,
    "/session/files/lost.csv": OWN,
    "They end with the Python session.": OWN,
    ", in storage": OWN,
    # Elements that need scripts.
    'data-action="copy"': OWN_AND_STAFF,
    'data-action="sort"': OWN_AND_STAFF,
    'data-action="all-rows"': OWN_AND_STAFF,
    'data-action="copy-csv"': OWN_AND_STAFF,
    'class="table-actions"': OWN_AND_STAFF,
    # How the answer was made.
    "Google Gemini, endpoint inner-server": {"owner", "staff", "export"},
    "temperature 0.5": OWN_AND_STAFF,
    "The question asks for a plot.": OWN_AND_STAFF,
    "<dt>Tokens read</dt>": OWN_AND_STAFF,
    "$1.50": OWN_AND_STAFF,
    "<dt>Cost</dt>": OWN_AND_STAFF,
    "<dt>Web searches</dt>": OWN_AND_STAFF,
    "<dt>Requests to the model</dt>": OWN_AND_STAFF,
    "<dt>Model</dt><dd>Model One</dd>": ALL,
    "<dt>Where code runs</dt><dd>in the Python session</dd>": ALL,
    "<dt>Answered in</dt><dd>4.0 s</dd>": ALL,
    "2026-01-01 12:30 UTC": ALL,
    # The message itself.
    "plt.": ALL,
    "done\n": ALL,
    "<figcaption><span>Rain</span>": ALL,
    "<bdi>lost.csv</bdi>": ALL,
    "Kept as attachment": ALL,
    'href="https://example.org/"': ALL,
    "<q>rain</q>": ALL,
    "The answer reached its length limit.": ALL,
    # Files.
    'src="/attachments/': OWN,
    'src="/staff-files/': {"staff"},
    'href="/guest-files/00000000-0000-0000-0000-000000000004/" download="kept.csv"': {"guest"},
    '<span class="zoom"><img src="nonce:00000000-0000-0000-0000-000000000003"': {"export"},
}


@pytest.mark.parametrize("text", SHOWN_TO)
def test_each_kind_of_reader_sees_only_the_content_that_is_allowed_for_it(text: str) -> None:
    assert {name for name, reader in READERS.items() if text in html_for(reader)} == SHOWN_TO[text]


def test_guests_and_exports_get_no_buttons_and_no_internal_urls_except_those_of_files() -> None:
    for name in ("guest", "export"):
        html = html_for(READERS[name]) + html_for(READERS[name], make_question())
        assert not re.search(r"<button|data-action|data-(?:state-)?url|aria-sort|data-column", html)
    for name, reader in READERS.items():
        urls = re.findall(r' (?:src|href|data-url|data-state-url)="(?!#)([^"]*)"', html_for(reader))
        others = {
            url for url in urls if not url.startswith((reader.file_url(uuid.UUID(int=0))[:7], "data:", "https://"))
        }
        assert bool(others) == (name == "owner")


def test_staff_see_only_buttons_to_copy_sort_and_save() -> None:
    html = html_for(READERS["staff"]) + html_for(READERS["staff"], make_question())
    actions = set(re.findall(r'data-action="([^"]*)"', html))
    assert actions == {"copy", "sort", "all-rows", "copy-csv", "save-csv"}
    assert html.count("<button") == html.count("data-action=")


def test_only_the_owner_sees_the_approval_buttons_of_a_waiting_answer() -> None:
    approval = Approval("c", ApprovalKind.CALL, "run_python", {"code": "secret()"}, "secret()")
    record = make_record(status=Turn.Status.WAITING, approval=approval)
    for name, reader in READERS.items():
        html = html_for(reader, record)
        for text in ('data-action="approve"', "secret", "Waiting for you.", "You can stop it below."):
            assert (text in html) == (name == "owner")


def test_question_has_the_heading_you_only_for_its_owner() -> None:
    for name, reader in READERS.items():
        html = html_for(reader, make_question())
        words = ("You, <time", "Your code", 'data-action="edit"')
        assert [word in html for word in words] == [name == "owner"] * 3
        assert ("Question, <time" in html) == (name != "owner")
