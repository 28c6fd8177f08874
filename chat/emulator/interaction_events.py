"""Translates the chunks of an answer to the events of the Interactions API.

Where the real API's behaviour is known only from its types, the emulator uses each form that they allow: the first
graph of a result is in its list, the others are in a `model_output` after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from aiohttp import web

from chat.emulator import wire
from chat.emulator.response_writer import EventStreamBody, json_response
from chat.emulator.wire import WireObject

WORDS = {
    400: "invalid_request",
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    429: "rate_limit_exceeded",
    500: "internal_error",
    503: "unavailable",
}
STATES = {"STOP": "completed", "MAX_TOKENS": "incomplete", "CONTINUATION": "requires_continuation"}
COUNTS = {
    "input": "promptTokenCount",
    "output": "candidatesTokenCount",
    "thought": "thoughtsTokenCount",
    "tool_use": "toolUsePromptTokenCount",
    "cached": "cachedContentTokenCount",
}


def error_body(status: int, message: str) -> WireObject:
    """Return the JSON of an error, whose code is a word."""
    return {"error": {"message": message, "code": WORDS.get(status, "internal_error")}}


def error_response(status: int, body: WireObject) -> web.Response:
    """Return the response of an HTTP error. `body`: the error body of `generateContent`."""
    return json_response(status, error_body(status, body["error"]["message"]))


class InteractionBody(EventStreamBody):
    """Server-sent events of one interaction. Implements the protocol `Body`."""

    def __init__(self, http_request: web.Request) -> None:
        """Create a body. Nothing is sent yet."""
        super().__init__(http_request)
        self._events = InteractionEvents()

    async def add(self, response: WireObject) -> None:
        """Write the events of one chunk, or an error."""
        for event in self._events.add(response):
            await self._write_event(event)

    async def finish(self) -> web.StreamResponse:
        """Write the last events, unless the answer was cut, and end the stream."""
        for event in self._events.end():
            await self._write_event(event)
        return await super().finish()

    async def _write_event(self, event: WireObject) -> None:
        data = wire.serialize(event) if event["event_type"] != "done" else b"[DONE]"
        await self.write(b"event: " + event["event_type"].encode() + b"\ndata: " + data + b"\n\n")


class InteractionEvents:
    """Builds the events of one answer."""

    def __init__(self) -> None:
        """Create a translator that has seen no chunk."""
        self._index = -1
        self._kind = ""
        """The type of the open step; empty if none is open."""
        self._held: WireObject | None = None
        """The delta of the open result, which is held back because an image may follow."""
        self._signature = ""
        """The signature of the last code, which the result repeats."""
        self._last: WireObject = {}
        self._finish = ""
        self._message = ""
        self._has_calls = False

    def add(self, chunk: WireObject) -> Iterator[WireObject]:
        """Yield the events of one chunk."""
        if "error" in chunk:
            error = chunk["error"]
            yield {**error_body(error["code"], error["message"]), "event_type": "error"}
            return
        if not self._last:
            started = {"id": "", "status": "in_progress", "object": "interaction", "model": chunk.get("modelVersion")}
            yield {"interaction": started, "event_type": "interaction.created"}
            yield {"interaction_id": "", "status": "in_progress", "event_type": "interaction.status_update"}
        self._last = chunk
        feedback = chunk.get("promptFeedback") or {}
        self._finish = feedback.get("blockReason") or self._finish
        for candidate in chunk.get("candidates", []):
            for part in candidate.get("content", {}).get("parts", []):
                yield from self._part(part)
            self._finish = candidate.get("finishReason") or self._finish
            self._message = candidate.get("finishMessage") or self._message

    def end(self) -> Iterator[WireObject]:
        """Yield the last events. An answer without a finish reason was cut, and gets none."""
        if not self._finish:
            return
        yield from self._close()
        status = STATES.get(self._finish, "failed")
        interaction: WireObject = {"id": "", "status": status, "object": "interaction"}
        if status == "failed":
            interaction["errors"] = [{"code": self._finish.lower(), "message": self._message}]
        elif self._has_calls:
            interaction["status"] = "requires_action"
        usage = self._last.get("usageMetadata") or {}
        counts = {f"total_{name}_tokens": usage.get(own, 0) for name, own in COUNTS.items()}
        interaction["usage"] = {"total_tokens": usage.get("totalTokenCount", 0), **counts}
        if token := next((one.get("continuationToken") for one in self._last.get("candidates", [])), None):
            interaction["continuation_token"] = token
        yield {"interaction": interaction, "event_type": "interaction.completed"}
        yield {"event_type": "done"}

    def _part(self, part: WireObject) -> Iterator[WireObject]:
        signature = part.get("thoughtSignature", "")
        match part:
            case {"text": str(text), "thought": True}:
                yield from self._open("thought")
                yield self._delta("thought_summary", content={"type": "text", "text": text})
            case {"text": str(text)}:
                if text:
                    yield from self._open("model_output")
                    yield self._delta("text", text=text)
                yield from self._signed(signature)
            case {"executableCode": code}:
                yield from self._open("code_execution_call", id=code.get("id", ""), signature="")
                arguments = {"code": code["code"], "language": code["language"].lower()}
                self._signature = signature
                yield self._delta("code_execution_call", arguments=arguments, signature=signature)
                yield from self._close()
            case {"codeExecutionResult": result}:
                yield from self._open("code_execution_result", call_id=result.get("id", ""), signature="")
                output = {"result": result["output"]} if "output" in result else {}
                is_error = result["outcome"] != "OUTCOME_OK"
                self._held = {**output, "is_error": is_error, "signature": self._signature}
            case {"inlineData": blob}:
                yield from self._image({"type": "image", "mime_type": blob["mimeType"], "data": blob["data"]})
                yield from self._signed(signature)
            case {"functionCall": call}:
                yield from self._call(call, signature)
            case _:
                yield from self._other(part, signature)

    def _image(self, image: WireObject) -> Iterator[WireObject]:
        held = self._held
        if held is not None and not isinstance(held.get("result"), list):
            texts = [{"type": "text", "text": held["result"]}] if held.get("result") else []
            held["result"] = [*texts, image]
            return
        yield from self._open("model_output")
        yield self._delta(**image)

    def _call(self, call: WireObject, signature: str) -> Iterator[WireObject]:
        self._has_calls = True
        signed = {"signature": signature} if signature else {}
        yield from self._open("function_call", id=call["id"], name=call["name"], arguments={}, **signed)
        text = wire.serialize(call["args"]).decode()
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            yield self._delta("arguments_delta", arguments=piece)
        yield from self._close()

    def _other(self, part: WireObject, signature: str) -> Iterator[WireObject]:
        """Yield a tool of the service, a signature alone, or a step of an unknown type."""
        for key, value in part.items():
            if key in ("toolCall", "toolResponse"):
                name = value["toolType"].lower().removesuffix("_web")
                is_call = key == "toolCall"
                kind = f"{name}_{'call' if is_call else 'result'}"
                yield from self._open(kind, **{"id" if is_call else "call_id": value["id"]})
                held = {"arguments": value.get("args")} if is_call else {"result": [value.get("response")]}
                yield self._delta(kind, **held, signature=signature)
            elif key != "thoughtSignature":
                yield from self._open(key, **value, signature=signature)
        yield from self._close()
        if part.keys() == {"thoughtSignature"}:
            yield from self._signed(signature)

    def _signed(self, signature: str) -> Iterator[WireObject]:
        """Yield a thought that only holds a signature."""
        if signature:
            yield from self._close()
            yield from self._open("thought")
            yield self._delta("thought_signature", signature=signature)
            yield from self._close()

    def _open(self, kind: str, **fields: object) -> Iterator[WireObject]:
        """Begin a step, unless an open step of this type can be continued."""
        if kind == self._kind and kind in ("thought", "model_output"):
            return
        yield from self._close()
        self._index, self._kind = self._index + 1, kind
        yield {"index": self._index, "step": {"type": kind, **fields}, "event_type": "step.start"}

    def _close(self) -> Iterator[WireObject]:
        if self._held is not None:
            held, self._held = self._held, None
            if held.keys() - {"is_error", "signature"} or held["is_error"]:
                yield self._delta("code_execution_result", **held)
        if self._kind:
            self._kind = ""
            yield {"index": self._index, "event_type": "step.stop"}

    def _delta(self, type: str, **fields: object) -> WireObject:
        return {"index": self._index, "delta": {**fields, "type": type}, "event_type": "step.delta"}
