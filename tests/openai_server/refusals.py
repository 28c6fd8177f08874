"""The words in which a server refuses a request, and the form of its error bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.openai_server.rules import Violation

JSONBody: TypeAlias = Any
"""A value that `json.dumps` takes."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a server refuses one violation. The message may have placeholders, such as `{model}` and `{path}`."""

    message: str
    status: int = 400
    type: str = "invalid_request_error"
    code: str | int | None = None
    names_param: bool = True
    """Whether the error names the path."""
    extra: tuple[str, ...] = ()
    """Names of words that are fields of the error, too."""


Form: TypeAlias = Callable[[Wording, str, Violation], JSONBody]
"""Returns an error body. The string is the message without placeholders."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error."""

    status: int
    body: JSONBody

    def serialize(self) -> bytes:
        """Return the body as JSON."""
        return json.dumps(self.body, ensure_ascii=False).encode()


def refuse(form: Form, wording: Wording, violation: Violation, model: str) -> Refusal:
    """Return the HTTP error for a violation."""
    words = {"model": model, "path": path_text(violation.path), "value": violation.value, **violation.words}
    position = violation.path[1] if len(violation.path) > 1 else ""
    message = wording.message.format(position=position, **words)
    return Refusal(wording.status, form(wording, message, violation))


def path_text(path: tuple[str | int, ...]) -> str:
    """Return a path as OpenAI writes it: `messages[1].tool_calls[0].id`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


def openai_form(wording: Wording, message: str, violation: Violation) -> JSONBody:
    """Return the body of OpenAI and DeepSeek."""
    param = path_text(violation.path) if wording.names_param and violation.path else None
    return {"error": {"message": message, "type": wording.type, "param": param, "code": wording.code}}


def local_form(wording: Wording, message: str, violation: Violation) -> JSONBody:
    """Return the body of vLLM and Ollama, which never name a parameter."""
    return {"error": {"message": message, "type": wording.type, "param": None, "code": wording.code}}


def llamacpp_form(wording: Wording, message: str, violation: Violation) -> JSONBody:
    """Return the body of llama.cpp, whose code is the HTTP status."""
    names = {"limit": "n_ctx", "tokens": "n_prompt_tokens"}
    extra = {names[name]: violation.words[name] for name in wording.extra}
    return {"error": {"code": wording.status, "message": message, "type": wording.type, **extra}}


def mistral_form(wording: Wording, message: str, violation: Violation) -> JSONBody:
    """Return a body of Mistral: flat, with an object as the message if the status is 422."""
    if wording.status == 401:
        return {"detail": message}
    body = {"object": "error", "type": wording.type, "param": None, "code": wording.code}
    if wording.status != 422:
        return {**body, "message": message, "raw_status_code": wording.status}
    loc = ["body", *violation.path]
    detail = {"type": wording.code, "loc": loc, "msg": message, "input": violation.value}
    return {**body, "message": {"detail": [detail]}, "code": None}


def text_form(wording: Wording, message: str, violation: Violation) -> JSONBody:
    """Return a body whose error is a string, as some gateways write it."""
    return {"error": message}
