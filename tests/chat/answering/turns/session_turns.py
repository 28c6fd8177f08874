"""Turns whose code runs in the Python session, for tests: how to start them, and what they stored."""

from __future__ import annotations

from typing import Any

from attachments.models import Attachment
from attachments.store import NewAttachment, create_attachments
from chat.answering.prompt.history import STATE
from chat.answering.turns.runner import start_turn
from chat.models import Conversation, Turn
from chat.vocabulary.parts import FunctionResponse
from tests.chat.turn_driver import make_question, new_conversation, parts_of, start_and_wait


async def session_conversation(**columns: str) -> Conversation:
    """Create a conversation whose code runs in the session. The model runs the code in the question."""
    return await new_conversation(
        **{"model": "scenario-function-script", "code_execution": "on", "engine": "session", **columns}
    )


async def responses_of(turn: Turn) -> list[dict[str, Any]]:
    """Return the results of the function calls of a turn."""
    return [dict(part.result) for part in await parts_of(turn) if isinstance(part, FunctionResponse)]


async def outputs_of(turn: Turn) -> list[Any]:
    """Return the field `output` of the results."""
    return [response.get("output") for response in await responses_of(turn)]


def make_file(conversation: Conversation, name: str, data: bytes, mime_type: str = "text/csv") -> Attachment:
    """Store a file of the conversation's owner."""
    new = NewAttachment(
        owner_id=conversation.owner_id,
        data=data,
        name=name,
        mime_type=mime_type,
        width=None,
        height=None,
        is_graph=False,
    )
    return create_attachments([new])[0]


async def ask_with_files(conversation: Conversation, text: str, *files: Attachment) -> Turn:
    """Ask with files, and wait for the end."""
    ask = make_question(conversation, text, attachment_ids=[file.pk for file in files])
    return await start_and_wait(start_turn(ask))


def state_of(call: dict[str, Any]) -> str:
    """Return what a request says about the session, after everything else."""
    text = str(call["request"]["contents"][-1]["parts"][-1].get("text", ""))
    return text if text.startswith(STATE.partition("{")[0]) else ""
