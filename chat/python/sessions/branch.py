"""Whether the variables of a session belong to the version of the conversation that is shown."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from chat.models import Message, Part, PythonSession
from chat.vocabulary.parts import Engine, ExecutableCode, PartKind

OTHER_VERSION = (
    "Some of these variables were made by another version of this conversation, which is not shown. Do not rely on"
    " values that the shown messages do not explain; compute them again."
)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code that has run in the conversation."""

    message_id: uuid.UUID
    part_index: int
    code: str
    engine: Engine
    """The engine that ran the code."""


def has_run_other_version(session: PythonSession) -> bool:
    """Return whether the kernel has run code of a message that is not shown. One query, or none."""
    ids = session.message_ids
    return bool(ids) and Message.objects.filter(pk__in=ids, is_shown=False).exists()


def replay_codes(conversation_id: uuid.UUID) -> list[CodeBlock]:
    """Return the Python code of the shown messages in order, wherever it ran. Running it restores the variables."""
    rows = Part.objects.filter(
        message__conversation=conversation_id, message__is_shown=True, kind=PartKind.EXECUTABLE_CODE
    ).order_by("message__index", "index")
    values = [(row, row.value) for row in rows]
    return [
        CodeBlock(row.message_id, row.index, value.code, value.engine)
        for row, value in values
        if isinstance(value, ExecutableCode) and value.is_python
    ]
