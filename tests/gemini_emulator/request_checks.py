"""Refuses what the real API refuses in a history: calls and results in a wrong order, and signatures of others.

The messages are those of the real API where they are known. Tests of the request's body check that every signature is
sent back at its part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import WireError, WireObject

REQUEST_KINDS: Mapping[str, str] = {
    "codeExecutionResult": "executableCode",
    "functionResponse": "functionCall",
    "toolResponse": "toolCall",
}
"""Kind of a result -> kind of the part that must have the same id."""
DUMMY_SIGNATURES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""Gemini's documentation names these values for history that the model did not write."""

CORRUPTED = "Corrupted thought signature."
CALL_ORDER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
RESPONSE_ORDER = "Please ensure that function response turn comes immediately after a function call turn."
RESPONSE_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
UNSIGNED_CALL = "Function call is missing a thought_signature in functionCall parts."
CODE_WITHOUT_RESULT = "contents[{position}] ends with executable_code that has no code_execution_result."
_SIGNATURE = re.compile(rb'"(?:thoughtS|s)ignature": ?"([^"]+)"')


class Signatures:
    """The thought signatures that each model has given."""

    def __init__(self) -> None:
        """Create an empty store."""
        self._given: set[tuple[str, str]] = set()

    def remember(self, model: str, data: bytes) -> None:
        """Remember the signatures in the body of an answer, before it is sent."""
        self._given.update((model, _in_one_alphabet(found.decode())) for found in _SIGNATURE.findall(data))

    def check(self, model: str, contents: Sequence[WireObject]) -> None:
        """Raise WireError if a part has a signature that the model did not give."""
        for part in (part for content in contents for part in content["parts"]):
            signature = part.get("thoughtSignature", DUMMY_SIGNATURES[0])
            if signature not in DUMMY_SIGNATURES and (model, _in_one_alphabet(signature)) not in self._given:
                raise WireError(400, CORRUPTED)


def check_order(request: GenerationRequest) -> None:
    """Raise WireError if calls and results do not belong together."""
    contents = request.contents
    _check_ids(contents)
    for position, content in enumerate(contents):
        parts = content["parts"]
        before = contents[position - 1] if position else {"role": "model", "parts": []}
        calls, responses = _count(content, "functionCall"), _count(content, "functionResponse")
        if content.get("role") == "model" and "executableCode" in parts[-1]:
            raise WireError(400, CODE_WITHOUT_RESULT.format(position=position))
        if calls and content.get("role") == "model":
            # A model content is never the last one: `parse_contents` refuses that.
            following = _count(contents[position + 1], "functionResponse")
            if before.get("role") == "model" or not following:
                raise WireError(400, CALL_ORDER)
            if following != calls:
                raise WireError(400, RESPONSE_COUNT)
            # Models that give an id to a call also sign the first one of an answer.
            first = next(part for part in parts if "functionCall" in part)
            if "id" in first["functionCall"] and not first.get("thoughtSignature"):
                raise WireError(400, UNSIGNED_CALL)
        if responses and not (before.get("role") == "model" and _count(before, "functionCall")):
            raise WireError(400, RESPONSE_ORDER)


def _check_ids(contents: Sequence[WireObject]) -> None:
    known: set[tuple[str, object]] = set()
    for part in (part for content in contents for part in content["parts"]):
        for result_kind, request_kind in REQUEST_KINDS.items():
            if request_kind in part:
                known.add((request_kind, part[request_kind].get("id")))
            result_id = part.get(result_kind, {}).get("id")
            if result_id and (request_kind, result_id) not in known:
                raise WireError(400, f"The id {json.dumps(result_id)[:60]} was named by no {request_kind}.")


def _count(content: WireObject, kind: str) -> int:
    """Return the number of parts of a kind. Only the first piece of a call has a name; later pieces are not counted."""
    return sum(kind in part and (kind != "functionCall" or "name" in part[kind]) for part in content["parts"])


def _in_one_alphabet(signature: str) -> str:
    return signature.translate(str.maketrans("-_", "+/")).rstrip("=")
