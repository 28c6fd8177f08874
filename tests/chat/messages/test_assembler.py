"""From stream events to parts: what is joined, what is kept apart, what becomes an attachment."""

from __future__ import annotations

import base64
from dataclasses import replace
from itertools import count

import pytest

from chat.messages.answer import Answer
from chat.messages.assembler import Assembler
from chat.messages.changes import Change, PartReplaced, PartStarted, TextAppended
from chat.messages.log import coalesce_changes, fold, to_row
from chat.vocabulary.data_uris import ExtractedImage
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
    Thought,
)
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    PartReceived,
    StreamEvent,
    TextBecameThought,
    Usage,
    UsageReported,
)
from tests.attachments.conftest import png
from tests.printed_images import restore_images

SIGNED = {"thought_signature": "c2lnbmVk"}
CODE = ExecutableCode("plot()", language="PYTHON")


def make_assembler(*, is_code_offered: bool = False) -> Assembler:
    """Return an assembler that numbers its ids."""
    numbers = count(1)
    return Assembler(is_code_offered=is_code_offered, new_id=lambda: f"id-{next(numbers)}", now_s=lambda: 0.0)


def assemble(*parts: Part, is_code_offered: bool = False) -> Answer:
    """Return the answer of these parts. The log that they leave gives an equal one."""
    assembler = make_assembler(is_code_offered=is_code_offered)
    changes = [change for part in parts for change in assembler.add(PartReceived(part))]
    check_log(changes, assembler.answer)
    return assembler.answer


def check_log(changes: list[Change], answer: Answer) -> None:
    """Check that the log of the changes, read back, gives an equal answer."""
    from_log = fold(to_row(change) for change in coalesce_changes(changes))
    assert from_log.parts == answer.parts
    assert from_log.text == answer.text
    assert from_log.attachments == answer.attachments
    assert from_log.part_attachments == answer.part_attachments


def without_durations(parts: list[Part]) -> list[Part]:
    """Return the parts without the times that the assembler measured."""
    return [
        replace(part, duration_ms=None) if isinstance(part, Thought | CodeExecutionResult) else part for part in parts
    ]


def result(output: str | None) -> CodeExecutionResult:
    """Return the result of a successful run."""
    return CodeExecutionResult(output=output, outcome=OUTCOME_OK)


def image(data: bytes, mime_type: str = "image/png") -> InlineData:
    """Return an image of these bytes."""
    return InlineData(mime_type, data=data)


def running(output: str) -> CodeExecutionResult:
    """Return an increment of output of code that still runs in the session."""
    return CodeExecutionResult(output=output, call_id="c", engine=Engine.SESSION)


def ended(output: str | None) -> CodeExecutionResult:
    """Return the result of code of the session that has ended."""
    return CodeExecutionResult(output=output, outcome=OUTCOME_OK, call_id="c", engine=Engine.SESSION)


SIGNATURE = Text("", provider_data=SIGNED)
SIGNED_TEXT = Text("d", provider_data=SIGNED)
GRAPH = InlineData("image/png")
OTHER = CodeExecutionResult(output="2", outcome=OUTCOME_OK, call_id="d", engine=Engine.SESSION)
UNSTORABLE_CALL = FunctionCall("f\0", {"\0": ["\ud800", 1]}, "\0", provider_data={"x": "\0"})
STORABLE_CALL = FunctionCall("f\ufffd", {"\ufffd": ["\ufffd", 1]}, "\ufffd", provider_data={"x": "\ufffd"})

PARTS: dict[str, tuple[list[Part], list[Part]]] = {
    "text is joined, but never across provider data": (
        [Text("a"), Text("b"), SIGNATURE, Text("c"), SIGNED_TEXT, Text("e")],
        [Text("ab"), SIGNATURE, Text("c"), SIGNED_TEXT, Text("e")],
    ),
    "empty text without provider data is dropped": (
        [Text(""), CODE, Text(""), Text("x"), Text("")],
        [CODE, Text("x")],
    ),
    "thought and text are kept apart": (
        [Thought("hm"), Thought("hm"), Text("x")],
        [Thought("hmhm"), Text("x")],
    ),
    "absent output stays absent": ([CODE, result(None)], [CODE, result(None)]),
    "empty output stays empty": ([CODE, result("")], [CODE, result("")]),
    "characters of a text that databases cannot store are replaced": (
        [Text("a\0b\ud800c😀")],
        [Text("a\ufffdb\ufffdc😀")],
    ),
    "characters of a call that databases cannot store are replaced": ([UNSTORABLE_CALL], [STORABLE_CALL]),
    "native results are never joined": (
        [CODE, CodeExecutionResult(output="1"), result("2")],
        [CODE, CodeExecutionResult(output="1"), result("2")],
    ),
    "results of different calls are never joined": ([running("1"), OTHER], [running("1"), OTHER]),
    "text after a graph begins a new result, and no text is shown twice": (
        [running("1\n"), running("2\n"), image(png(1)), running("3\n"), ended("1\n2\n3\n4\n")],
        [ended("1\n2\n"), GRAPH, ended("3\n4\n")],
    ),
    "text after a graph ends where it is, without a whole result": (
        [running("1\n"), running("2\n"), image(png(1)), running("3\n"), ended(None)],
        [ended("1\n2\n"), GRAPH, ended("3\n")],
    ),
    "outcome after a graph is a result of its own": (
        [running("1\n"), image(png(1)), ended("1\n")],
        [ended("1\n"), GRAPH, ended(None)],
    ),
    "outcome after a graph is a result of its own, without a whole result": (
        [running("1\n"), image(png(1)), ended(None)],
        [ended("1\n"), GRAPH, ended(None)],
    ),
    "output that is not what was shown takes the place of the last result": (
        [running("a\n"), image(png(1)), running("50 %\r"), ended("done\n")],
        [ended("a\n"), GRAPH, ended("done\n")],
    ),
}


@pytest.mark.parametrize(("received", "expected"), PARTS.values(), ids=PARTS)
def test_stream_parts_become_parts_of_the_answer(received: list[Part], expected: list[Part]) -> None:
    answer = assemble(*received, is_code_offered=True)
    assert without_durations(answer.parts) == expected
    texts = [part.text for part in expected if isinstance(part, Text)]
    assert answer.text.replace("\n[GRAPH:0]\n", "") == "".join(texts)


def test_identical_bytes_are_one_graph_that_is_shown_where_it_was_received_first() -> None:
    answer = assemble(CODE, result("ok"), image(png(1)), image(png(1)), image(png(2)), Text("done"))
    assert [attachment.part_index for attachment in answer.attachments] == [2, 4]
    assert answer.part_attachments == {2: 0, 3: 0, 4: 1}
    assert answer.text == "\n[GRAPH:0]\n\n[GRAPH:1]\ndone"
    assert all(one.is_graph and (one.width, one.height) == (8, 6) for one in answer.attachments)


def test_image_of_a_model_is_a_graph_only_if_the_model_was_offered_code_execution() -> None:
    [attachment] = assemble(Text("look"), image(png(1))).attachments
    assert not attachment.is_graph
    [attachment] = assemble(image(png(1)), is_code_offered=True).attachments
    assert attachment.is_graph


def test_image_made_by_the_model_is_not_a_graph_if_only_a_function_ran_code() -> None:
    assembler = make_assembler()
    for part, made_by in ((CODE, "c"), (result("ok"), "c"), (image(png(1)), "c"), (image(png(2)), "")):
        assembler.add(PartReceived(part), made_by=made_by)
    assert [one.is_graph for one in assembler.answer.attachments] == [True, False]
    assert assembler.answer.text == "\n[GRAPH:0]\n\n[IMAGE:1]\n"


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [(b"<svg onload=alert(1)>", "image/svg+xml"), (b"\x89PNG\r\n\x1a\nbroken", "image/png"), (b"\0", "image/png")],
)
def test_unreadable_image_becomes_a_file_to_download(data: bytes, mime_type: str) -> None:
    answer = assemble(CODE, result("ok"), image(data, mime_type))
    [attachment] = answer.attachments
    assert attachment.mime_type == "application/octet-stream"
    assert not attachment.is_graph
    assert "[GRAPH" not in answer.text


def test_images_printed_in_an_output_become_graphs_and_the_output_can_be_restored() -> None:
    uris = ["data:image/png;base64," + base64.b64encode(png(number)).decode() for number in (1, 2, 1)]
    output = f"first {uris[0]} then {uris[1]}\nand again {uris[2]} end"
    answer = assemble(CODE, result(output), Text("so"))
    assert len(answer.attachments) == 2
    part = answer.parts[1]
    assert isinstance(part, CodeExecutionResult)
    assert part.output == "first  then \nand again  end"
    pngs = [png(1), png(2)]
    images = [
        ExtractedImage(printed.offset, printed.header, "image/png", pngs[printed.attachment], printed.line_chars)
        for printed in part.images
    ]
    assert restore_images(part.output, images) == output
    assert answer.text == "\n[GRAPH:0]\n\n[GRAPH:1]\nso"


def test_marker_that_a_model_writes_stays_text_even_if_it_arrives_in_pieces() -> None:
    answer = assemble(*(Text(character) for character in "see [GRAPH:0]"))
    assert answer.text == "see [GRAPH:0]"
    assert answer.attachments == []


def test_function_calls_have_unique_ids() -> None:
    calls = [FunctionCall("f", {}, call_id) for call_id in ("", "a", "a", "")]
    ids = [part.call_id for part in assemble(*calls).parts if isinstance(part, FunctionCall)]
    assert ids == ["id-1", "a", "id-2", "id-3"]


def test_last_reported_usage_and_finish_replace_the_earlier_ones() -> None:
    assembler = make_assembler()
    for event in (
        UsageReported(Usage(total=198)),
        Finished(Finish.STOP, "STOP"),
        UsageReported(Usage(total=46)),
        Finished(Finish.LENGTH, "MAX_TOKENS"),
    ):
        assembler.add(event)
    assert assembler.answer.usage == Usage(total=46)
    assert assembler.answer.current_round.finish is Finish.LENGTH
    assert assembler.answer.current_round.finish_reason == "MAX_TOKENS"


# --- output of a running tool --------------------------------------------------------------------------------------


def test_output_of_running_code_grows_and_is_then_replaced_by_the_whole_result() -> None:
    assembler = make_assembler()
    events = [PartReceived(part) for part in (running("1\n"), running("2\n"), ended("1\n2\n"))]
    changes = [change for event in events for change in assembler.add(event, made_by="c")]
    assert [type(change) for change in changes] == [PartStarted, TextAppended, PartReplaced]
    [part] = assembler.answer.parts
    assert part == CodeExecutionResult(
        output="1\n2\n", outcome=OUTCOME_OK, call_id="c", engine=Engine.SESSION, made_by="c"
    )
    check_log(changes, assembler.answer)


def test_image_printed_in_the_session_becomes_a_graph_wherever_chunks_end() -> None:
    uri = "data:image/png;base64," + base64.b64encode(png(1)).decode()
    output = f"loaded {uri}\nand a word"
    for size in (1, 2, 3, 7, 50, len(output)):
        pieces = [output[start : start + size] for start in range(0, len(output), size)]
        answer = assemble(*map(running, pieces), ended(output), is_code_offered=True)
        [attachment] = answer.attachments
        assert attachment.is_graph
        results = [part for part in answer.parts if isinstance(part, CodeExecutionResult)]
        assert "".join(part.long_text for part in results) == "loaded \nand a word"
        assert {part.outcome for part in results} == {OUTCOME_OK}
        [printed] = [printed for part in results for printed in part.images]
        assert (printed.attachment, answer.text) == (0, "\n[GRAPH:0]\n")


@pytest.mark.parametrize("wrap", [64, 76])
def test_image_printed_as_wrapped_base64_lines_becomes_a_graph_wherever_chunks_end(wrap: int) -> None:
    data = base64.b64encode(png(1)).decode()
    lines = "\n".join(data[start : start + wrap] for start in range(0, len(data), wrap))
    output = f"data:image/png;base64,{lines}\nend"
    answer = assemble(*(running(character) for character in output), ended(output), is_code_offered=True)
    assert len(answer.attachments) == 1
    assert "".join(part.long_text for part in answer.parts) == "\nend"


def test_image_that_code_prints_several_times_is_one_attachment() -> None:
    uri = "data:image/png;base64," + base64.b64encode(png(1)).decode()
    answer = assemble(*(running(f"{uri}\n") for _ in range(3)), ended(None), is_code_offered=True)
    assert len(answer.attachments) == 1
    assert [
        printed.attachment for part in answer.parts if isinstance(part, CodeExecutionResult) for printed in part.images
    ] == [0] * 3


# --- rounds and attempts --------------------------------------------------------------------------------------------


def test_parts_have_their_round_and_text_is_not_joined_across_rounds() -> None:
    assembler = make_assembler()
    changes = assembler.add(PartReceived(Text("a")))
    changes += assembler.start_round()
    changes += assembler.add(PartReceived(Text("b")))
    assert assembler.answer.parts == [Text("a"), Text("b", round=1)]
    assert assembler.answer.text == "ab"
    check_log(changes, assembler.answer)


def test_usage_is_summed_over_rounds() -> None:
    assembler = make_assembler()
    changes = assembler.add(UsageReported(Usage(prompt=10, total=12), {"promptTokenCount": 10}))
    changes += assembler.start_round()
    changes += assembler.add(UsageReported(Usage(prompt=20, candidates=1, total=22)))
    assert [one.usage for one in assembler.answer.rounds] == [
        Usage(prompt=10, total=12),
        Usage(prompt=20, candidates=1, total=22),
    ]
    assert assembler.answer.usage == Usage(prompt=30, candidates=1, total=34)
    assert fold(to_row(change) for change in coalesce_changes(changes)).usage == assembler.answer.usage


def test_answer_keeps_thoughts_and_usage_of_an_attempt_that_is_restarted() -> None:
    assembler = make_assembler()
    events: list[StreamEvent] = [
        PartReceived(Thought("hm")),
        PartReceived(Text("", provider_data=SIGNED)),
        UsageReported(Usage(total=5)),
    ]
    changes = [change for event in events for change in assembler.add(event)]
    changes += assembler.restart_attempt()
    changes += assembler.add(PartReceived(Thought("again")))
    changes += assembler.add(UsageReported(Usage(total=7)))
    assert without_durations(assembler.answer.parts) == [Thought("hm"), Thought("again")]
    assert assembler.answer.usage == Usage(total=12)
    check_log(changes, assembler.answer)


def test_duration_of_a_text_that_became_a_thought_begins_with_its_first_piece() -> None:
    clock = [0.0]
    assembler = Assembler(is_code_offered=False, new_id=str, now_s=lambda: clock[0])
    changes = assembler.add(PartReceived(Text("earlier"))) + assembler.start_round()
    changes += assembler.add(PartReceived(Text("h")))
    clock[0] = 2.0
    changes += assembler.add(PartReceived(Text("m"))) + assembler.add(TextBecameThought())
    clock[0] = 3.0
    changes += assembler.add(PartReceived(Text("4")))
    assert assembler.answer.parts == [Text("earlier"), Thought("hm", round=1, duration_ms=3_000), Text("4", round=1)]
    check_log(changes, assembler.answer)


def test_answer_keeps_earlier_rounds_when_an_attempt_is_restarted() -> None:
    assembler = make_assembler()
    call, response = FunctionCall("f", {}, "c"), FunctionResponse("f", {"a": 1}, "c")
    for part in (call, response):
        assembler.add(PartReceived(part))
    assembler.start_round()
    assembler.add(PartReceived(Text("", provider_data=SIGNED)))
    assembler.restart_attempt()
    assert assembler.answer.parts == [call, response]


def test_function_call_is_unanswered_if_it_has_no_response_in_the_current_round() -> None:
    assembler = make_assembler()
    first, second = FunctionCall("f", {}, "1"), FunctionCall("f", {}, "2")
    for part in (first, second, FunctionResponse("f", {}, "1")):
        assembler.add(PartReceived(part))
    assert assembler.answer.unanswered_calls == [second]
    assembler.start_round()
    assert assembler.answer.unanswered_calls == []
