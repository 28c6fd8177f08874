"""The log of a live turn: every change can be written as a row and read back."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from chat.messages.changes import (
    AnswerAttachment,
    ApprovalRequested,
    AttachmentAdded,
    AttemptRestarted,
    CallDecided,
    Change,
    EngineMoved,
    MessagesLeftOut,
    OutputCut,
    PartReplaced,
    PartStarted,
    Reported,
    ResultHeld,
    RoundStarted,
    StateSent,
    TextAppended,
    ThoughtEnded,
    ToolStarted,
    Waited,
)
from chat.messages.log import coalesce_changes, from_row, to_row
from chat.vocabulary.parts import CodeExecutionResult, Engine, FunctionResponse, Text
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    Report,
    ResponseIdentified,
    Source,
    SourcesReported,
    Usage,
    UsageReported,
)

REPORTS: list[Report] = [
    UsageReported(Usage(prompt=1, total=2), {"promptTokenCount": 1}),
    Finished(Finish.LENGTH, "MAX_TOKENS", "too long"),
    ResponseIdentified("r-1", "model-1"),
    SourcesReported("groundingMetadata", (Source("https://example.org", "Example"),), ("rain",)),
    MetadataReported("safetyRatings", [{"category": "A"}]),
]
CHANGES: list[Change] = [
    PartStarted(0, Text("a", round=2, provider_data={"thought_signature": "cw=="}), None),
    PartStarted(1, Text("b"), attachment=3),
    TextAppended(1, "c"),
    PartReplaced(2, CodeExecutionResult(output="1", outcome="OUTCOME_OK", engine=Engine.SESSION, made_by="c")),
    OutputCut(2, 5, "100 %", cleared=("working",), left_out=1),
    ThoughtEnded(0, 4200),
    AttachmentAdded(AnswerAttachment(0, 1, "id", "graph-1.png", "image/png", 10, "ab", 8, 6, is_graph=True)),
    *(Reported(report) for report in REPORTS),
    RoundStarted(1),
    ToolStarted("c"),
    ResultHeld(FunctionResponse("run", {"output": [1, None]}, "c", is_error=True)),
    ApprovalRequested("c", "a", is_result=True),
    CallDecided("c", "a", is_approved=True, code="print(2)", is_timeout=True),
    Waited("Asking again in 2 s…"),
    EngineMoved("The code ran out of time."),
    StateSent("The session holds x."),
    MessagesLeftOut(4),
    AttemptRestarted(1),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: type(change).__name__)
def test_change_that_is_written_as_a_log_row_and_read_back_is_equal(change: Change) -> None:
    name, data = to_row(change)
    assert from_row(name, json.loads(json.dumps(data))) == change


def test_test_data_contain_every_type_of_change_and_of_report() -> None:
    assert {type(change) for change in CHANGES} == set(get_args(Change))
    assert {type(report) for report in REPORTS} == set(get_args(Report))


def test_log_rows_of_approvals_that_lack_newer_fields_can_be_read() -> None:
    assert from_row("approval", {"call_id": "c"}) == ApprovalRequested("c", "c")
    of_result = {"call_id": "c", "is_approved": True, "is_result": True}
    assert from_row("decision", of_result) == CallDecided("c", "c/result", is_approved=True, is_result=True)


@pytest.mark.parametrize("name", ["status", "waiting"])
def test_log_row_with_the_status_of_a_turn_changes_no_part(name: str) -> None:
    assert from_row(name, {}) is None


def test_bytes_of_attachments_are_not_in_the_log() -> None:
    attachment = AnswerAttachment(0, 0, "id", "a.png", "image/png", 1, "ab", 8, 6, is_graph=True, data=b"x")
    assert "data" not in to_row(AttachmentAdded(attachment))[1]


def test_texts_of_one_part_are_joined_and_only_the_last_usage_is_kept() -> None:
    first, last = Reported(UsageReported(Usage(total=1))), Reported(UsageReported(Usage(total=2)))
    started = PartStarted(0, Text("a"))
    changes: list[Change] = [started, TextAppended(0, "b"), first, TextAppended(0, "c"), last]
    assert coalesce_changes(changes) == [started, TextAppended(0, "bc"), last]


def test_usage_is_not_logged_if_all_other_changes_append_text() -> None:
    assert coalesce_changes([TextAppended(0, "b"), Reported(UsageReported(Usage(total=1)))]) == [TextAppended(0, "b")]


@pytest.mark.parametrize("boundary", [AttemptRestarted(0), RoundStarted(1)])
def test_usage_reported_before_a_new_attempt_or_round_is_logged(boundary: Change) -> None:
    usage = Reported(UsageReported(Usage(total=1)))
    assert coalesce_changes([TextAppended(0, "b"), usage, boundary]) == [TextAppended(0, "b"), usage, boundary]
