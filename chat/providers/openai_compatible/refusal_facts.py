"""Learns from a refusal which optional parameter or role a server does not take. Pure.

Source: recorded errors and issue threads of the servers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.errors import CONTEXT_MESSAGE
from chat.vocabulary.parts import JSON

STORE = "store"
REFUSABLE = (
    "max_completion_tokens",
    "max_tokens",
    "reasoning_effort",
    STORE,
    "stream_options",
    "temperature",
    "tool_choice",
)
"""Optional parameters of a body."""
INCLUDE, EFFORT, SUMMARY = "include", "reasoning.effort", "reasoning.summary"
RESPONSES_REFUSABLE = (INCLUDE, EFFORT, SUMMARY, "temperature", "tool_choice")
"""Optional parameters of the Responses API. `store` is not among them, so that no server stores requests unnoticed."""
RESPONSES = "Responses API"
"""Name of the protocol in `demands`, if the server refers to it, and in `refuses`, if the server does not have it."""
EFFORT_NONE = "reasoning_effort none with functions"
REASONING = "reasoning_content in every assistant message"

OTHER_LIMIT_FIELD = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

STATUSES = (400, 404, 422, 500, 501)
"""Statuses with which servers refuse a parameter. llama.cpp answers 500 if it is not set up for a request."""

NO_ADDRESS = (404, 405)

MESSAGE_LIMIT_CHARS = 500
"""Maximum number of characters of a message that are searched for what is refused. The rest may repeat the request."""

UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|not permitted|extra_forbidden|unrecognized"
    r"|unknown (?:parameter|field|name)|use '\w+' instead",
    re.IGNORECASE,
)
WRONG_VALUE = re.compile(
    r"too (?:large|high|small|low|long)|at (?:most|least)|m(?:ax|in)imum|(?:less|greater) than|between|expected"
    r"|supported values|must be",
    re.IGNORECASE,
)
"""Matches messages that refuse only a value. A value that the operator has set must not be dropped silently."""
NAMED = (
    r"(?:parameter|argument|field|property|extra_forbidden)s?\W{{1,5}}(?:body\W)?{name}\b"
    r"|['\"`]{name}['\"`]|\bbody\.{name}\b|^\W{{0,3}}{name}\b"
)
"""How a message names a parameter. A mere word is not enough, because messages may repeat what a user has written."""
EFFORT_NONE_MESSAGE = re.compile(r"function tools with reasoning_effort are not supported", re.IGNORECASE)
RESPONSES_MESSAGE = re.compile(r"\bv1/responses\b")
UNVERIFIED_MESSAGE = re.compile(r"must be verified to generate reasoning summar", re.IGNORECASE)
REASONING_MESSAGE = re.compile(r"reasoning_content.{0,60}must be passed back", re.IGNORECASE)
SYSTEM_MESSAGE = re.compile(r"does not support '?(?:system|developer)'?|(?:system|developer) role", re.IGNORECASE)
IMAGES_MESSAGE = re.compile(
    r"image input is not supported|does not support image|unknown variant `image_url`|not a multimodal model",
    re.IGNORECASE,
)


def facts_after_refusal(
    status: int,
    parameter: str,
    message: str,
    body: Mapping[str, JSON],
    facts: ModelFacts,
    *,
    may_switch: bool = False,
) -> ModelFacts | None:
    """Return updated facts, or `None` if the refusal names nothing that a repeated request could leave out or change.

    `parameter`: the parameter that the server names, such as `temperature`. `body`: body of the refused request.
    `may_switch`: whether the operator leaves the choice of the protocol to the server.
    """
    if "input" in body:
        return _after_responses_refusal(status, parameter, message, body, facts, may_switch=may_switch)
    if status not in STATUSES or CONTEXT_MESSAGE.search(message):
        return None
    message = message[:MESSAGE_LIMIT_CHARS]
    if may_switch and RESPONSES_MESSAGE.search(message) and RESPONSES not in facts.refuses:
        return _with_demand(RESPONSES, facts)
    if EFFORT_NONE_MESSAGE.search(message):
        return _with_demand(EFFORT_NONE, facts)
    if REASONING_MESSAGE.search(message):
        return _with_demand(REASONING, facts)
    if SYSTEM_MESSAGE.search(message) and _has_system(body):
        return replace(facts, refuses=facts.refuses | {"system"})
    named = next((name for name in REFUSABLE if name in body and _is_refused(name, parameter, message)), "")
    other = OTHER_LIMIT_FIELD.get(named)
    if not named or other in facts.refuses:
        # If the server refuses both fields for the token limit, an answer could be longer than the operator allows.
        return None
    return replace(facts, refuses=facts.refuses | {named})


def _after_responses_refusal(
    status: int, parameter: str, message: str, body: Mapping[str, JSON], facts: ModelFacts, *, may_switch: bool
) -> ModelFacts | None:
    if may_switch and status in NO_ADDRESS:
        return replace(facts, demands=facts.demands - {RESPONSES}, refuses=facts.refuses | {RESPONSES})
    if status not in STATUSES or CONTEXT_MESSAGE.search(message):
        return None
    message = message[:MESSAGE_LIMIT_CHARS]
    reasoning = body.get("reasoning")
    sent = {*body, *(f"reasoning.{name}" for name in (reasoning if isinstance(reasoning, dict) else {}))}
    if SUMMARY in sent and UNVERIFIED_MESSAGE.search(message):
        return replace(facts, refuses=facts.refuses | {SUMMARY})
    named = next((name for name in RESPONSES_REFUSABLE if name in sent and _is_refused(name, parameter, message)), "")
    return replace(facts, refuses=facts.refuses | {named}) if named else None


def facts_after_image_refusal(status: int, message: str, facts: ModelFacts) -> ModelFacts | None:
    """Return facts that say “reads no images”, or `None` if the error is about something else.

    The request is not repeated without the images: an answer by a model that has not seen them would mislead.
    """
    is_refusal = status in STATUSES and IMAGES_MESSAGE.search(message[:MESSAGE_LIMIT_CHARS]) is not None
    return replace(facts, images=False) if is_refusal and facts.images is not False else None


def _with_demand(demand: str, facts: ModelFacts) -> ModelFacts | None:
    return None if demand in facts.demands else replace(facts, demands=facts.demands | {demand})


def _is_refused(name: str, parameter: str, message: str) -> bool:
    is_named = parameter == name or re.search(NAMED.format(name=name), message, re.IGNORECASE) is not None
    return is_named and UNSUPPORTED.search(message) is not None and WRONG_VALUE.search(message) is None


def _has_system(body: Mapping[str, JSON]) -> bool:
    messages = body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and first.get("role") == "system"
