"""The Interactions API through whole turns: what is stored, what goes back, and the same as `generateContent`.

The emulator for tests refuses signatures that it did not give, and thoughts without one.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation, LanguageModel
from chat.vocabulary.dialect_names import INTERACTIONS_API
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.test_responses_turns import HIDDEN, export, plain_parts
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, fresh_page, new_conversation, parts_of
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

SCENARIOS = (
    *("text", "markdown", "hostile", "unicode", "long-20", "thoughts", "thought-and-graph"),
    *("code", "code-two-rounds", "code-failed", "code-only", "code-large-output", "result-without-output"),
    *("image", "image-twice", "image-two-sizes", "image-jpeg", "image-model-1", "image-model-2", "images"),
    *("function-call", "function-calls", "function-calls-3", "function-call-thought", "function-code"),
    *("function-unknown", "function-args-invalid", "function-failing", "function-script", "code-beside-session"),
    *("without-finish", "reset", "cut", "rate-limited-once", "unavailable", "internal-error", "bad-request"),
    *("bad-key", "forbidden", "not-found", "error-in-stream"),
)
"""Conversations of the table that do not depend on what only `generateContent` says: that code ran out of time."""
CHANGING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+|STOP|completed|requires_action"
)
"""Ids, times and the words for the end."""
SILENT = re.compile(
    HIDDEN.pattern
    + r'|<div id="part-[^"]*" data-part-kind="text" dir="auto"><div id="[^"]*" class="tail"></div></div>'
    + r"|<dt>Tokens [^<]*</dt><dd>[^<]*</dd>|<dt>Tokens, estimated</dt><dd>[^<]*</dd>",
    re.DOTALL,
)
"""Thoughts and texts that only hold a signature; counts, which `generateContent` sends with each text that follows."""


async def conversation_with(name: str, protocol: str = INTERACTIONS_API, **settings: str) -> Conversation:
    """Create a conversation with a model of the emulator that is asked by this protocol."""
    await LanguageModel.objects.acreate(
        name=name, protocol=protocol, code_execution=True, image_output=name.startswith("scenario-image-model")
    )
    return await new_conversation(model=name, **settings)


def unsigned(part: dict[str, object]) -> dict[str, object]:
    """Return the JSON of a part without its signature."""
    return {name: value for name, value in part.items() if name != "thought_signature"}


async def outcome_of(scenario: str, protocol: str) -> list[object]:
    """Hold a conversation of one scenario. Return what it has stored, its page and its export without ids."""
    conversation = await conversation_with(f"scenario-{scenario}", protocol)
    question = '%echo {"value": 1}\n===\n%echo {"value": 2}' if scenario == "function-script" else "first"
    found: list[object] = []
    for text in (question, "second"):
        turn = await ask_and_wait(conversation, text)
        found += [(turn.status, turn.finish, turn.error_code), *map(unsigned, plain_parts(await parts_of(turn)))]
    texts = [await fresh_page(conversation), await database_sync_to_async(export)(conversation)]
    await conversation.adelete()
    await LanguageModel.objects.all().adelete()
    return [*found, *(CHANGING.sub("#", SILENT.sub("", text)) for text in texts)]


@pytest.mark.parametrize("scenario", sampled(SCENARIOS, 6))
async def test_scenario_is_the_same_in_both_protocols(emulated: Settings, use_tools: UseTools, scenario: str) -> None:
    emulated.ROUNDS_LIMIT = 3
    use_tools("echo", "fail")
    found = [await outcome_of(scenario, protocol) for protocol in ("", INTERACTIONS_API)]
    assert found[1] == found[0]
