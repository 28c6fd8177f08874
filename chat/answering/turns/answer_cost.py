"""Calculates the cost of an answer, and finds out whether another model than the requested one gave it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from functools import partial

from django.db import DatabaseError

from chat.answering.turns.database_retries import retry_while_unavailable
from chat.answering.turns.turn_threads import prompt_reader
from chat.messages.answer_round import AnswerRound, total_usage
from chat.models import Turn
from chat.providers import is_demo
from chat.providers.catalogue.costs import calculate_cost, count_searches
from chat.providers.catalogue.other_models import OtherModel, find_other_model, may_be_another, other_model_sentence
from chat.providers.catalogue.setups import Setup, prices_on


@dataclass(frozen=True, slots=True)
class Bill:
    """The cost of an answer."""

    cost: Decimal | None = None
    """The cost in US dollars. `None`: the cost is not known, or the emulator answered, which costs nothing."""
    model_note: str = ""
    """A sentence that names the model that answered; empty if the asked model answered."""


NO_BILL = Bill()


def needs_catalogue(rounds: Sequence[AnswerRound], setup: Setup) -> bool:
    """Return whether `bill_answer` must read the catalogue, because another model may have answered."""
    return any(may_be_another(setup, one.model_version) for one in rounds)


async def bill_live_answer(rounds: Sequence[AnswerRound], setup: Setup, turn: Turn) -> Bill:
    """Return the bill of a live answer. If the catalogue must be read, a thread does this, not the event loop."""
    bill = partial(bill_answer, rounds, setup, turn)
    if not needs_catalogue(rounds, setup):
        return bill()
    try:
        return await retry_while_unavailable(prompt_reader.run, bill)
    except DatabaseError:
        # The cost stays unknown. While the database is unavailable, the end of the turn cannot be stored either.
        return NO_BILL


def bill_answer(rounds: Sequence[AnswerRound], setup: Setup, turn: Turn) -> Bill:
    """Return the bill of an answer. The prices are those of the day (UTC) on which the turn began.

    Each round has the prices of the model that answered it. The function runs queries only if `needs_catalogue`.
    """
    if is_demo(setup.provider, setup.endpoint):
        return NO_BILL
    found = {version: find_other_model(setup, version) for version in {one.model_version for one in rounds}}
    by_model: dict[OtherModel | None, list[AnswerRound]] = defaultdict(list)
    for one in rounds:
        by_model[found[one.model_version]].append(one)
    day = turn.created_at.astimezone(UTC).date()
    costs = [
        calculate_cost(
            usage,
            prices_on(other.row, day) if other else setup.prices,
            count_searches(query for one in answered for query in one.queries),
        )
        for other, answered in by_model.items()
        if (usage := total_usage(answered)) is not None
    ]
    known = [cost for cost in costs if cost is not None]
    other = next((other for other in reversed(by_model) if other), None)
    return Bill(
        sum(known, Decimal(0)) if known and len(known) == len(costs) else None,
        other_model_sentence(setup, other, day) if other else "",
    )
