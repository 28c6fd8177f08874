"""Outputs of a kernel become parts while the code runs, and nothing is lost when texts are joined."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from hashlib import sha256
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.messages.assembler import Assembler
from chat.python.kernels.output_reader import OutputReader
from chat.python.kernels.outputs import DisplayOutput, ErrorOutput, ImageOutput, Output, TextOutput, join_text
from chat.python.tool_set.outputs import OutputParts
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    InlineData,
    Part,
)
from chat.vocabulary.sanitize import sanitize_text
from chat.vocabulary.stream_events import OutputsRedrawn, PartReceived, ToolOutput
from tests.attachments.conftest import png


def text(output: str) -> CodeExecutionResult:
    """Return text without an outcome."""
    return CodeExecutionResult(output=output, engine=Engine.SESSION)


def ended(output: str | None, outcome: str = OUTCOME_OK) -> CodeExecutionResult:
    """Return a result with an outcome."""
    return CodeExecutionResult(output=output, outcome=outcome, engine=Engine.SESSION)


def printed(value: str) -> TextOutput:
    """Return text on stdout."""
    return TextOutput("stdout", value)


IMAGE = ImageOutput("image/png", png(1))
TABLE = DisplayOutput({"text/html": "<table>", "text/plain": "a table"})


def test_adjacent_texts_are_joined_to_one_part() -> None:
    parts = OutputParts()
    for output in (printed("1\n"), TextOutput("stderr", "2\n"), IMAGE, TABLE, printed("3")):
        parts.add(output)
    assert parts.take() == [
        text("1\n2\n"),
        InlineData("image/png", data=png(1)),
        Display({"text/html": "<table>", "text/plain": "a table"}),
        text("3"),
    ]
    assert parts.take() == []
    assert parts.graph_count == 1
    assert parts.final_result(OUTCOME_OK) == ended("1\n2\n3")


def test_final_result_repeats_all_text_that_was_taken_before() -> None:
    parts = OutputParts()
    parts.add(printed("before "))
    parts.add(IMAGE)
    parts.add(printed("a"))
    parts.take()
    parts.add(printed("b"))
    parts.take()
    assert parts.final_result(OUTCOME_OK) == ended("before ab")


def test_graph_count_includes_graphs_that_were_taken_before() -> None:
    reader, parts = OutputReader(), OutputParts()
    for kind, content in (
        ("stream", {"text": "\r1 %"}),
        ("stream", {"text": "\r2 %\n"}),
        ("display_data", {"data": {"image/png": b64encode(png(1)).decode()}}),
    ):
        for change in reader.receive(kind, content):
            parts.add(change)
    parts.take()
    assert parts.graph_count == 1


def test_final_result_of_code_that_printed_nothing_has_no_text() -> None:
    parts = OutputParts()
    assert parts.final_result(OUTCOME_OK) == ended(None)
    parts.add(IMAGE)
    assert parts.final_result(OUTCOME_OK) == ended(None)


def test_errors_and_notes_are_on_separate_lines() -> None:
    parts = OutputParts()
    parts.add_note("A new Python session was started.")
    parts.add(printed("no newline"))
    parts.add(ErrorOutput("ValueError", "bad", "Traceback\nValueError: bad"))
    parts.add(ErrorOutput("TimeoutError", "too long", ""))
    assert parts.take() == [
        text("[A new Python session was started.]\nno newline\nTraceback\nValueError: bad\nTimeoutError: too long\n")
    ]


async def test_wait_ends_when_an_output_is_added_or_wake_is_called() -> None:
    parts = OutputParts()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await parts.wait()
    asyncio.get_running_loop().call_soon(parts.add, printed("a"))
    await parts.wait()
    asyncio.get_running_loop().call_soon(parts.wake)
    await parts.wait()


OUTPUTS = st.one_of(
    st.text(max_size=5).map(printed),
    st.just(IMAGE),
    st.just(TABLE),
    st.just(ErrorOutput("ValueError", "bad", "Traceback\nValueError: bad")),
)


@given(outputs=st.lists(OUTPUTS, max_size=12), data=st.data())
def test_final_parts_do_not_depend_on_when_outputs_are_taken(outputs: list[Output], data: st.DataObject) -> None:
    def assemble(*, is_taken_often: bool) -> list[Part]:
        parts = OutputParts()
        assembler = Assembler(is_code_offered=True, new_id=lambda: "id")
        received: list[ToolOutput] = []
        for output in outputs:
            parts.add(output)
            if is_taken_often and data.draw(st.booleans()):
                received += parts.take()
        received += [*parts.take(), parts.final_result(OUTCOME_FAILED)]
        for part in received:
            assembler.add(part if isinstance(part, OutputsRedrawn) else PartReceived(part))
        return assembler.answer.parts

    often, once = assemble(is_taken_often=True), assemble(is_taken_often=False)
    assert often == once
    # A graph or a table between two texts ends the line of the first one.
    shown = "".join(part.long_text for part in often).replace("\n", "")
    printed = join_text(output for output in outputs if not isinstance(output, DisplayOutput))
    assert shown == sanitize_text(printed.replace("\n", "")) or TABLE in outputs
    assert [part.outcome for part in often if isinstance(part, CodeExecutionResult)][-1] == OUTCOME_FAILED


MESSAGES = st.lists(
    st.one_of(
        st.sampled_from(["line\n", "\r50 %", "\r100 %\n", "\b", "\x1b[A\x1b[2K", "stop"]).map(
            lambda text: ("stream", {"name": "stdout", "text": text})
        ),
        st.sampled_from(["a", "b", ""]).flatmap(
            lambda display_id: st.sampled_from([1, 2, 0]).map(
                lambda number: (
                    "display_data",
                    {
                        "data": {"image/png": b64encode(png(number)).decode()} if number else {"text/html": display_id},
                        "transient": {"display_id": display_id},
                    },
                )
            )
        ),
        st.sampled_from(["a", "b"]).flatmap(
            lambda display_id: st.sampled_from(["new", "old"]).map(
                lambda text: (
                    "update_display_data",
                    {"data": {"text/plain": text}, "transient": {"display_id": display_id}},
                )
            )
        ),
        st.booleans().map(lambda waits: ("clear_output", {"wait": waits})),
    ),
    max_size=16,
)


@given(messages=MESSAGES, data=st.data())
def test_final_parts_contain_only_outputs_that_were_not_cleared_or_replaced(
    messages: list[tuple[str, dict[str, object]]], data: st.DataObject
) -> None:
    reader, parts = OutputReader(), OutputParts()
    assembler = Assembler(is_code_offered=True, new_id=lambda: str(uuid4()))
    assembler.add(PartReceived(ExecutableCode("run()", "PYTHON", engine=Engine.SESSION)))
    parts.add_note("A note.")

    def take() -> None:
        for part in parts.take():
            assembler.add(part if isinstance(part, OutputsRedrawn) else PartReceived(part))

    for kind, content in messages:
        for output in reader.receive(kind, content):
            parts.add(output)
        if data.draw(st.booleans()):
            take()
    for output in reader.finish():
        parts.add(output)
    take()
    assembler.add(PartReceived(parts.final_result(OUTCOME_OK)))
    whole = OutputParts()
    whole.add_note("A note.")
    for output in reader.outputs:
        whole.add(output)
    expected = [part for part in whole.take() if not isinstance(part, OutputsRedrawn)]
    shown = assembler.answer.parts[1:]
    if not isinstance(expected[-1], CodeExecutionResult):
        expected.append(ended(None))
    assert [type(part) for part in shown] == [type(part) for part in expected]
    assert [part.long_text for part in shown] == [part.long_text for part in expected]
    bundles = [part.bundle for part in shown if isinstance(part, Display)]
    assert bundles == [part.bundle for part in expected if isinstance(part, Display)]
    hashes = [one.sha256 for one in assembler.answer.attachments]
    images = [part.data for part in expected if isinstance(part, InlineData)]
    assert hashes == list(dict.fromkeys(sha256(image or b"").hexdigest() for image in images))
    assert parts.graph_count == len(hashes)
