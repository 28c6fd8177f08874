"""Turns a violation into the HTTP error of a server. `refusals.toml` has the statuses, the codes and the messages."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.openai_server.violations import Violation

Table: TypeAlias = Mapping[str, tuple[int, str, str]]
"""For each mistake, the status, the code and the message."""

_FILE: Mapping[str, Table] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
TABLES: Mapping[str, Table] = {
    server: table if server == "mistral" else {**_FILE["common"], **table}
    for server, table in _FILE.items()
    if server != "common"
}
"""What each server refuses."""
LOCAL_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
VLLM_TYPES = {400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError"}
MISTRAL_TYPES = {
    "1500": "invalid_model",
    "3230": "invalid_request_message_order",
    "3240": "invalid_request_assistant_message",
    "3280": "invalid_function_call",
    "3310": "invalid_request_file",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error."""

    status: int
    body: Any

    def serialize(self) -> bytes:
        """Return the body as JSON."""
        return json.dumps(self.body, ensure_ascii=False).encode()


def refuse(server: str, violation: Violation, model: str) -> Refusal | None:
    """Return how a server refuses a request with this mistake; `None` if it accepts it."""
    table = TABLES[server]
    if violation.rule not in table:
        return None
    status, code, message = table[violation.rule]
    words = {"model": model, "path": path_text(violation), "value": violation.value, **violation.words}
    position = violation.path[1] if len(violation.path) > 1 else ""
    message = message.format(position=position, **words)
    return Refusal(status, error_body(server, status, code, message, violation))


def path_text(violation: Violation) -> str:
    """Return a path as OpenAI writes it: `messages[1].tool_calls[0].id`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in violation.path)
    return text.removeprefix(".")


def error_body(server: str, status: int, code: str, message: str, violation: Violation) -> object:
    """Return the body of an error in the form of a server."""
    error: dict[str, object] = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    match server:
        case "openai":
            return {"error": {**error, "param": path_text(violation) or None, "code": code or None}}
        case "deepseek":
            is_key = status == 401
            return {
                "error": {**error, "type": LOCAL_TYPES[status], "code": None if is_key else "invalid_request_error"}
            }
        case "vllm":
            return {"error": {**error, "type": VLLM_TYPES[status], "code": status}}
        case "ollama":
            return {"error": {**error, "type": LOCAL_TYPES.get(status, "api_error")}}
        case "llamacpp" if violation.rule == "long-context":
            numbers = {"n_ctx": violation.words["limit"], "n_prompt_tokens": violation.words["tokens"]}
            return {"error": {"code": status, "message": message, "type": "exceed_context_size_error", **numbers}}
        case "llamacpp":
            return {"error": {"code": status, "message": message, "type": LOCAL_TYPES.get(status, "server_error")}}
        case "mistral" if status == 401:
            return {"detail": message}
        case "mistral" if status == 422:
            # The flat body has an object as its message.
            path = ["body", *violation.path]
            detail = {"type": code or None, "loc": path, "msg": message, "input": violation.value}
            return {**error, "object": "error", "message": {"detail": [detail]}}
        case "mistral":
            fields = {"object": "error", "raw_status_code": status, "code": code or None}
            return {**error, **fields, "type": MISTRAL_TYPES.get(code, "invalid_request_error")}
        case _:
            # Some gateways write a string.
            return {"error": message}
