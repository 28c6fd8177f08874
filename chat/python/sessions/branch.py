"""Finds out whether a session's variables belong to the shown version, and which code restores them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q

from chat.models import Message, Part, PythonSession
from chat.python.sessions.places import is_enabled
from chat.vocabulary.code_outcomes import UNFINISHED
from chat.vocabulary.parts import (
    OUTCOME_DEADLINE_EXCEEDED,
    OUTCOME_FAILED,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    PartKind,
)

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


def replay_codes(conversation_id: uuid.UUID, before: tuple[int, int] | None = None) -> list[CodeBlock]:
    """Return the Python code of the shown messages in order, wherever it ran. Running it restores the variables.

    Code without a result is left out. So is code that was stopped or ran out of time, because it may never end.
    `before`: indexes of a message and a part, to return only code before this part.
    """
    return [*_last_codes(conversation_id, before)][::-1]


def _last_codes(conversation_id: uuid.UUID, before: tuple[int, int] | None = None) -> Iterator[CodeBlock]:
    """Yield what `replay_codes` returns, in reverse order."""
    rows = Part.objects.filter(
        message__conversation=conversation_id,
        message__is_shown=True,
        kind__in=[PartKind.EXECUTABLE_CODE, PartKind.CODE_EXECUTION_RESULT],
    ).order_by("-message__index", "-index")
    if before:
        rows = rows.filter(Q(message__index__lt=before[0]) | Q(message__index=before[0], index__lt=before[1]))
    results: list[bool] = []
    # In small chunks, because the outputs may be long.
    for row in rows.iterator(chunk_size=50):
        match row.value:
            case CodeExecutionResult() as result:
                results.append(_was_cut_short(result))
            case ExecutableCode() as code:
                if code.is_python and results and not any(results):
                    yield CodeBlock(row.message_id, row.index, code.code, code.engine)
                results = []


def can_replay(session: PythonSession) -> bool:
    """Return whether variables of shown code are lost, and running all code again restores them. One query, or none."""
    if not session.has_lost_variables or session.conversation_id is None or not is_enabled():
        return False
    return next(_last_codes(session.conversation_id), None) is not None


def _was_cut_short(result: CodeExecutionResult) -> bool:
    """Return whether code did not reach its end. An interruption is the last line of its output."""
    last_line = (result.output or "").rstrip().rpartition("\n")[2]
    is_interrupted = result.outcome == OUTCOME_FAILED and last_line.startswith("KeyboardInterrupt")
    return is_interrupted or result.outcome in (OUTCOME_DEADLINE_EXCEEDED, *UNFINISHED)
