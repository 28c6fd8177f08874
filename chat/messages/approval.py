"""The question that a waiting turn asks a person, and the change that the person's decision makes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from chat.messages.answer import Answer
from chat.messages.changes import CallDecided
from chat.vocabulary.parts import JSON, FunctionCall, JSONObject, Refusal

CODE = "code"
"""The name of the argument of a function call that holds code. A person may change the code before the call runs."""
EDITED = "The user changed the code before it ran. executed_code is the code that ran."

_HIDDEN_CHARACTERS = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Characters without a width, and characters that change the direction of text. With them, code may look different from
what it does.
"""


class ApprovalKind(StrEnum):
    """What a waiting turn asks about."""

    CALL = "call"
    """Whether a function call may run."""
    RESULT = "result"
    """Whether the result of a function call may be sent to the model."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The question of a waiting turn to a person."""

    approval_id: str
    kind: ApprovalKind
    name: str
    """The name of the function."""
    arguments: Mapping[str, JSON]
    """The arguments as the model wrote them."""
    code: str | None
    """The code that is to run, or has run. `None` if the function runs no code."""
    result: Mapping[str, JSON] | None = None
    """The result of the function, if the question is whether the model may get it."""
    is_private: bool = False
    """True if the data of files were removed from the result. Graphs are then not sent either."""

    @property
    def is_result(self) -> bool:
        """Return whether the question is about a result."""
        return self.kind is ApprovalKind.RESULT

    @property
    def takes_code(self) -> bool:
        """Return whether the person may change the code."""
        return not self.is_result and self.code is not None

    @property
    def other_arguments(self) -> Mapping[str, JSON]:
        """The arguments without the code."""
        return {name: value for name, value in self.arguments.items() if name != CODE or self.code is None}

    @property
    def has_hidden_characters(self) -> bool:
        """Return whether the code may look different from what it does, because it has hidden characters."""
        return self.code is not None and _HIDDEN_CHARACTERS.search(self.code) is not None


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """The decision about an approval: a person's, or the denial after the time limit."""

    approval_id: str
    is_approved: bool
    code: str | None = None
    """The code that is to run in place of the call's code. `None` if the person did not change it."""
    is_timeout: bool = False
    decided_by: int | None = None
    """The id of the user who decided. `None` if the time limit ended the wait."""


def awaited_approval(answer: Answer) -> Approval | None:
    """Return the question that the answer waits with; `None` if it waits for nothing."""
    awaited = answer.awaited
    call = _find_call(answer, awaited.call_id) if awaited else None
    if awaited is None or call is None:
        return None
    held = answer.held_results.get(call.call_id) if awaited.is_result else None
    decision = answer.call_decision(call.call_id)
    return Approval(
        awaited.approval_id,
        ApprovalKind.RESULT if awaited.is_result else ApprovalKind.CALL,
        call.name,
        call.arguments or {},
        decision.code if decision and decision.code is not None else _own_code(call),
        held.result if held else None,
        held is not None and held.refusal is Refusal.PRIVATE,
    )


def decision_change(answer: Answer, decision: ApprovalDecision) -> CallDecided | None:
    """Return the change that a decision makes; `None` if the answer does not wait for this decision."""
    awaited = answer.awaited
    if awaited is None or awaited.approval_id != decision.approval_id:
        return None
    is_edited = decision.code is not None and decision.code != _own_code(_find_call(answer, awaited.call_id))
    code = decision.code if is_edited else None
    is_approved, is_timeout = decision.is_approved, decision.is_timeout
    return CallDecided(awaited.call_id, awaited.approval_id, is_approved, code, awaited.is_result, is_timeout)


def is_repeated(answer: Answer, decision: ApprovalDecision) -> bool:
    """Return whether the answer already has exactly this decision."""
    stored = answer.decisions.get(decision.approval_id)
    if stored is None or stored.is_approved != decision.is_approved:
        return False
    own_code = _own_code(_find_call(answer, stored.call_id))
    codes = [own_code if code is None else code for code in (stored.code, decision.code)]
    return codes[0] == codes[1]


def _find_call(answer: Answer, call_id: str) -> FunctionCall | None:
    calls = (part for part in answer.parts if isinstance(part, FunctionCall))
    return next((call for call in calls if call.call_id == call_id), None)


def _own_code(call: FunctionCall | None) -> str | None:
    """Return the code that the model wrote."""
    code = (call.arguments or {}).get(CODE) if call else None
    return code if isinstance(code, str) else None


def with_changed_code(result: Mapping[str, JSON], code: str) -> JSONObject:
    """Return the result of a call with a note for the model that a person has changed the call's code to this code."""
    return {**result, "note_on_code": EDITED, "executed_code": code}
