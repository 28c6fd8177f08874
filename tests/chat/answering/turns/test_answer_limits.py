"""An answer is ended when anything that it consists of grows too large, and what was received before it is stored."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TypeAlias

import pytest
from pytest_django import Settings

from chat.answering.turns import live_turn
from chat.messages.answer import Answer
from chat.messages.changes import PartStarted
from chat.messages.log import fold, to_row
from chat.models import Turn, TurnEvent
from chat.providers.google.provider import GeminiProvider
from chat.providers.requests import GenerateRequest
from chat.vocabulary.parts import FunctionCall, Text, Thought
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    PartReceived,
    ResponseIdentified,
    StreamEvent,
    Usage,
    UsageReported,
)
from tests.chat.turn_driver import ask_and_wait, new_conversation, parts_of

pytestmark = pytest.mark.django_db(transaction=True)

Answers: TypeAlias = Callable[[Iterable[list[StreamEvent]]], None]

LONG = "x" * 1_000
TEXT = PartReceived(Text("a"))
THOUGHT = PartReceived(Thought("b"))
END = Finished(Finish.STOP)


@pytest.fixture
def answers(emulated: Settings, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Let the provider answer with these lists, without a pause between frames."""
    emulated.ANSWER_LIMIT_CHARS = 10_000
    monkeypatch.setattr(live_turn, "next_frame_at", lambda now, **_: now)

    def answer(lists: Iterable[list[StreamEvent]]) -> None:
        async def stream(provider: GeminiProvider, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
            for events in lists:
                yield events

        monkeypatch.setattr(GeminiProvider, "stream", stream)

    return answer


async def ask() -> Turn:
    """Ask a question, and return its turn as stored at the end."""
    return await ask_and_wait(await new_conversation(model="scenario-text", code_execution="off"), "go")


def usage(number: int) -> UsageReported:
    return UsageReported(Usage(candidates=number), {"number": number, "text": LONG})


@pytest.mark.parametrize(
    "report",
    [
        lambda number: MetadataReported("timings", f"{number} {LONG}"),
        lambda number: ResponseIdentified(f"{number} {LONG}", "m"),
        lambda number: Finished(Finish.STOP, f"{number} {LONG}"),
    ],
    ids=["metadata", "response", "finish"],
)
@pytest.mark.parametrize("per_list", [1, 100])
async def test_answer_ends_at_its_limit_if_the_provider_sends_metadata_without_end(
    answers: Answers, report: Callable[[int], StreamEvent], per_list: int
) -> None:
    answers([report(number * per_list + one) for one in range(per_list)] for number in range(100))
    turn = await ask()
    assert (turn.status, turn.error_code) == ("failed", "limit")
    assert await TurnEvent.objects.filter(turn=turn).acount() < 20


async def test_answer_ends_at_its_limit_if_the_provider_sends_token_counts_without_end(answers: Answers) -> None:
    # Of the token counts in one list, only the last is stored and counted.
    answers([usage(number * 1_000 + one) for one in range(1_000)] for number in range(100))
    turn = await ask()
    assert (turn.status, turn.error_code) == ("failed", "limit")


async def test_repeated_token_counts_do_not_count_towards_the_limit_of_an_answer(answers: Answers) -> None:
    answers([TEXT, *([END] if number == 49 else []), usage(number)] for number in range(50))
    turn = await ask()
    assert (turn.status, turn.message.text) == ("done", "a" * 50)


async def test_answer_ends_if_function_arguments_are_too_long(answers: Answers) -> None:
    answers([[PartReceived(FunctionCall("f", {"text": 5 * LONG}, str(number)))] for number in range(4)])
    turn = await ask()
    assert (turn.status, turn.error_code) == ("failed", "limit")


async def test_answer_ends_at_its_limit_of_parts_even_if_all_arrive_in_one_list(
    answers: Answers, emulated: Settings
) -> None:
    emulated.ANSWER_PARTS_LIMIT = 20
    answers([[*[TEXT, THOUGHT] * 1_000, END]])
    turn = await ask()
    assert (turn.status, turn.error_code) == ("failed", "limit")
    assert len(await parts_of(turn)) == 21


async def test_answer_with_the_maximum_number_of_parts_is_complete(answers: Answers, emulated: Settings) -> None:
    emulated.ANSWER_PARTS_LIMIT = 20
    answers([[*[THOUGHT, TEXT] * 10, END]])
    turn = await ask()
    assert (turn.status, len(await parts_of(turn))) == ("done", 20)


def test_size_of_an_answer_is_the_same_after_it_was_read_from_its_log() -> None:
    answer = Answer()
    answer.apply(PartStarted(0, FunctionCall("f", {"text": 11 * LONG})))
    assert fold([to_row(PartStarted(0, answer.parts[0]))]).size_chars == answer.size_chars > 11_000
