"""Reads answers of the provider `openai_compatible` from the stand-in server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.providers.provider_errors import ProviderError
from chat.providers.requests import Content, FunctionTool, GenerateRequest
from chat.vocabulary.parts import FunctionCall, InlineData, JSONObject, Part, Role, Text, Thought
from chat.vocabulary.stream_events import Finished, PartReceived, StreamEvent, TextBecameThought, UsageReported
from tests.openai_server.shapes import Expected, ExpectedCall

QUESTION = Content(Role.USER, (Text("What is it?"),))
PARAMETERS: JSONObject = {"type": "object", "properties": {"value": {"type": "integer"}}}


@dataclass
class ReadAnswer:
    """The events of an answer, and the error that ended it."""

    events: list[StreamEvent] = field(default_factory=list)
    error: ProviderError | None = None

    def content(self) -> Expected:
        """Return the content that was read, as an `Expected` value."""
        parts: list[Part] = []
        for event in self.events:
            if isinstance(event, PartReceived):
                parts.append(event.part)
            elif isinstance(event, TextBecameThought):
                parts = [Thought(part.text) if isinstance(part, Text) else part for part in parts]
        finishes = [event.finish for event in self.events if isinstance(event, Finished)]
        usages = [event.usage for event in self.events if isinstance(event, UsageReported)]
        return Expected(
            text="".join(part.text for part in parts if isinstance(part, Text)),
            reasoning="".join(part.text for part in parts if isinstance(part, Thought)),
            pictures=len([part for part in parts if isinstance(part, InlineData)]),
            calls=tuple(ExpectedCall(part.name, part.arguments) for part in parts if isinstance(part, FunctionCall)),
            # An error ends the answer, even if the server sent a finish reason before.
            finish=finishes[-1] if finishes and self.error is None else None,
            usage=usages[-1] if usages else None,
            error=self.error.code if self.error else None,
        )


def make_request(model: str, *contents: Content, functions: Sequence[str] = ("echo",)) -> GenerateRequest:
    """Return a request that declares these functions. Without contents, it asks one question."""
    tools = tuple(FunctionTool(name, "A function.", PARAMETERS) for name in functions)
    return GenerateRequest(model, contents or (QUESTION,), tools=tools)


async def read_answer(provider: OpenAICompatibleProvider, request: GenerateRequest) -> ReadAnswer:
    """Read an answer to its end."""
    answer = ReadAnswer()
    try:
        async for events in provider.stream(request):
            answer.events += events
    except ProviderError as error:
        answer.error = error
    return answer
