"""Conversations of scenarios in each protocol, and what is left of them without what protocols may choose."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from channels.db import database_sync_to_async

from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.library.exports.registry import export_conversation
from chat.models import Conversation, LanguageModel, Turn
from chat.vocabulary.dialect_names import INTERACTIONS_API
from chat.vocabulary.part_json import part_to_json
from chat.vocabulary.parts import JSON, JSONObject, Part
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question, parts_of
from tests.factories import make_conversation
from tests.openai_endpoints import make_endpoint_model
from tests.openai_server.server import StandInServer

GENERATE_CONTENT, INTERACTIONS = "generateContent", "interactions"
ENDPOINTS = {"chat completions": "openai-chat", "responses": "openai-responses"}
GOOGLE = (GENERATE_CONTENT, INTERACTIONS)
PROTOCOLS = (*GOOGLE, *ENDPOINTS)

OF_THE_PROVIDER = frozenset({"provider_data", "thought_signature", "id", "call_id", "made_by", "duration_ms"})
"""Fields of a part that hold ids, signatures and times."""
OF_THE_PROTOCOL = OF_THE_PROVIDER | {
    *("index", "part_index", "attachment_index", "started_calls", "usage", "provider_usage", "cost", "response_id"),
    *("finish_reason", "model_version", "protocol", "provider", "endpoint"),
}
"""Keys of exports that hold ids, signatures, positions, counts, and words of a protocol."""
CHANGING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+|scenario-[\w-]+(?:/[\w-]+)?"
    r"|(?:Google Gemini|gemini|OpenAI-compatible|openai\\*_compatible)(?:, endpoint [\w-]+)?"
    r"|<dt>Ended with</dt><dd><bdi>[^<]*</bdi></dd>"
)
"""Matches ids, times, names of models and of endpoints, and a server's words for the end of an answer."""
SILENT = re.compile(
    r"<details [^>]*? data-part-kind=\"thought\" hidden>.*?</details>"
    r'|<div id="part-[^"]*" data-part-kind="text" dir="auto"><div id="[^"]*" class="tail"></div></div>',
    re.DOTALL,
)
"""Matches thoughts and texts without words, which are only sent back to their model."""
COUNTS = re.compile(r"<dt>Tokens [^<]*</dt><dd>[^<]*</dd>|<dt>Tokens, estimated</dt><dd>[^<]*</dd>")
SECOND = "second"
Columns: TypeAlias = tuple[str, str]
"""The columns `code_execution` and `engine` of a conversation."""
ANY_CODE: Columns = ("auto", "auto")
"""Code runs where the product chooses, also at the model's service."""
WITHOUT_CODE: Columns = ("off", "auto")
IN_SESSION: Columns = ("on", "session")


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation of two questions."""

    scenario: str
    question: str = ""
    """The first question; empty if any question will do."""
    columns: Columns = WITHOUT_CODE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What remains of a conversation."""

    ends: Sequence[tuple[str, str, str]]
    """Status, finish and error of each turn."""
    parts: Sequence[JSONObject]
    page: str
    exports: str
    usage: Sequence[dict[str, int]]
    """The counts of each turn. A protocol may leave out those that are zero."""


async def conversation_at(server: StandInServer, protocol: str, case: Case) -> Conversation:
    """Create a conversation with a model that is asked by this protocol."""

    def make() -> Conversation:
        name = f"scenario-{case.scenario}"
        columns = {"image_output": case.scenario.startswith("image-model")}
        if protocol in ENDPOINTS:
            name = f"{name}/{case.scenario}"
            make_endpoint_model(server, ENDPOINTS[protocol], name, **columns)
        else:
            runs_code = case.columns == ANY_CODE
            columns |= {"code_execution": runs_code, "functions_beside_tools": runs_code}
            own = INTERACTIONS_API if protocol == INTERACTIONS else ""
            LanguageModel.objects.create(name=name, protocol=own, **columns)
        code_execution, engine = case.columns
        return make_conversation(model=name, code_execution=code_execution, engine=engine)

    conversation: Conversation = await database_sync_to_async(make)()
    return conversation


async def outcome_of(server: StandInServer, protocol: str, case: Case) -> Outcome:
    """Hold a conversation, and return what remains of it."""
    conversation = await conversation_at(server, protocol, case)
    # Some scenarios answer an equal request otherwise.
    first = case.question or str(uuid.uuid4())
    return await _left_by(conversation, [await ask_and_wait(conversation, text) for text in (first, SECOND)])


async def outcome_of_stop(server: StandInServer, protocol: str) -> Outcome:
    """Stop an endless answer when some words are shown, and return what remains of it."""
    conversation = await conversation_at(server, protocol, Case("endless"))
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation))
        await tab.receive_text("word 2")
        assert await stop_turn(conversation.pk)
        await Runner.current().drain()
    return await _left_by(conversation, [await Turn.objects.aget(pk=started.turn.pk)])


async def _left_by(conversation: Conversation, turns: Sequence[Turn]) -> Outcome:
    """Return what remains of a conversation, which is deleted with its model."""
    page = await fresh_page(conversation)
    exports = await database_sync_to_async(_exports)(conversation)
    outcome = Outcome(
        ends=[(turn.status, turn.finish, turn.error_code) for turn in turns],
        parts=[part for turn in turns for part in plain_parts(await parts_of(turn))],
        page=CHANGING.sub("#", SILENT.sub("", page)),
        exports=CHANGING.sub("#", exports),
        usage=[{name: count for name, count in turn.usage.items() if count} for turn in turns],
    )
    await conversation.adelete()
    await LanguageModel.objects.all().adelete()
    return outcome


def plain_parts(parts: Sequence[Part]) -> list[JSONObject]:
    """Return parts without ids and signatures. A part that only brings something back to its provider is left out."""
    shown = [part for part in parts if part.long_text or part.is_answer or not part.provider_data]
    values = [part_to_json(part) for part in shown]
    return [{name: one for name, one in value.items() if name not in OF_THE_PROVIDER} for value in values]


def plain_json(value: JSON) -> JSON:
    """Return the JSON of an export without what differs between protocols, and without parts that have no text."""
    if isinstance(value, dict):
        return {name: plain_json(one) for name, one in value.items() if name not in OF_THE_PROTOCOL}
    if isinstance(value, list):
        return [plain_json(one) for one in value if not is_empty_text(one)]
    return value


def is_empty_text(value: JSON) -> bool:
    """Return whether JSON is a text or a thought without words."""
    return isinstance(value, dict) and value.get("kind") in ("text", "thought") and not value.get("text")


def _exports(conversation: Conversation) -> str:
    """Return the exports as Markdown, as a notebook and as JSON."""
    found = []
    for name in ("md", "ipynb", "json"):
        download = export_conversation(conversation, name, exported_at=datetime(2026, 1, 1, tzinfo=UTC))
        text = b"".join(download.chunks).decode()
        found.append(text if name == "md" else json.dumps(plain_json(json.loads(text)), ensure_ascii=False, indent=0))
    return "\n".join(found)
