"""How each server refuses a request. `refusals.toml` has the statuses, the codes and the messages.

`violations` finds the mistakes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tests.openai_server.models import ModelName
from tests.openai_server.violations import Violation, violations
from tests.scenarios.steps import HttpError

Table: TypeAlias = Mapping[str, tuple[int, str, str]]
"""Name of a mistake -> status, code and message of its refusal."""

KEY = "sk-stand-in"
"""The key that is accepted by servers that need one."""
WRONG_KEY = "wrong"
"""Servers that need no key accept every key but this one."""
NEED_KEY = ("openai", "mistral", "deepseek")
LOCAL_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
SCRIPTED_CODES = {404: "model_not_found", 429: "rate_limit_exceeded"}
VLLM_TYPES = {400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError"}

_FILE: Mapping[str, Table] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
TABLES: Mapping[str, Table] = {
    server: table if server == "mistral" else {**_FILE["common"], **table}
    for server, table in _FILE.items()
    if server != "common"
}
"""Profile -> the mistakes that the server refuses."""
PROFILES = list(TABLES)
"""The kinds of servers that the stand-in imitates."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def refuse(server: str, violation: Violation, model: str = "") -> Refusal | None:
    """Return how a server refuses a request with this mistake; `None` if it accepts it."""
    if violation.rule not in TABLES[server]:
        return None
    status, code, message = TABLES[server][violation.rule]
    position = violation.path[1] if len(violation.path) > 1 else ""
    words = {"model": model, "path": path_text(violation), "value": violation.value, "position": position}
    return Refusal(status, error_body(server, status, code, message.format(**words, **violation.words), violation))


def refuse_key(server: str, key: str) -> Refusal | None:
    """Return how a server refuses an API key; `None` if it accepts it."""
    is_accepted = key == KEY if server in NEED_KEY else key != WRONG_KEY
    return None if is_accepted else refuse(server, Violation("key"))


def refuse_request(server: str, body: Mapping[str, Any], model: ModelName) -> Refusal | None:
    """Return how a server refuses a request; `None` if it accepts it."""
    refusals = (refuse(server, violation, model.full) for violation in violations(server, body, model))
    return next(filter(None, refusals), None)


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
            fields = {"type": LOCAL_TYPES[status], "code": None if status == 401 else "invalid_request_error"}
            return {"error": {**error, **fields}}
        case "vllm":
            return {"error": {**error, "type": VLLM_TYPES[status], "code": status}}
        case "ollama":
            return {"error": {**error, "type": LOCAL_TYPES.get(status, "api_error")}}
        case "llamacpp" if violation.rule == "long-context":
            numbers = {"n_ctx": violation.words["limit"], "n_prompt_tokens": violation.words["tokens"]}
            return {"error": {"code": status, "message": message, "type": code, **numbers}}
        case "llamacpp":
            return {"error": {"code": status, "message": message, "type": LOCAL_TYPES.get(status, "server_error")}}
        case "mistral" if status == 401:
            return {"detail": message}
        case "mistral" if status == 422:
            # In the form without an outer object, the message is an object.
            detail = {"type": code, "loc": ["body", *violation.path], "msg": message, "input": violation.value}
            return {**error, "object": "error", "message": {"detail": [detail]}}
        case "mistral":
            kind = "invalid_model" if code == "1500" else "invalid_request_error"
            return {**error, "object": "error", "raw_status_code": status, "type": kind, "code": code or None}
        case _:
            # Some gateways write a string in place of an object.
            return {"error": message}


def scripted_refusal(error: HttpError) -> Refusal:
    """Return the error of a scenario in OpenAI's form: the same meaning and message, with OpenAI's codes and status."""
    details = {name: value for one in error.details for name, value in one.items()}
    is_key = details.get("reason") == "API_KEY_INVALID"
    status = 401 if is_key else error.status
    code = "invalid_api_key" if is_key else SCRIPTED_CODES.get(status)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    body = {"error": {"message": error.message, "type": kind, "param": None, "code": code}}
    delay = str(details.get("retryDelay", "")).removesuffix("s")
    return Refusal(status, body, {"Retry-After": delay} if delay else {})
