"""Makes generation requests without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from chat.emulator.generation_request import GenerationRequest, parse_generation_request
from chat.emulator.wire import WireObject

HELLO: WireObject = {"role": "user", "parts": [{"text": "Hello"}]}
CODE_EXECUTION: WireObject = {"tools": [{"codeExecution": {}}]}
_NO_FIELDS: Mapping[str, object] = MappingProxyType({})


def make_request(
    contents: Sequence[WireObject] = (HELLO,),
    *,
    model: str = "gemini-3-flash",
    response_id: str = "response-id",
    fields: Mapping[str, object] = _NO_FIELDS,
) -> GenerationRequest:
    """Return a validated request; `fields` are further fields of its body."""
    return parse_generation_request(model, {"contents": list(contents), **fields}, response_id)
