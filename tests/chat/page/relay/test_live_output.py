"""Output that a page shows while its code runs: what was sent is not sent again, and the page equals a reloaded one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.messages.answer import Answer
from chat.messages.changes import PartStarted, TextAppended
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
from chat.vocabulary.stream_events import PartReceived
from tests.attachments.conftest import png
from tests.chat.page.relay.live_page import TURN, LivePage, render_whole
from tests.time_growth import GROWTH_LIMIT, time_growth

CODE = ExecutableCode("run()", "PYTHON", engine=Engine.SESSION)
OUTPUT = CodeExecutionResult(engine=Engine.SESSION)
GRAPHS = [InlineData("image/png", data=png(number)) for number in (1, 2, 3)]
TABLE = Display({"text/plain": "a table"})
LINE = "a line of output that says how far the code has come\n"
SPAN = re.compile(r"<span id=\"[^\"]*-tail\">(.*?)</span></pre>", re.DOTALL)


def printed(text: str) -> CodeExecutionResult:
    """Return output of code that runs."""
    return replace(OUTPUT, output=text)


def frames_of(outputs: Sequence[str]) -> list[str]:
    """Return the frames that show outputs, each in one frame."""
    page = LivePage()
    page.receive([CODE])
    return [page.live.update(page.assembler.add(PartReceived(printed(output)))) for output in outputs]


def test_frame_does_not_grow_with_the_output_before_it() -> None:
    first, *frames = map(len, frames_of([LINE] * 500))
    assert set(frames) == {frames[0]}
    assert frames[0] < first + len(LINE)


def test_frame_of_a_line_without_an_end_does_not_grow() -> None:
    _, *frames = map(len, frames_of(["."] * 500))
    assert set(frames) == {frames[0]}


def test_frame_that_extends_an_output_is_paced_like_one_that_extends_a_text() -> None:
    """The page merges frames that append to the closed part, and then replace the tail."""
    *_, frame = frames_of([LINE, f"{LINE}\x1b[3"])
    swaps = re.findall(r'hx-target="#([^"]+-tail)" hx-swap="(\w+)">(.*?)</hx-partial>', frame, flags=re.DOTALL)
    assert [(method, html) for _, method, html in swaps] == [("beforebegin", LINE), ("innerMorph", "\x1b[3")]
    assert frame.count("<hx-partial") == 2


def test_time_of_an_output_grows_with_its_length() -> None:
    def stream(pieces: int) -> None:
        live = LiveMessage(TURN, Answer())
        live.update([PartStarted(0, CODE), PartStarted(1, OUTPUT)])
        for _ in range(pieces):
            live.update([TextAppended(1, LINE * 20)])

    assert time_growth(stream, 1600) < GROWTH_LIMIT


def test_outcome_replaces_the_result_at_the_end_of_its_code() -> None:
    page = LivePage()
    page.receive([CODE, printed("1\n")])
    page.receive([printed("2\x1b[")])
    assert 'data-outcome=""' in page.parts_html
    assert SPAN.findall(page.parts_html) == ["\x1b["]
    page.receive([replace(printed("1\n2\x1b[0m"), outcome=OUTCOME_OK)])
    page.check()
    assert 'data-outcome="success"' in page.parts_html
    assert SPAN.findall(page.parts_html) == [""]


@pytest.mark.parametrize("final", ["done\n", "", " \n", "100 %\rdone"])
def test_final_output_that_differs_replaces_what_was_shown(final: str) -> None:
    page = LivePage()
    page.receive([CODE, printed("10 %\r")])
    page.receive([printed("100 %")])
    page.receive([replace(printed(final), outcome=OUTCOME_OK)])
    page.check()
    assert "10 %" not in page.parts_html
    assert ("<pre tabindex" in page.parts_html.rpartition("</details>")[2]) == bool(final.strip())


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
RUN = st.lists(st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from([*GRAPHS, TABLE])), max_size=16)
ENDS = st.sampled_from(["whole", "more", "other", "without output", "stopped", "lost", "running"])


def run_parts(outputs: Sequence[Part], end: str) -> list[Part]:
    """Return code, its outputs, and the result with the outcome that its service sends, if it does."""
    whole = "".join(output.long_text for output in outputs)
    finals = {"whole": whole, "more": f"{whole}more\x1b[0m\r\n", "other": "other\r\n", "without output": None}
    if end not in finals:
        return [CODE, *outputs]
    return [
        CODE,
        *outputs,
        replace(OUTPUT, output=finals[end], outcome=OUTCOME_OK if end == "whole" else OUTCOME_FAILED),
    ]


@given(runs=st.lists(st.tuples(RUN, ENDS), min_size=1, max_size=3), data=st.data())
def test_output_in_any_pieces_looks_like_a_page_that_is_loaded_later(
    runs: Sequence[tuple[Sequence[Part], str]], data: st.DataObject
) -> None:
    """After each frame, the page equals one that is loaded at this time: by a second tab, or after a reconnection."""
    page = LivePage()
    for outputs, end in runs:
        frame: list[Part] = []
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


def test_page_that_joined_before_the_end_of_an_output_shows_its_outcome() -> None:
    before = LivePage()
    before.receive([CODE, printed("1\n")])
    after = LivePage()
    after.assembler, after.log, after.page = before.assembler, before.log, before.page
    after.live = LiveMessage(TURN, before.assembler.answer)
    after.show(after.assembler.end_code(OUTCOME_LOST))
    assert 'data-outcome="lost"' in after.parts_html
    assert after.parts_html == render_whole(after.assembler.answer)
