"""Output that a page shows while its code runs: no output is sent twice, and the page equals a reloaded one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.relay.live_message import LiveMessage
from chat.vocabulary.parts import (
    OUTCOME_ABORTED,
    OUTCOME_FAILED,
    OUTCOME_LOST,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    InlineData,
    Part,
)
from chat.vocabulary.stream_events import OutputsRedrawn, PartReceived, ToolOutput
from tests.attachments.conftest import png
from tests.chat.page.relay.live_page import TURN, LivePage, render_whole

CODE = ExecutableCode("run()", "PYTHON", engine=Engine.SESSION)
OUTPUT = CodeExecutionResult(engine=Engine.SESSION)
GRAPHS = [InlineData("image/png", data=png(number)) for number in (1, 2, 3)]
TABLE = Display({"text/plain": "a table"})
LINE = "a line of output that says how far the code has come\n"
SPAN = re.compile(r"<span id=\"[^\"]*-tail\">(.*?)</span></span></pre>", re.DOTALL)


def printed(text: str) -> CodeExecutionResult:
    """Return output of code that runs."""
    return replace(OUTPUT, output=text)


def frames_of(outputs: Sequence[str]) -> list[str]:
    """Return the frames that show outputs, each in one frame."""
    page = LivePage()
    page.receive([CODE])
    return [page.live.update(page.assembler.add(PartReceived(printed(output)))) for output in outputs]


@pytest.mark.parametrize("piece", [LINE, "."])
def test_size_of_a_frame_does_not_grow_with_the_output_that_was_sent_before(piece: str) -> None:
    """A frame holds the new output, and the last lines or the end of a long line."""
    frames = [*map(len, frames_of([piece] * 3000))]
    assert max(frames[2000:]) <= max(frames[1000:2000])


def test_frame_that_extends_an_output_only_appends_to_the_closed_part_and_replaces_the_tail() -> None:
    """The page merges frames that append to the closed part, and then replace the tail."""
    *_, frame = frames_of([LINE * 3, f"{LINE}\x1b[3"])
    swaps = re.findall(r'hx-target="#([^"]+-tail)" hx-swap="(\w+)">(.*?)</hx-partial>', frame, flags=re.DOTALL)
    assert [(method, html) for _, method, html in swaps] == [
        ("beforebegin", LINE),
        ("innerMorph", f"{LINE}{LINE}\x1b[3"),
    ]
    assert frame.count("<hx-partial") == 2


def test_output_on_the_page_gets_an_outcome_when_its_code_has_ended() -> None:
    page = LivePage()
    page.receive([CODE, printed("1\n")])
    page.receive([printed("2\x1b[")])
    assert 'data-outcome=""' in page.parts_html
    assert SPAN.findall(page.parts_html) == ["1\n2\x1b["]
    page.receive([replace(printed("1\n2\x1b[0m"), outcome=OUTCOME_OK)])
    page.check()
    assert 'data-outcome="success"' in page.parts_html
    assert SPAN.findall(page.parts_html) == ["1\n2"]


@pytest.mark.parametrize("final", ["done\n", "", " \n", "100 %\rdone"])
def test_final_output_replaces_the_output_on_the_page_if_they_differ(final: str) -> None:
    page = LivePage()
    page.receive([CODE, printed("10 %\r")])
    page.receive([printed("100 %")])
    page.receive([replace(printed(final), outcome=OUTCOME_OK)])
    page.check()
    assert "10 %" not in page.parts_html
    assert ("<pre tabindex" in page.parts_html.rpartition("</details>")[2]) == bool(final.strip())


def joined(parts: Sequence[Part]) -> list[Part]:
    """Return outputs as a tool set sends them: no text follows another."""
    result: list[Part] = []
    for part in parts:
        if isinstance(part, CodeExecutionResult) and result and isinstance(result[-1], CodeExecutionResult):
            result[-1] = printed(result[-1].long_text + part.long_text)
        else:
            result.append(part)
    return [part for part in result if not isinstance(part, CodeExecutionResult) or part.output]


TEXTS = st.sampled_from(
    [
        "line\n",
        "no end",
        "\n",
        "\r",
        "\r\n",
        " ",
        "50 %\r",
        "<b>&",
        "\x1b[31m",
        "\x1b",
        "[0m",
        "\x1b]8;;",
        "\x07",
        "d",
        "data:",
    ]
).map(printed)
SHOWN = st.lists(st.one_of(TEXTS, st.sampled_from([*GRAPHS, TABLE])), max_size=5)
REDRAWN = st.builds(
    lambda parts, cleared: OutputsRedrawn(tuple(joined(parts)), tuple(cleared)),
    SHOWN,
    st.lists(st.sampled_from(["working", "50 %"]), max_size=1),
)
RUN = st.lists(st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from([*GRAPHS, TABLE]), REDRAWN), max_size=16)
ENDS = st.sampled_from(["whole", "more", "other", "without output", "stopped", "lost", "running"])


def run_parts(outputs: Sequence[ToolOutput], end: str) -> list[ToolOutput]:
    """Return code, its outputs, and a result with the outcome, which not every service sends."""
    whole = ""
    for output in outputs:
        if isinstance(output, OutputsRedrawn):
            whole = "".join(part.long_text for part in output.parts)
        else:
            whole += output.long_text
    finals = {"whole": whole, "more": f"{whole}more\x1b[0m\r\n", "other": "other\r\n", "without output": None}
    if end not in finals:
        return [CODE, *outputs]
    return [
        CODE,
        *outputs,
        replace(OUTPUT, output=finals[end], outcome=OUTCOME_OK if end == "whole" else OUTCOME_FAILED),
    ]


@given(runs=st.lists(st.tuples(RUN, ENDS), min_size=1, max_size=3), data=st.data())
def test_output_received_in_any_pieces_equals_the_output_on_a_page_that_is_loaded_later(
    runs: Sequence[tuple[Sequence[ToolOutput], str]], data: st.DataObject
) -> None:
    """After each frame, the page equals one that is loaded at this time: by a second tab, or after a reconnection."""
    page = LivePage()
    for outputs, end in runs:
        frame: list[ToolOutput] = []
        for part in run_parts(outputs, end):
            frame.append(part)
            if data.draw(st.booleans()):
                page.receive(frame)
                page.check()
                frame = []
        page.receive(frame)
        if end in ("stopped", "lost"):
            page.show(page.assembler.end_code(OUTCOME_ABORTED if end == "stopped" else OUTCOME_LOST))
        page.check()
        if end == "running":
            break


def test_page_that_was_opened_while_code_ran_shows_the_outcome_of_the_code() -> None:
    before = LivePage()
    before.receive([CODE, printed("1\n")])
    after = LivePage()
    after.assembler, after.log, after.page = before.assembler, before.log, before.page
    after.live = LiveMessage(TURN, before.assembler.answer)
    after.show(after.assembler.end_code(OUTCOME_LOST))
    assert 'data-outcome="lost"' in after.parts_html
    assert after.parts_html == render_whole(after.assembler.answer)


def test_redrawn_graph_keeps_its_index_and_its_html_element() -> None:
    page = LivePage()
    page.receive([CODE, GRAPHS[0], printed("epoch 0\n")])
    figure = re.findall(r'<figure id="([^"]+)"', page.parts_html)
    page.receive([OutputsRedrawn((GRAPHS[1], printed("epoch 1\n")), ("epoch 0",))])
    page.check()
    answer = page.assembler.answer
    assert re.findall(r'<figure id="([^"]+)"', page.parts_html) == figure
    assert [one.index for one in answer.attachments] == [0]
    assert (answer.cleared.texts, [one.sha256 for one in answer.cleared.graphs]) == (
        ["epoch 0"],
        [hashlib.sha256(png(1)).hexdigest()],
    )
    assert answer.text == "\n[GRAPH:0]\n"
    # The first graph is shown again: it is the same attachment, which is stored already.
    page.receive([OutputsRedrawn((GRAPHS[0],))])
    page.check()
    assert [one.index for one in answer.attachments] == [0]
    assert [one.sha256 for one in answer.cleared.graphs] == [hashlib.sha256(png(2)).hexdigest()]
    assert answer.data_bytes == len(png(1)) + len(png(2))


def test_result_of_stopped_code_contains_outputs_that_the_code_had_cleared() -> None:
    page = LivePage()
    page.receive([CODE, printed("working")])
    page.receive([OutputsRedrawn((printed("done"),), ("working",), left_out=3)])
    page.show(page.assembler.end_code(OUTCOME_ABORTED))
    page.check()
    last = page.assembler.answer.parts[-1]
    assert isinstance(last, CodeExecutionResult)
    assert (last.output, last.cleared, last.cleared_left_out) == ("done", ("working",), 3)
