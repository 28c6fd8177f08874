"""The sum of a live message's swaps is the message rendered whole, wherever its text was cut."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.fragments import part_html, part_view, status_html
from chat.models import Message, Turn
from chat.parts import OUTCOME_OK, Part, PartKind, PartReceived
from chat.rendering.stream import split_markdown
from chat.turns.answer import Answer, Change, LeftOut, Waited
from chat.turns.assembler import Assembler
from chat.turns.live_message import STREAMED, LiveMessage
from chat.turns.log import Row, coalesced, fold, to_row
from chat.turns.transcript import answer_view, found_attachment_view
from tests.chat.providers.recordings import WHY_NOT, Recording, recordings
from tests.dom import Page

MESSAGE_ID = uuid.UUID(int=7)
TURN = Turn(message=Message(pk=MESSAGE_ID, created_at=datetime(2026, 1, 1, tzinfo=UTC)), status=Turn.Status.RUNNING)
EMPTY_PAGE = f'<div id="message-{MESSAGE_ID}-parts"></div>' + status_html(answer_view(TURN.message, TURN, Answer()))

needs_recordings = pytest.mark.skipif(not recordings(), reason=WHY_NOT)


def whole(answer: Answer) -> str:
    """All parts as a reload renders them."""
    html = ""
    for index, part in enumerate(answer.parts):
        shown = [found_attachment_view(found) for found in answer.attachments if found.part_index == index]
        html += part_html(part_view(MESSAGE_ID, index, part, shown))
    return html


def shown_live(rounds: Iterable[list[PartReceived]]) -> tuple[str, Answer]:
    """The page after one swap a round, and the answer read back from the log that the rounds leave."""
    numbers = iter(range(1, 1000))
    assembler = Assembler(code_execution=True, new_id=lambda: str(uuid.UUID(int=next(numbers))))
    live, page, log = LiveMessage(TURN), Page(EMPTY_PAGE), []
    for events in rounds:
        changes: list[Change] = coalesced(change for event in events for change in assembler.add(event))
        log += [to_row(change) for change in changes]
        page.swap(live.update(changes))
    read_back = fold(log)
    assert read_back.parts == assembler.answer.parts
    assert read_back.text == assembler.answer.text
    texts = {index: part.text or "" for index, part in enumerate(read_back.parts) if part.kind in STREAMED}
    assert live.halves() == {index: split_markdown(text) for index, text in texts.items()}
    return page.ids[f"message-{MESSAGE_ID}-parts"].inner(), read_back


def cut_at_every_character(parts: Iterable[Part]) -> list[list[PartReceived]]:
    rounds = []
    for part in parts:
        if part.is_open_text and part.text:
            rounds += [[PartReceived(Part(part.kind, text=character))] for character in part.text]
        else:
            rounds.append([PartReceived(part)])
    return rounds


@needs_recordings
@pytest.mark.parametrize("recorded", [one for one in recordings() if one.http_status == 200], ids=lambda one: one.name)
def test_recording_cut_at_every_character_looks_like_the_whole(recorded: Recording) -> None:
    live, answer = shown_live(cut_at_every_character(recorded.parts))
    undisturbed, _ = shown_live([[PartReceived(part) for part in recorded.parts]])
    assert live == whole(answer)
    assert live == undisturbed


TEXTS = st.lists(
    st.sampled_from(
        ["# A\n", "text ", "\n", "\n\n", "- a\n", "  - b\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "```python\n",
         "x = 1\n", "```\n", "[GRAPH:0]", "[GRA", "PH:0]", "**b", "**", "> q\n", "1. n\n", "[x]: http://x\n", "[x]",
         "<b>", "$a$", "===\n", "---\n", "    code\n", "\r\n", "é", "𝒳"]
    ),
    max_size=30,
)  # fmt: skip
PARTS = st.lists(
    st.one_of(
        TEXTS.map(lambda words: [Part(PartKind.TEXT, text=word) for word in words]),
        TEXTS.map(lambda words: [Part(PartKind.THOUGHT, text=word) for word in words]),
        st.just([Part(PartKind.TEXT, text="", thought_signature=b"s")]),
        st.just([Part(PartKind.TEXT, text="signed", thought_signature=b"s")]),
        st.just([Part(PartKind.EXECUTABLE_CODE, text="print(1)", language="PYTHON")]),
        st.just([Part(PartKind.CODE_EXECUTION_RESULT, text="1\n", outcome=OUTCOME_OK)]),
    ),
    max_size=6,
)


@given(parts=PARTS, data=st.data())
def test_any_parts_in_any_rounds_look_like_the_whole(parts: list[list[Part]], data: st.DataObject) -> None:
    events = [PartReceived(part) for group in parts for part in group]
    rounds: list[list[PartReceived]] = [[]]
    for event in events:
        rounds[-1].append(event)
        if data.draw(st.booleans()):
            rounds.append([])
    live, answer = shown_live(rounds)
    assert live == whole(answer)


BLANKS = st.lists(
    st.one_of(
        TEXTS.map(lambda words: [Part(PartKind.THOUGHT, text=word) for word in words]),
        st.just([Part(PartKind.TEXT, text="", thought_signature=b"s")]),
        st.just([Part(PartKind.THOUGHT, text="signed", thought_signature=b"s")]),
    ),
    max_size=3,
)


@given(attempts=st.lists(BLANKS, max_size=3), last=PARTS, data=st.data())
def test_attempts_that_gave_nothing_to_see_look_like_the_whole(
    attempts: list[list[list[Part]]], last: list[list[Part]], data: st.DataObject
) -> None:
    numbers = iter(range(1, 1000))
    assembler = Assembler(code_execution=True, new_id=lambda: str(uuid.UUID(int=next(numbers))))
    live, page = LiveMessage(TURN), Page(EMPTY_PAGE)
    log: list[Row] = []
    pending: list[Change] = []

    def show() -> None:
        changes = coalesced(pending)
        pending.clear()
        log.extend(to_row(change) for change in changes)
        page.swap(live.update(changes))

    for number, groups in enumerate([*attempts, last]):
        if number:
            pending += assembler.restart()
            if data.draw(st.booleans()):
                pending += assembler.note(Waited(f"wait {number}"))
        if data.draw(st.booleans()):
            pending += assembler.note(LeftOut(number))
        for part in (part for group in groups for part in group):
            pending += assembler.add(PartReceived(part))
            if data.draw(st.booleans()):
                show()
    show()
    answer = fold(log)
    assert answer.parts == assembler.answer.parts
    assert page.ids[f"message-{MESSAGE_ID}-parts"].inner() == whole(answer)
    assert page.ids[f"message-{MESSAGE_ID}-status"].html() == status_html(answer_view(TURN.message, TURN, answer))
