"""How an answer of our own exports was made: each value checked, as later answers are made with some of them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from chat.catalogue.setups import Setup
from chat.exports.as_json import STAFF_PARAMETERS
from chat.imports.drafts import TurnDraft
from chat.imports.places import INTEGER_LIMIT, Place
from chat.models import Conversation, Turn
from chat.parts import Usage
from chat.turns.deciding import Chosen
from chat.turns.sound import TOKENS_LIMIT

STATUSES = [status.value for status in Turn.Status]
MODES = [mode.value for mode in Conversation.CodeExecution]


def turn_draft(place: Place) -> TurnDraft:
    """A turn; one that was live is interrupted. Raises RefusedImport."""
    status = place.at("status").one_of(STATUSES)
    created_at = place.at("created_at").moment()
    ended_at = place.at("ended_at").moment_or_none()
    if status in Turn.LIVE:
        status, ended_at = Turn.Status.INTERRUPTED.value, ended_at or created_at
    retry_after_s = place.at("retry_after_s").value
    if retry_after_s is not None and (
        isinstance(retry_after_s, bool)
        or not isinstance(retry_after_s, int | float)
        or not 0 <= retry_after_s <= INTEGER_LIMIT
    ):
        raise place.at("retry_after_s").refuse(f"there must be a number from 0 to {INTEGER_LIMIT} here.")
    words = {
        name: place.at(name).text(limit)
        for name, limit in (
            ("code_reason", None),
            ("finish_reason", None),
            ("finish_message", None),
            ("error_code", 50),
            ("response_id", None),
            ("model_version", None),
        )
    }
    return TurnDraft(
        model=place.at("model").text(200),
        status=status,
        created_at=created_at,
        provider=place.at("provider").text(50),
        columns={
            **words,
            "code_mode": place.at("code_mode").one_of(MODES),
            "code_execution": place.at("code_execution").boolean(),
            "chosen": _chosen(place.at("chosen")),
            "parameters": _parameters(place.at("parameters")),
            "left_out": place.at("left_out").integer(),
            "usage": _usage(place.at("usage")),
            "cost": amount(place.at("cost")),
            "retry_after_s": retry_after_s,
            "metadata": place.at("metadata").mapping(),
            "started_at": place.at("started_at").moment_or_none(),
            "first_part_at": place.at("first_part_at").moment_or_none(),
            "ended_at": ended_at,
        },
    )


def _chosen(place: Place) -> dict[str, Any]:
    """Later versions of the answer are made with it."""
    for name in place.mapping():
        if name not in Chosen.__dataclass_fields__:
            raise place.refuse(f"“{name[:40]}” is nothing that can be chosen.")
    chosen = Chosen(
        code_mode=place.at("code_mode").text_or("", 4),
        model=place.at("model").text_or("", 200),
        continues=place.at("continues").value is not None and place.at("continues").boolean(),
        without_tools=place.at("without_tools").value is not None and place.at("without_tools").boolean(),
    )
    if chosen.code_mode and chosen.code_mode not in MODES:
        raise place.at("code_mode").refuse(f"it is none of {', '.join(MODES)}.")
    return chosen.as_json()


def _parameters(place: Place) -> dict[str, Any]:
    """What is known of them, with values of their kinds; they are shown, and never used again."""
    known: dict[str, Any] = {}
    for name, value in place.mapping().items():
        if name not in Setup.__dataclass_fields__ or name in STAFF_PARAMETERS:
            continue
        if name == "prices":
            known[name] = {key: str(amount(place.at(name).at(key))) for key in place.at(name).mapping()}
        elif value is None or isinstance(value, str | int | float | bool):
            known[name] = value
        else:
            raise place.at(name).refuse("there must be a text, a number or true or false here.")
    if "label" in known:
        place.at("label").text(400)
    return known


def _usage(place: Place) -> dict[str, int | None]:
    for name in place.mapping():
        if name not in Usage.__dataclass_fields__:
            raise place.refuse(f"“{name[:40]}” is nothing that is counted.")
    return {
        name: None if value is None else place.at(name).integer(TOKENS_LIMIT) for name, value in place.mapping().items()
    }


def amount(place: Place) -> Decimal | None:
    """US dollars, as the column holds them."""
    if place.value is None:
        return None
    try:
        cost = Decimal(place.text(40))
    except InvalidOperation:
        raise place.refuse("there must be an amount like 0.0021 here.") from None
    if not cost.is_finite() or not 0 <= cost < 1_000_000 or cost != round(cost, 8):
        raise place.refuse("there must be an amount below a million, with at most 8 digits after the point, here.")
    return cost
