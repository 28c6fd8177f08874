"""Connections and generators are closed when an answer ends or fails, or when its caller stops reading."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.providers.provider_errors import Stalled, Unauthorised
from chat.providers.requests import Content
from chat.vocabulary.parts import Role, Text
from chat.vocabulary.stream_events import PartReceived
from tests.chat.providers.openai_driver import make_request, read_answer
from tests.openai_endpoints import EndpointsInMemory
from tests.openai_server.refusals import KEY, TABLES, WRONG_KEY
from tests.openai_server.server import StandInServer
from tests.openai_server.shapes import Expected
from tests.polling import wait_until_async
from tests.sampling import sampled
from tests.scenarios.faults import BEGINNING
from tests.scenarios.texts import PLAIN


@contextmanager
def garbage_collected_generators() -> Iterator[list[str]]:
    """Collect the names of asynchronous generators that the garbage collector has to close.

    The garbage collector may run in any thread, and does not wait until a generator is closed.
    """
    collected: list[str] = []
    is_collecting = False
    hooks = sys.get_asyncgen_hooks()

    def note(generator: AsyncGenerator[Any, Any]) -> None:
        if is_collecting:
            collected.append(getattr(generator, "__qualname__", ""))
        if hooks.finalizer is not None:
            hooks.finalizer(generator)

    gc.collect()
    gc.disable()
    sys.set_asyncgen_hooks(finalizer=note)
    try:
        yield collected
        is_collecting = True
        gc.collect()
    finally:
        gc.enable()
        sys.set_asyncgen_hooks(finalizer=hooks.finalizer)


@pytest.mark.parametrize(
    "model",
    sampled(
        ["text", "no-json-in-an-event", "error-in-data", "page-of-html", "reset", "error-as-event", "http-busy"], 3
    ),
)
async def test_all_generators_are_closed_when_an_answer_ends_or_fails(
    openai_provider: OpenAICompatibleProvider, model: str
) -> None:
    with garbage_collected_generators() as collected:
        # Do not keep the answer: the traceback of its error would keep frames and generators alive.
        await read_answer(openai_provider, make_request(model))
    assert collected == []


async def test_request_is_closed_when_the_caller_stops_reading(
    openai_provider: OpenAICompatibleProvider, stand_in: StandInServer
) -> None:
    before = len(stand_in.journal)
    with garbage_collected_generators() as collected:
        async with aclosing(openai_provider.stream(make_request("stall"))) as stream:
            async for events in stream:
                if any(isinstance(event, PartReceived) for event in events):
                    break
    assert collected == []
    [entry] = stand_in.journal[before:]
    await wait_until_async(entry.closed.is_set)


async def test_request_is_closed_when_the_reading_task_is_cancelled_before_the_first_part(
    openai_provider: OpenAICompatibleProvider, stand_in: StandInServer
) -> None:
    before = len(stand_in.journal)
    reading = asyncio.create_task(read_answer(openai_provider, make_request("stall-at-start")))
    await wait_until_async(lambda: len(stand_in.journal) > before)
    reading.cancel()
    await asyncio.wait([reading])
    [entry] = stand_in.journal[before:]
    await wait_until_async(entry.closed.is_set)


@pytest.mark.parametrize("model", ["stall-at-start", "stall"])
async def test_request_to_a_silent_server_ends_at_the_time_limit(
    openai_provider: OpenAICompatibleProvider, stand_in: StandInServer, settings: Settings, model: str
) -> None:
    settings.PROVIDER_FIRST_BYTE_LIMIT_S = settings.PROVIDER_IDLE_LIMIT_S = 1.0
    before = len(stand_in.journal)
    with garbage_collected_generators() as collected:
        content = (await read_answer(openai_provider, make_request(model))).content()
    assert collected == []
    assert (content.error, content.text) == (Stalled.code, BEGINNING if model == "stall" else "")
    [entry] = stand_in.journal[before:]
    await wait_until_async(entry.closed.is_set)


async def test_key_is_sent_and_never_shown_in_an_error(
    stand_in: StandInServer, openai_provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = OpenAICompatibleProvider("openai")
    answer = await read_answer(strict, make_request("text"))
    assert (answer.error, answer.content().text) == (None, PLAIN)
    monkeypatch.setattr(EndpointsInMemory, "key", "sk-wrong")
    answer = await read_answer(strict, make_request("text"))
    assert isinstance(answer.error, Unauthorised)
    assert "sk-wrong" not in answer.error.detail
    assert KEY not in answer.error.detail
    await strict.aclose()


CODES = {"key": "unauthorised", "model": "model_not_found", "long-context": "context_too_long"}
REFUSED = [(server, mistake) for server, table in TABLES.items() for mistake in table if mistake in CODES]


@pytest.mark.parametrize(("profile", "mistake"), REFUSED)
async def test_same_mistake_gives_the_same_error_code_for_every_kind_of_server(
    openai_provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch, profile: str, mistake: str
) -> None:
    if mistake == "key":
        monkeypatch.setattr(EndpointsInMemory, "key", WRONG_KEY)
    model = {"model": "nothing", "long-context": "context-300/text"}.get(mistake, "text")
    question = Content(Role.USER, (Text("word " * 500),))
    async with aclosing(OpenAICompatibleProvider(profile)) as provider:
        answer = await read_answer(provider, make_request(model, question, functions=()))
    assert answer.content() == Expected(finish=None, error=CODES[mistake])


async def test_models_that_a_server_lists_are_returned(openai_provider: OpenAICompatibleProvider) -> None:
    [listed] = [one for one in await openai_provider.list_models() if one.name == "context-4096/text"]
    assert (listed.context_tokens, listed.functions, listed.images) == (4096, True, True)


@pytest.mark.parametrize(
    ("profile", "model", "facts"),
    [
        # Ollama reports the model's own context size, not the size with which the model is loaded, so it is ignored.
        ("ollama", "text", ModelFacts(None, functions=True, images=True)),
        ("ollama", "no-tools/text", ModelFacts(None, functions=False, images=True)),
        ("ollama", "text-only/text", ModelFacts(None, functions=True, images=False)),
        ("ollama", "nothing", ModelFacts()),
        ("llamacpp", "text", ModelFacts(32768, functions=True, images=True)),
    ],
)
async def test_facts_about_a_model_are_requested_from_its_server_before_the_first_answer(
    openai_provider: OpenAICompatibleProvider, profile: str, model: str, facts: ModelFacts
) -> None:
    async with aclosing(OpenAICompatibleProvider(profile)) as provider:
        await read_answer(provider, make_request(model, functions=()))
    assert EndpointsInMemory.known == {(profile, model): replace(facts, is_probed=True)}
