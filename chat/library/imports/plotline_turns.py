"""Reads the turns of Plotline's own exports: how an answer was made, and how it ended."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from decimal import Decimal, InvalidOperation

from chat.answering.turns.start_rules import TurnChoices
from chat.library.exports.as_json import STAFF_PARAMETERS
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import PARTS_LIMIT
from chat.models import CallDecision, Conversation, Round, Turn
from chat.providers.catalogue.setups import Prices, Setup
from chat.vocabulary.parts import Engine, JSONObject
from chat.vocabulary.sanitize import TOKENS_LIMIT, one_line
from chat.vocabulary.stream_events import Finish, Usage

STATUSES = [status.value for status in Turn.Status]
FINISHES = ["", *(finish.value for finish in Finish)]
ENGINES = ["", *(engine.value for engine in Engine)]
MODES = [mode.value for mode in Conversation.CodeExecution]
PARAMETERS = [one.name for one in fields(Setup) if one.name not in STAFF_PARAMETERS]
PRICES = [one.name for one in fields(Prices)]
CHOICES = [one.name for one in fields(TurnChoices)]
TOKEN_COUNTS = [one.name for one in fields(Usage)]

ROUNDS_LIMIT = 1_000
DECISIONS_LIMIT = 10_000
SOURCES_LIMIT = QUERIES_LIMIT = 10_000
COST_LIMIT = 1_000_000
COST_DIGITS = 8


def read_turn(value: JSONValue, *, round_count: int) -> Turn:
    """Return an unsaved turn, without its conversation and messages. Raises RefusedImport for invalid values.

    A turn that was live becomes interrupted.
    """
    created_at = value.get("created_at").as_time()
    status, ended_at = _read_end(value, created_at)
    return Turn(
        status=status,
        provider=value.get("provider").as_text(50),
        endpoint=value.get("endpoint").as_text(50),
        model=one_line(value.get("model").as_text(200)),
        model_version=value.get("model_version").as_text(),
        model_note=value.get("model_note").as_text_or_empty(),
        response_id=value.get("response_id").as_text(),
        code_mode=value.get("code_mode").as_choice(MODES),
        code_execution=value.get("code_execution").as_boolean(),
        code_reason=value.get("code_reason").as_text(),
        engine=value.get("engine").as_choice_or("", ENGINES),
        private_data=value.has("private_data") and value.get("private_data").as_boolean(),
        move_reason=value.get("move_reason").as_text_or_empty(),
        moved_before_round=value.get("moved_before_round").as_integer_or_none(),
        chosen=_read_chosen(value.get("chosen")),
        parameters=_read_parameters(value.get("parameters")),
        left_out=value.get("left_out").as_integer(),
        usage=_read_usage(value.get("usage")),
        cost=read_amount(value.get("cost")),
        round_count=round_count,
        finish=value.get("finish").as_choice(FINISHES),
        finish_reason=value.get("finish_reason").as_text(),
        finish_message=value.get("finish_message").as_text(),
        error_code=value.get("error_code").as_text(50),
        retry_after_s=value.get("retry_after_s").as_number_or_none(),
        sources=_read_sources(value.get("sources")),
        queries=[query.as_text() for query in value.get("queries").items(QUERIES_LIMIT)],
        created_at=created_at,
        started_at=value.get("started_at").as_time_or_none(),
        first_part_at=value.get("first_part_at").as_time_or_none(),
        ended_at=ended_at,
    )


def _read_end(value: JSONValue, created_at: datetime) -> tuple[str, datetime | None]:
    """Return the status and the end of a turn."""
    status, ended_at = value.get("status").as_choice(STATUSES), value.get("ended_at").as_time_or_none()
    if status in Turn.LIVE:
        return Turn.Status.INTERRUPTED, ended_at or created_at
    return status, ended_at


def read_rounds(value: JSONValue) -> tuple[Round, ...]:
    """Return the rounds of a turn, unsaved, without turn and index. Raises RefusedImport for invalid values."""
    return tuple(
        Round(
            usage=_read_usage(one.get("usage")),
            provider_usage=one.get("provider_usage").as_object(),
            finish=one.get("finish").as_choice(FINISHES),
            finish_reason=one.get("finish_reason").as_text(),
            finish_message=one.get("finish_message").as_text(),
            response_id=one.get("response_id").as_text(),
            model_version=one.get("model_version").as_text(),
            metadata=one.get("metadata").as_object(),
            started_calls=[call_id.as_text() for call_id in one.get("started_calls").items(PARTS_LIMIT)],
            state=one.get("state").as_text_or_empty(),
        )
        for one in value.items(ROUNDS_LIMIT)
    )


def read_decisions(value: JSONValue) -> tuple[CallDecision, ...]:
    """Return the decisions about the function calls of a turn, unsaved and without turn.

    The person who decided is not imported, because a file may contain any name. Raises RefusedImport for invalid
    values.
    """
    return tuple(
        CallDecision(
            call_id=one.get("call_id").as_text(),
            is_result=one.get("is_result").as_boolean(),
            is_approved=one.get("is_approved").as_boolean(),
            code=None if one.get("code").value is None else one.get("code").as_text(),
            is_timeout=one.get("is_timeout").as_boolean(),
            decided_at=one.get("decided_at").as_time(),
        )
        for one in value.items(DECISIONS_LIMIT)
    )


def _read_sources(value: JSONValue) -> list[JSONObject]:
    return [
        {"url": source.get("url").as_text(), "title": source.get("title").as_text_or_empty()}
        for source in value.items(SOURCES_LIMIT)
    ]


def _read_chosen(value: JSONValue) -> JSONObject:
    """Return the choices that the user made for the turn. Later versions of the answer use them again."""
    for name in value.as_object():
        if name not in CHOICES:
            raise value.refusal(f"“{name[:40]}” cannot be chosen for a turn.")
    chosen = TurnChoices(
        code_mode=value.get("code_mode").as_choice(MODES) if value.has("code_mode") else "",
        model=one_line(value.get("model").as_text_or_empty(200)),
        continues=value.has("continues") and value.get("continues").as_boolean(),
        without_tools=value.has("without_tools") and value.get("without_tools").as_boolean(),
        own_code=value.has("own_code") and value.get("own_code").as_boolean(),
    )
    return chosen.as_json()


def _read_parameters(value: JSONValue) -> JSONObject:
    """Return the known settings of the model. They are shown to the user, and no request uses them again."""
    parameters: JSONObject = {}
    for name in PARAMETERS:
        if name not in value.as_object():
            continue
        parameter = value.get(name)
        if name == "prices":
            parameters[name] = _read_prices(parameter)
        elif name == "label":
            parameters[name] = one_line(parameter.as_text(400))
        elif parameter.value is None or isinstance(parameter.value, str | int | float | bool):
            parameters[name] = parameter.value
        else:
            raise parameter.refusal("there must be a text, a number or true or false here.")
    return parameters


def _read_prices(value: JSONValue) -> JSONObject:
    amounts = {name: read_amount(value.get(name)) for name in PRICES}
    return {name: str(amount) for name, amount in amounts.items() if amount is not None}


def _read_usage(value: JSONValue) -> JSONObject:
    usage: JSONObject = {}
    for name, count in value.as_object().items():
        if name not in TOKEN_COUNTS:
            raise value.refusal(f"“{name[:40]}” is no token count.")
        usage[name] = None if count is None else value.get(name).as_integer(TOKENS_LIMIT)
    return usage


def read_amount(value: JSONValue) -> Decimal | None:
    """Return an amount in US dollars with the digits of its column; `None` for null.

    Raises RefusedImport for other values.
    """
    if value.value is None:
        return None
    try:
        amount = Decimal(value.as_text(40))
    except InvalidOperation:
        raise value.refusal("there must be an amount like 0.0021 here.") from None
    if not amount.is_finite() or not 0 <= amount < COST_LIMIT or amount != round(amount, COST_DIGITS):
        raise value.refusal(
            f"there must be an amount below a million, with at most {COST_DIGITS} digits after the point, here."
        )
    return amount
