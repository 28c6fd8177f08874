"""The facts about a model come with the request. The provider reads them only if they are missing there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.providers.requests import GenerateRequest
from tests.chat.providers.openai_driver import make_request, read_answer
from tests.openai_endpoints import EndpointsInMemory

PLACE = "generic", "text"
"""Endpoint and model of the requests."""


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models whose facts were read."""
    read: list[str] = []
    facts = EndpointsInMemory.facts

    def record(self: EndpointsInMemory, endpoint: object, model: str) -> ModelFacts:
        read.append(model)
        return facts(self, endpoint, model)  # type: ignore[arg-type]  # an endpoint

    monkeypatch.setattr(EndpointsInMemory, "facts", record)
    return read


def request_with_known(provider: OpenAICompatibleProvider, reads: list[str]) -> GenerateRequest:
    request = replace(make_request("text"), known=provider.capabilities("text").known)
    reads.clear()
    return request


async def test_facts_are_not_read_again_if_the_request_contains_them(
    openai_provider: OpenAICompatibleProvider, reads: list[str]
) -> None:
    EndpointsInMemory.known[PLACE] = ModelFacts(is_probed=True)
    request = request_with_known(openai_provider, reads)
    assert (await read_answer(openai_provider, request)).content().text
    assert reads == []


async def test_facts_are_read_if_the_request_does_not_have_them(
    openai_provider: OpenAICompatibleProvider, reads: list[str]
) -> None:
    EndpointsInMemory.known[PLACE] = ModelFacts(is_probed=True)
    assert (await read_answer(openai_provider, make_request("text"))).content().text
    assert reads == ["text"]


async def test_facts_that_were_stored_during_the_request_are_not_overwritten(
    openai_provider: OpenAICompatibleProvider, reads: list[str]
) -> None:
    request = request_with_known(openai_provider, reads)
    learned = ModelFacts(is_probed=True, refuses=frozenset({"temperature"}))
    EndpointsInMemory.known[PLACE] = learned
    assert (await read_answer(openai_provider, request)).content().text
    assert EndpointsInMemory.known[PLACE] == learned
