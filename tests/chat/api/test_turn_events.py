"""The events of a turn: which log rows give an event, and that log and stored parts give the same events."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.api.session_output import Content
from chat.api.stored_events import BEFORE_FIRST, LogEvents, LogForgotten, PartsEvents, StoredEvents, open_events
from chat.api.turn_events import EVENT_DOCS, FIRST_SEQ_FROM_PARTS, Event
from chat.messages.changes import AttemptRestarted, CallDecided, ToolStarted
from chat.models import Turn, TurnEvent
from chat.vocabulary.parts import (
    OUTCOME_ABORTED,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Text,
    Thought,
)
from chat.vocabulary.stream_events import OutputsRedrawn, TextBecameThought
from tests.attachments.conftest import png
from tests.chat.api.logs import LiveTurn

pytestmark = pytest.mark.django_db

RUNNING: Content = ("status", {"status": "running"})
TABLE: JSONObject = {
    "text/html": "<table><tr><th>a</th><td>5</td></tr></table>",
    "text/plain": "<pandas.Styler at 0x1>",
}
WAITING: Content = ("status", {"status": "waiting"})


def read_all(reader: StoredEvents) -> list[Event]:
    """Return all events that are ready."""
    events: list[Event] = []
    while True:
        page = reader.next_page()
        events += page.events
        if page.is_last or not page.has_more:
            return events


def contents_of(turn: Turn) -> list[Content]:
    """Return the events of a turn's log, without their numbers."""
    return [event.content for event in read_all(LogEvents(turn.pk, BEFORE_FIRST))]


def with_joined_text(contents: list[Content]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the events. Adjacent increments of one kind are joined, and waiting is left out."""
    waiting = contents.index(WAITING) if WAITING in contents else None
    if waiting is not None:
        assert contents[waiting + 1] == RUNNING
        contents = contents[:waiting] + contents[waiting + 2 :]
    last: Content | None = None
    for name, data in contents:
        if last is not None and name == last[0] and "delta" in data:
            last = name, {"delta": f"{last[1]['delta']}{data['delta']}"}
            continue
        if last is not None:
            yield last
        last = name, data
    if last is not None:
        yield last


def write_two_rounds(live: LiveTurn) -> None:
    """Write a round whose function call needs a decision and runs code in the session, and a round without calls."""
    live.receive(Thought(text="Let me "), Thought(text="compute."), Text(text="Running "), Text(text="code: "))
    live.receive(FunctionCall(name="run_python", arguments={"code": "plot()"}, call_id="c1"))
    live.write_row(("approval", {"call_id": "c1"}))
    live.write_row(("waiting", {}))
    live.write([CallDecided("c1", "a1", is_approved=True), ToolStarted("c1")])
    live.receive(
        ExecutableCode(code="plot()", language="PYTHON", call_id="c1", engine=Engine.SESSION),
        CodeExecutionResult(output="1\n", call_id="c1", engine=Engine.SESSION),
        CodeExecutionResult(output="2\n", call_id="c1", engine=Engine.SESSION),
        Display(bundle=TABLE),
        InlineData(mime_type="image/png", data=png()),
        CodeExecutionResult(output="3\n", call_id="c1", engine=Engine.SESSION),
        CodeExecutionResult(output="3\n4\n", outcome=OUTCOME_OK, call_id="c1", engine=Engine.SESSION),
        FunctionResponse(name="run_python", result={"output": "1\n2\n"}, call_id="c1"),
        made_by="c1",
    )
    live.write(live.assembler.start_round())
    live.receive(
        Text(text="Native "),
        Text(text="", provider_data={"thought_signature": "c2ln"}),
        Text(text="code: "),
        ExecutableCode(code="1/0", language="PYTHON"),
        CodeExecutionResult(output="ZeroDivisionError", outcome=OUTCOME_FAILED),
        FileData(uri="files/1", mime_type="text/csv"),
        Text(text="Done."),
    )


def test_log_and_stored_parts_give_the_same_events() -> None:
    live = LiveTurn.create()
    write_two_rounds(live)
    turn = live.end()
    from_log = contents_of(turn)
    from_parts = [event.content for event in read_all(PartsEvents(turn.pk, BEFORE_FIRST))]
    assert list(with_joined_text(from_log)) == list(with_joined_text(from_parts))
    names = [name for name, _ in with_joined_text(from_parts)]
    assert names == [
        *("status", "thought", "text", "code_executable", "display", "graph", "code_execution_result"),
        *("text", "code_executable", "code_execution_result", "text", "status", "usage", "done"),
    ]
    [whole, _] = [data for name, data in from_log if name == "code_execution_result"]
    assert whole["code_execution_output"] == "1\n2\na | 5\n3\n4\n"
    assert [data["bundle"] for name, data in from_log if name == "display"] == [TABLE]
    assert turn.round_count == 2


def test_output_of_session_code_is_one_event_when_the_code_has_ended() -> None:
    live = LiveTurn.create()
    live.receive(
        ExecutableCode(code="plot()", language="PYTHON", call_id="c1", engine=Engine.SESSION),
        CodeExecutionResult(output="1\n", call_id="c1", engine=Engine.SESSION),
        CodeExecutionResult(output="2\n", call_id="c1", engine=Engine.SESSION),
    )
    code = ("code_executable", {"executable_code": "plot()", "code_language": "PYTHON", "id": "c1"})
    assert contents_of(live.turn) == [RUNNING, code]
    live.receive(CodeExecutionResult(output="1\n2\n", outcome=OUTCOME_OK, call_id="c1", engine=Engine.SESSION))
    result = {"code_execution_output": "1\n2\n", "code_execution_outcome": "success", "id": "c1"}
    assert contents_of(live.turn) == [RUNNING, code, ("code_execution_result", result)]


@pytest.mark.parametrize("is_followed_by_graph", [False, True])
@pytest.mark.parametrize("output", ["1\n", None])
def test_code_that_was_stopped_while_it_ran_has_one_result(*, output: str | None, is_followed_by_graph: bool) -> None:
    live = LiveTurn.create()
    live.receive(ExecutableCode(code="f()", language="PYTHON", call_id="c1", engine=Engine.SESSION))
    if output:
        live.receive(CodeExecutionResult(output=output, call_id="c1", engine=Engine.SESSION))
    if is_followed_by_graph:
        live.receive(InlineData(mime_type="image/png", data=png()))
    live.write(live.assembler.end_code(OUTCOME_ABORTED))
    turn = live.end(Turn.Status.STOPPED)
    contents = contents_of(turn)
    graph = ["graph"] if is_followed_by_graph else []
    names = ["status", "code_executable", *graph, "code_execution_result", "status", "usage", "done"]
    assert [name for name, _ in contents] == names
    [result] = [data for name, data in contents if name == "code_execution_result"]
    assert result == {"code_execution_output": output or "", "code_execution_outcome": "aborted", "id": "c1"}
    assert contents == [event.content for event in read_all(PartsEvents(turn.pk, BEFORE_FIRST))]


def test_image_that_code_of_the_session_prints_comes_before_its_result() -> None:
    uri = "data:image/png;base64," + base64.b64encode(png()).decode()
    live = LiveTurn.create()
    live.receive(
        ExecutableCode(code="f()", language="PYTHON", call_id="c1", engine=Engine.SESSION),
        CodeExecutionResult(output=f"a {uri}", outcome=OUTCOME_OK, call_id="c1", engine=Engine.SESSION),
    )
    turn = live.end()
    contents = contents_of(turn)
    assert [name for name, _ in contents][1:4] == ["code_executable", "graph", "code_execution_result"]
    assert contents == [event.content for event in read_all(PartsEvents(turn.pk, BEFORE_FIRST))]


@pytest.mark.parametrize(
    "part",
    [
        FunctionCall(name="run_python", arguments={"code": "1"}, call_id="c1"),
        FunctionResponse(name="run_python", result={"output": "1"}, call_id="c1"),
        FileData(uri="files/1", mime_type="text/csv"),
        Text(text="", provider_data={"thought_signature": "c2ln"}),
        InlineData(mime_type="application/pdf", data=b"%PDF-"),
    ],
    ids=lambda part: part.kind.value,
)
def test_parts_of_kinds_without_an_event_are_skipped(
    part: FunctionCall | FunctionResponse | FileData | Text | InlineData,
) -> None:
    live = LiveTurn.create()
    live.receive(part)
    assert contents_of(live.turn) == [RUNNING]


def test_thoughts_of_a_failed_attempt_stay_in_the_stream_before_the_second_attempt() -> None:
    live = LiveTurn.create()
    live.receive(Thought(text="Hm."))
    changes = live.assembler.restart_attempt()
    assert changes[-1] == AttemptRestarted(1)
    live.write(changes)
    live.receive(Text(text="An "), Text(text="answer."))
    assert contents_of(live.turn) == [
        RUNNING,
        ("thought", {"delta": "Hm."}),
        ("text", {"delta": "An "}),
        ("text", {"delta": "answer."}),
    ]


def test_reset_event_is_sent_when_text_becomes_a_thought() -> None:
    live = LiveTurn.create()
    live.receive(Text(text="Hm"), Text(text="."), TextBecameThought(), Text(text="An answer."))
    assert contents_of(live.turn)[3:] == [
        ("reset", {"part_index": 0, "kind": "thought", "text": "Hm."}),
        ("text", {"delta": "An answer."}),
    ]


def test_events_have_the_sequence_numbers_of_their_log_rows() -> None:
    live = LiveTurn.create()
    write_two_rounds(live)
    turn = live.end()
    events = read_all(LogEvents(turn.pk, BEFORE_FIRST))
    rows = dict(TurnEvent.objects.filter(turn=turn).values_list("seq", "name"))
    last_row = max(seq for seq, name in rows.items() if name != "status")
    assert [event.seq for event in events[-3:]] == [last_row + 1, last_row + 2, last_row + 3]
    numbers = [event.seq for event in events[:-3]]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 0
    assert set(numbers[1:]) <= set(rows)


@pytest.mark.parametrize("has_log", [True, False])
def test_stream_can_be_resumed_after_every_event(*, has_log: bool) -> None:
    live = LiveTurn.create()
    write_two_rounds(live)
    turn = live.end()
    if not has_log:
        TurnEvent.objects.filter(turn=turn).delete()
    reader = open_events(turn, BEFORE_FIRST)
    assert reader is not None
    events = read_all(reader)
    assert (events[0].seq == 0) is has_log
    for position, event in enumerate(events):
        resumed = open_events(turn, event.seq)
        assert resumed is not None
        assert resumed.is_at_end() is (position == len(events) - 1)
        assert read_all(resumed) == events[position + 1 :]


def test_stream_cannot_be_resumed_after_an_event_of_a_deleted_log() -> None:
    live = LiveTurn.create()
    live.receive(Text(text="An answer."))
    turn = live.end()
    TurnEvent.objects.filter(turn=turn).delete()
    assert open_events(turn, 1) is None
    assert open_events(turn, FIRST_SEQ_FROM_PARTS) is not None


def test_events_are_read_from_stored_parts_once_the_log_is_about_to_be_deleted() -> None:
    live = LiveTurn.create()
    live.receive(Text(text="An answer."))
    turn = live.end()
    reader = open_events(turn, BEFORE_FIRST)
    assert reader is not None
    Turn.objects.filter(pk=turn.pk).update(log_kept_until=timezone.now() + timedelta(seconds=30))
    with pytest.raises(LogForgotten):
        reader.next_page()
    turn.refresh_from_db()
    assert isinstance(open_events(turn, BEFORE_FIRST), PartsEvents)


def test_documentation_names_every_event_and_its_fields() -> None:
    live = LiveTurn.create()
    write_two_rounds(live)
    documented = {name: set(re.findall(r"(\w+)[?:,}]", fields)) for name, fields, _ in EVENT_DOCS}
    for name, data in contents_of(live.end(Turn.Status.INTERRUPTED)):
        assert set(data) <= documented[name], name


@pytest.mark.parametrize("outcome", ["OUTCOME_OF_TOMORROW", "OUTCOME_UNSPECIFIED", ""])
def test_unknown_outcome_of_code_is_sent_as_an_error(outcome: str) -> None:
    live = LiveTurn.create()
    live.receive(ExecutableCode(code="1", language="PYTHON"), CodeExecutionResult(output="1\n", outcome=outcome))
    [result] = [data for name, data in contents_of(live.turn) if name == "code_execution_result"]
    assert result["code_execution_outcome"] == "error"


def test_reset_event_is_sent_when_code_redraws_its_output() -> None:
    live = LiveTurn.create()
    graphs = [InlineData("image/png", data=png(number)) for number in (1, 2)]
    output = CodeExecutionResult(output="1 %", call_id="c1", engine=Engine.SESSION)
    live.receive(ExecutableCode(code="plot()", language="PYTHON", call_id="c1", engine=Engine.SESSION), output)
    for parts in (
        (replace(output, output="2 %"),),
        (graphs[0], output),
        (graphs[1], Display({"text/plain": "a table"}), replace(output, output="3 %")),
    ):
        live.write(live.assembler.add(OutputsRedrawn(parts, call_id="c1")))
    live.receive(replace(output, output=" done"))
    live.receive(replace(output, output="3 % done", outcome=OUTCOME_OK))
    events = contents_of(live.turn)[2:]

    def reset(index: int, text: str) -> tuple[str, dict[str, object]]:
        return "reset", {"part_index": index, "kind": "code_execution_result", "text": text}

    assert [data["index"] if name == "graph" else name for name, data in events if name != "reset"] == [
        *(0, 0),
        "display",
        "code_execution_result",
    ]
    resets = [event for event in events if event[0] == "reset"]
    assert resets == [
        *(reset(1, "2 %"), reset(1, ""), reset(2, "1 %"), reset(1, "")),
        reset(3, "3 %"),
    ]
    assert events[-1][1]["code_execution_output"] == "a table\n3 % done"
