"""The sum of a live message's swaps equals the message rendered whole, wherever its text was cut."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.answers.answer import Answer
from chat.answers.assembler import Assembler
from chat.answers.changes import Change, MessagesLeftOut, Waited
from chat.answers.log import Row, coalesce_changes, fold, to_row
from chat.fragments import RenderedText, part_html, part_view, status_html
from chat.models import Message, Turn
from chat.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
    Thought,
)
from chat.relay.live_message import LiveMessage
from chat.rendering.stream import split_markdown
from chat.stream_events import PartReceived
from chat.transcript.views import answer_view, new_attachment_view
from tests.attachments.conftest import png
from tests.dom import Page
from tests.part_examples import EXAMPLES

MESSAGE_ID = uuid.UUID(int=7)
TURN = Turn(message=Message(pk=MESSAGE_ID, created_at=datetime(2026, 1, 1, tzinfo=UTC)), status=Turn.Status.RUNNING)
EMPTY_PAGE = f'<div id="message-{MESSAGE_ID}-parts"></div>' + status_html(answer_view(TURN.message, TURN, Answer()))


class LivePage:
    """A page that follows one live answer, and the log that the answer leaves."""

    def __init__(self) -> None:
        numbers = iter(range(1, 1000))
        self.assembler = Assembler(is_code_offered=True, new_id=lambda: str(uuid.UUID(int=next(numbers))))
        self.live = LiveMessage(TURN, Answer())
        self.page = Page(EMPTY_PAGE)
        self.log: list[Row] = []

    def show(self, changes: Iterable[Change]) -> None:
        """Store the changes, and apply the frame that shows them."""
        changes = coalesce_changes(changes)
        self.log += [to_row(change) for change in changes]
        self.page.swap(self.live.update(changes))

    def receive(self, parts: Iterable[Part]) -> None:
        """Show parts in one frame."""
        self.show([change for part in parts for change in self.assembler.add(PartReceived(part))])

    @property
    def parts_html(self) -> str:
        """What the page shows of the answer."""
        return self.page.ids[f"message-{MESSAGE_ID}-parts"].inner()

    def check(self) -> None:
        """Check that a reload, which reads the log, shows the same."""
        answer = fold(self.log)
        assert answer.parts == self.assembler.answer.parts
        assert answer.text == self.assembler.answer.text
        assert self.parts_html == render_whole(answer)
        for index, rendered in self.live.rendered_texts().items():
            assert rendered == RenderedText(*split_markdown(answer.parts[index].long_text))
        status = self.page.ids[f"message-{MESSAGE_ID}-status"].html()
        assert status == status_html(answer_view(TURN.message, TURN, answer))


def render_whole(answer: Answer) -> str:
    """Render all parts as a reload does."""
    html = ""
    for index, part in enumerate(answer.parts):
        views = [new_attachment_view(one) for one in answer.attachments if one.part_index == index]
        html += part_html(part_view(MESSAGE_ID, index, part, views))
    return html


def cut(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts with each text cut at every character."""
    for part in parts:
        if isinstance(part, Text | Thought) and part.is_open_text and part.text:
            for character in part.text:
                yield replace(part, text=character)
        else:
            yield part


WORDS = st.lists(
    st.sampled_from(
        ["# A\n", "text ", "\n", "\n\n", "- a\n", "  - b\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "```python\n",
         "x = 1\n", "```\n", "[GRAPH:0]", "[GRA", "PH:0]", "**b", "**", "> q\n", "1. n\n", "[x]: http://x\n", "[x]",
         "<b>", "$a$", "===\n", "---\n", "    code\n", "\r\n", "é", "𝒳"]
    ),
    max_size=30,
)  # fmt: skip
SIGNED = {"thought_signature": "cw=="}
RUNNING = CodeExecutionResult(output="1\n", engine=Engine.SESSION)
GROUPS = st.one_of(
    WORDS.map(lambda words: [Text(word) for word in words]),
    WORDS.map(lambda words: [Thought(word) for word in words]),
    st.just([Text("", provider_data=SIGNED)]),
    st.just([Text("signed", provider_data=SIGNED)]),
    st.just([ExecutableCode("print(1)", "PYTHON"), CodeExecutionResult(output="1\n", outcome=OUTCOME_OK)]),
    st.just([RUNNING, RUNNING, CodeExecutionResult(output="1\n1\n", outcome=OUTCOME_OK, engine=Engine.SESSION)]),
    st.just([FunctionCall("f", {"a": 1}, "c"), FunctionResponse("f", {"b": 2}, "c")]),
    st.just([Display({"text/plain": "1"})]),
    st.integers(1, 2).map(lambda number: [InlineData("image/png", data=png(number))]),
)
PARTS = st.lists(GROUPS, max_size=6).map(lambda groups: [part for group in groups for part in group])


@given(parts=PARTS, data=st.data())
def test_any_parts_in_any_frames_look_like_the_whole_message(parts: Sequence[Part], data: st.DataObject) -> None:
    page = LivePage()
    frame: list[Part] = []
    for part in parts:
        frame.append(part)
        if data.draw(st.booleans()):
            page.receive(frame)
            frame = []
    page.receive(frame)
    page.check()
    texts = [index for index, part in enumerate(page.assembler.answer.parts) if isinstance(part, Text | Thought)]
    assert sorted(page.live.rendered_texts()) == texts


@given(parts=PARTS)
def test_text_that_is_cut_at_every_character_looks_like_the_whole_message(parts: Sequence[Part]) -> None:
    one_frame, many_frames = LivePage(), LivePage()
    one_frame.receive(parts)
    for part in cut(parts):
        many_frames.receive([part])
    many_frames.check()
    assert many_frames.parts_html == one_frame.parts_html


@pytest.mark.parametrize("part", EXAMPLES.values(), ids=EXAMPLES)
def test_part_of_any_kind_looks_like_the_whole_message(part: Part) -> None:
    page = LivePage()
    page.receive([Text("before"), part, Text("after")])
    page.check()


NO_ANSWER = st.lists(
    st.one_of(
        WORDS.map(lambda words: [Thought(word) for word in words]),
        st.just([Text("", provider_data=SIGNED)]),
        st.just([Thought("signed", provider_data=SIGNED)]),
    ),
    max_size=3,
).map(lambda groups: [part for group in groups for part in group])


@given(attempts=st.lists(NO_ANSWER, max_size=3), last=PARTS, data=st.data())
def test_attempts_without_an_answer_look_like_the_whole_message(
    attempts: Sequence[Sequence[Part]], last: Sequence[Part], data: st.DataObject
) -> None:
    page = LivePage()
    pending: list[Change] = []
    for number, parts in enumerate([*attempts, last]):
        if number:
            pending += page.assembler.restart_attempt()
            if data.draw(st.booleans()):
                pending += page.assembler.note(Waited(f"wait {number}"))
        if data.draw(st.booleans()):
            pending += page.assembler.note(MessagesLeftOut(number))
        for part in parts:
            pending += page.assembler.add(PartReceived(part))
            if data.draw(st.booleans()):
                page.show(pending)
                pending.clear()
    page.show(pending)
    page.check()


@given(first=PARTS, second=PARTS, data=st.data())
def test_page_that_joins_a_resumed_turn_looks_like_the_whole_message(
    first: Sequence[Part], second: Sequence[Part], data: st.DataObject
) -> None:
    """A turn that waited for a decision goes on in another process, which did not render its first part."""
    before = LivePage()
    before.receive(first)
    before.show(before.assembler.start_round())
    after = LivePage()
    after.assembler, after.log = before.assembler, before.log
    after.page, after.live = before.page, LiveMessage(TURN, before.assembler.answer)
    for part in second:
        after.receive([part])
    answer = fold(after.log)
    assert after.parts_html == render_whole(answer)
