"""Answers by another model of the catalogue than the requested one: the details name it, and its prices are used."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.test import AsyncClient
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.answering.turns.answer_cost import bill_answer, needs_catalogue
from chat.messages.answer_round import AnswerRound
from chat.models import ENDPOINT_PROVIDER, LanguageModel, Turn
from chat.providers.catalogue.setups import Prices, Setup
from chat.vocabulary.stream_events import Usage
from tests.chat.providers.catalogue.rows import make_model
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, new_conversation

NOTE = "Scenario Text answered: the service no longer offers scenario-other-model."


@pytest.mark.django_db(transaction=True)
async def test_page_api_and_export_name_the_model_that_answered_and_cost_uses_its_prices(
    emulated: Settings,
) -> None:
    emulated.GEMINI_EMULATED, emulated.GEMINI_API_KEY = False, "key"
    await LanguageModel.objects.all().adelete()
    asked = {"name": "scenario-other-model", "input_price": 1000, "output_price": 1000, "ends_on": date(2026, 1, 1)}
    await LanguageModel.objects.acreate(**asked)
    await LanguageModel.objects.acreate(name="scenario-text", label="Scenario Text", input_price=1, output_price=2)
    conversation = await new_conversation(model="scenario-other-model", code_execution="off")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "?", tab)
    usage = Usage(**turn.usage)
    cost = (Decimal(usage.prompt or 0) + 2 * Decimal(usage.candidates or 0)) / 1_000_000
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    assert NOTE in page
    assert (turn.model, turn.model_version, turn.model_note) == (asked["name"], "models/scenario-text-001", NOTE)
    assert turn.cost == cost

    client = AsyncClient()
    await client.aforce_login(conversation.owner)
    of_turn = (await client.get(f"/api/v1/turns/{turn.pk}/")).json()
    assert (of_turn["model_note"], Decimal(of_turn["cost"])) == (NOTE, cost)
    of_conversation = (await client.get(f"/api/v1/conversations/{conversation.pk}/")).json()
    assert Decimal(of_conversation["usage"]["cost"]) == cost
    exported = await client.get(f"/c/{conversation.pk}/export/json/")
    content = b"".join([piece async for piece in exported.streaming_content])  # type: ignore[attr-defined]  # the stubs
    [_, answer] = json.loads(content)["messages"]
    assert (answer["turn"]["model_note"], Decimal(answer["turn"]["cost"])) == (NOTE, cost)


BERLIN = ZoneInfo("Europe/Berlin")
ROWS = ("gemini-x", "gemini-x-001", "gemini-y", "gemini-y-preview")


@pytest.fixture
def rows(db: None, settings: Settings) -> None:
    """Models, of which the first one has ended."""
    settings.GEMINI_EMULATED = False
    LanguageModel.objects.all().delete()
    for number, name in enumerate(ROWS, 1):
        make_model(name, input_price=number, label=name.upper())


def billed(asked: str, *versions: str, began_at: datetime | None = None) -> tuple[int | None, str]:
    """Return the cost and the note of an answer with a million tokens read in each round."""
    rounds = [AnswerRound(model_version=version, _usage=Usage(prompt=1_000_000)) for version in versions]
    setup = Setup("gemini", asked, asked, prices=Prices(Decimal(100)))
    bill = bill_answer(rounds, setup, Turn(created_at=began_at or timezone.now()))
    return None if bill.cost is None else int(bill.cost), bill.model_note


@pytest.mark.parametrize(
    ("asked", "version"),
    [
        ("gemini-x", "gemini-x"),
        ("gemini-x", ""),
        ("gemini-x", "models/gemini-x"),
        ("gemini-x", "gemini-x-001"),
        ("gemini-x", "gemini-x-preview-09-2025"),
        ("gemini-x", "publishers/google/models/Gemini-X@002"),
        ("gemini-y-preview", "gemini-y"),
    ],
)
@pytest.mark.usefixtures("rows")
def test_reported_version_of_the_requested_model_is_not_treated_as_another_model(asked: str, version: str) -> None:
    assert not needs_catalogue([AnswerRound(model_version=version)], Setup("gemini", asked, asked))
    assert billed(asked, version) == (100, "")


@pytest.mark.parametrize(
    ("asked", "versions", "expected"),
    [
        ("gemini-x", ["models/gemini-y-002"], (3, "GEMINI-Y answered in place of gemini-x.")),
        ("gemini-x", ["models/gemini-y-preview-09-2025"], (4, "GEMINI-Y-PREVIEW answered in place of gemini-x.")),
        ("gemini-x", ["gemini-x", "gemini-y"], (103, "GEMINI-Y answered in place of gemini-x.")),
        ("gemini-flash-latest", ["gemini-y"], (3, "GEMINI-Y answered as gemini-flash-latest.")),
        ("gemini-x", ["gemini-unknown"], (100, "")),
    ],
)
@pytest.mark.usefixtures("rows")
def test_cost_of_each_round_uses_the_prices_of_the_model_that_answered(
    asked: str, versions: list[str], expected: tuple[int, str]
) -> None:
    assert billed(asked, *versions) == expected


@pytest.mark.usefixtures("rows")
def test_requested_model_and_answering_model_are_read_with_one_query(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    LanguageModel.objects.filter(name="gemini-x").update(ends_on=date(2026, 1, 1))
    with django_assert_num_queries(1):
        _, note = billed("gemini-x", "gemini-y", began_at=datetime(2026, 12, 1, tzinfo=BERLIN))
    assert note == "GEMINI-Y answered: the service no longer offers gemini-x."


def test_model_name_that_an_endpoint_reports_is_not_treated_as_another_model() -> None:
    setup = Setup(ENDPOINT_PROVIDER, "fast", "fast")
    assert not needs_catalogue([AnswerRound(model_version="gpt-4o-2024-08-06")], setup)


@pytest.mark.usefixtures("rows")
def test_prices_of_another_model_are_those_of_the_day_of_the_turn() -> None:
    LanguageModel.objects.filter(name="gemini-y").update(prices_until=date(2026, 11, 30), next_input_price=7)
    costs = [billed("gemini-x", "gemini-y", began_at=datetime(2026, 12, 1, hour, tzinfo=BERLIN))[0] for hour in (0, 1)]
    assert costs == [3, 7]


@pytest.mark.usefixtures("rows")
def test_cost_is_unknown_if_the_price_of_the_answering_model_is_unknown() -> None:
    LanguageModel.objects.filter(name="gemini-y").update(input_price=None)
    assert billed("gemini-x", "gemini-y")[0] is None
