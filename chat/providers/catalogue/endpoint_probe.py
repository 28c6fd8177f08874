"""Tests an endpoint: what works with its server and one of its models, in sentences for the operator.

Each step has a time limit. A failed step does not end the test. The account of the endpoint pays for the answers.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.conf import settings
from PIL import Image

from chat.models import ENDPOINT_PROVIDER, ModelEndpoint
from chat.providers import get_provider
from chat.providers.base import Capabilities, Provider
from chat.providers.catalogue.endpoints import StoredEndpoints
from chat.providers.openai_compatible.endpoint import Endpoint, Known
from chat.providers.provider_errors import ProviderError
from chat.providers.requests import Content, FunctionTool, GenerateRequest
from chat.vocabulary.dialect_names import PROTOCOL_NAMES
from chat.vocabulary.parts import FunctionCall, InlineData, Part, Role, Text
from chat.vocabulary.stream_events import Finish, Finished, PartReceived, StreamEvent, TextBecameThought, UsageReported

STEP_LIMIT_S = 30.0
EXCERPT_CHARS = 200
TEXT_LIMIT_CHARS = 10_000
CALLS_LIMIT = 64
TOO_LONG = "The answer was much longer than asked for, so the rest was not read. Test it again, or test another model."

KEY, LIST, ANSWER, USAGE, FUNCTION, IMAGE, PROTOCOLS = (
    "API key",
    "List of models",
    "Answer",
    "Token counts",
    "Function call",
    "Image",
    "Protocols",
)
"""The names of the checks."""
OF_MODEL = (ANSWER, PROTOCOLS, USAGE, FUNCTION, IMAGE)

ANSWER_PROMPT = "Answer with the one word: hello"
FUNCTION_PROMPT = "Call the function report_number with the number 7. Do not answer with text."
IMAGE_PROMPT = "Which colour has this image? Answer with one English word."
REPORT_NUMBER = FunctionTool(
    "report_number",
    "Reports a number to the user.",
    {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: whether it works."""

    name: str
    ok: bool | None
    """`None`: it is not known whether this works."""
    sentence: str

    @property
    def verdict(self) -> str:
        """The result in words."""
        return {True: "works", False: "does not work", None: "not known"}[self.ok]


@dataclass(slots=True)
class Reply:
    """The model's reply to one request of the test."""

    text: str = ""
    calls: list[FunctionCall] = field(default_factory=list)
    has_usage: bool = False
    finish: Finish | None = None
    error: str = ""
    """Sentence and detail of the error; empty if there was none."""

    def add(self, event: StreamEvent) -> None:
        """Add an event of the stream."""
        match event:
            case PartReceived(Text(text=text)):
                self.text += text[: TEXT_LIMIT_CHARS - len(self.text)]
            case TextBecameThought():
                self.text = ""
            case PartReceived(FunctionCall() as call):
                self.calls.append(call)
            case UsageReported():
                self.has_usage = True
            case Finished():
                self.finish = event.finish
            case _:
                pass

    @property
    def is_full(self) -> bool:
        """Whether the reply is longer than any that the test asks for."""
        return len(self.text) >= TEXT_LIMIT_CHARS or len(self.calls) >= CALLS_LIMIT

    @property
    def excerpt(self) -> str:
        """The beginning of the text, in one line."""
        return " ".join(self.text.split())[:EXCERPT_CHARS]


def check_endpoint(name: str, model: str = "") -> list[CheckResult]:
    """Test an endpoint with a model, or with the first one that it lists. Takes up to a few minutes."""
    try:
        endpoint = StoredEndpoints().find(name)
    except LookupError as error:
        return [CheckResult(LIST, None, str(error))]
    # Run the test in its own event loop, because the connections of the server's loop belong to live answers.
    results = async_to_sync(_check_server, force_new_loop=True)(endpoint, model)
    return [_check_key(endpoint), *(_without_key(result, endpoint.api_key) for result in results)]


def _check_key(endpoint: Endpoint) -> CheckResult:
    if not endpoint.name:
        if settings.OPENAI_API_KEY:
            return CheckResult(KEY, True, "OPENAI_API_KEY is set.")
        return CheckResult(KEY, None, "OPENAI_API_KEY is not set, so no key is sent. Local servers need none.")
    variable = ModelEndpoint.objects.values_list("api_key_variable", flat=True).get(name=endpoint.name)
    if not variable:
        return CheckResult(KEY, None, "No variable is named, so no key is sent. Local servers need none.")
    if not endpoint.api_key:
        return CheckResult(
            KEY, False, f"The variable {variable} is not set. Set it, then restart the server processes."
        )
    return CheckResult(KEY, True, f"The variable {variable} is set.")


def _without_key(result: CheckResult, key: str) -> CheckResult:
    """Return the result without the key, which a server may repeat in its messages."""
    return CheckResult(result.name, result.ok, result.sentence.replace(key, "(key)") if key else result.sentence)


async def _check_server(endpoint: Endpoint, model: str) -> list[CheckResult]:
    provider = get_provider(ENDPOINT_PROVIDER, endpoint.name)
    try:
        names, result = await _check_list(provider)
        model = model or next(iter(names), "")
        if not model:
            return [
                result,
                *_skipped_checks(*OF_MODEL, reason="no model is known. Choose one"),
            ]
        return [result, *await _check_model(provider, model)]
    finally:
        await provider.aclose()


async def _check_list(provider: Provider) -> tuple[list[str], CheckResult]:
    """Return the ids of the models, and the result of the check that the server lists any."""
    try:
        async with asyncio.timeout(STEP_LIMIT_S):
            names = [model.name for model in await provider.list_models()]
    except TimeoutError:
        return [], CheckResult(LIST, False, f"The server sent no list within {STEP_LIMIT_S:.0f} seconds.")
    except ProviderError as error:
        return [], CheckResult(LIST, False, _describe(error))
    return names, CheckResult(LIST, bool(names), f"The server was reached, and lists {len(names)} models.")


async def _check_model(provider: Provider, model: str) -> list[CheckResult]:
    """Run the checks that ask the model. Functions and images are last, at the same time: the model is loaded then."""
    reply = await _ask(provider, model, Text(ANSWER_PROMPT))
    answer = _judge_answer(model, reply)
    # Query on another thread: the thread that waits for this test must not lose its database connection.
    capabilities = await database_sync_to_async(provider.capabilities, thread_sensitive=False)(model)
    protocols = await _check_protocols(provider, model, capabilities)
    if not answer.ok:
        return [answer, protocols, *_skipped_checks(USAGE, FUNCTION, IMAGE, reason="there was no answer")]
    if reply.has_usage:
        usage = CheckResult(USAGE, True, "The server reports how many tokens an answer took.")
    elif reply.error:
        usage = CheckResult(USAGE, None, "The answer did not end, so no counts came.")
    else:
        usage = CheckResult(USAGE, False, "The server reports no token counts, so usage and costs stay unknown.")
    return [
        answer,
        protocols,
        usage,
        *await asyncio.gather(
            _check_function(provider, model, capabilities), _check_image(provider, model, capabilities)
        ),
    ]


def _judge_answer(model: str, reply: Reply) -> CheckResult:
    if reply.text.strip():
        end = f" Then it failed: {reply.error}" if reply.error else ""
        return CheckResult(ANSWER, True, f"{model} answered “{reply.excerpt}”.{end}")
    return CheckResult(ANSWER, False, f"{model} gave no answer. {reply.error}".strip())


async def _check_protocols(provider: Provider, model: str, capabilities: Capabilities) -> CheckResult:
    """Ask the same question once with each protocol."""
    known = capabilities.known
    if not isinstance(known, Known):
        return CheckResult(PROTOCOLS, None, "Not tried, because nothing is known of this endpoint.")
    facts = replace(known.facts, is_probed=True)
    endpoints = [replace(known.endpoint, protocol=name) for name in PROTOCOL_NAMES]
    asked = [_ask(provider, model, Text(ANSWER_PROMPT), known=Known(one, facts)) for one in endpoints]
    replies = dict(zip(PROTOCOL_NAMES, await asyncio.gather(*asked), strict=True))
    errors = {name: reply.error or "The answer was cut." for name, reply in replies.items() if reply.finish is None}
    spoken = [name for name in PROTOCOL_NAMES if name not in errors]
    sentences = [f"The server speaks {' and '.join(spoken) or 'neither protocol'}."]
    sentences += [f"By {name}: {error}" for name, error in errors.items()]
    is_ok = known.endpoint.protocol in spoken if known.endpoint.protocol else bool(spoken)
    return CheckResult(PROTOCOLS, is_ok, " ".join(sentences))


async def _check_function(provider: Provider, model: str, capabilities: Capabilities) -> CheckResult:
    if not capabilities.functions:
        return CheckResult(FUNCTION, False, "This model takes no functions, as its server or the operator says.")
    reply = await _ask(provider, model, Text(FUNCTION_PROMPT), tools=(REPORT_NUMBER,))
    if any(call.name == REPORT_NUMBER.name and call.arguments is not None for call in reply.calls):
        return CheckResult(FUNCTION, True, "The model called a function.")
    if reply.calls:
        return CheckResult(FUNCTION, False, "The model called a function with a wrong name or invalid arguments.")
    if reply.finish is Finish.CALL_AS_TEXT:
        return CheckResult(
            FUNCTION, False, "The call came as text. Turn on the parser for tool calls in the settings of that server."
        )
    if reply.error:
        return CheckResult(FUNCTION, False, reply.error)
    return CheckResult(FUNCTION, None, f"The model answered “{reply.excerpt}” and called no function. Test it again.")


async def _check_image(provider: Provider, model: str, capabilities: Capabilities) -> CheckResult:
    mime_type = capabilities.accepted_type("image/png")
    if not mime_type:
        return CheckResult(IMAGE, False, "This model reads no images, as its server or the operator says.")
    image = InlineData(mime_type=mime_type, name="red.png", data=_red_png())
    reply = await _ask(provider, model, image, Text(IMAGE_PROMPT))
    if "red" in reply.text.lower():
        return CheckResult(IMAGE, True, "The model named the colour of a red image.")
    if reply.error:
        return CheckResult(IMAGE, False, reply.error)
    return CheckResult(IMAGE, False, f"The model answered “{reply.excerpt}” to a red image, so it does not see it.")


def _skipped_checks(*names: str, reason: str) -> Iterator[CheckResult]:
    return (CheckResult(name, None, f"Not tried, because {reason}.") for name in names)


async def _ask(
    provider: Provider, model: str, *parts: Part, tools: tuple[FunctionTool, ...] = (), known: object = None
) -> Reply:
    """Ask a question, and return the reply up to its end, an error or a limit."""
    reply = Reply()
    request = GenerateRequest(model, (Content(Role.USER, parts),), tools=tools, known=known)
    try:
        async with asyncio.timeout(STEP_LIMIT_S), aclosing(provider.stream(request)) as stream:
            async for events in stream:
                for event in events:
                    reply.add(event)
                if reply.is_full:
                    reply.error = TOO_LONG
                    break
    except TimeoutError:
        reply.error = (
            f"The answer did not end within {STEP_LIMIT_S:.0f} seconds. A server that is still loading the model needs"
            " longer: test it again soon."
        )
    except ProviderError as error:
        reply.error = _describe(error)
    return reply


def _describe(error: ProviderError) -> str:
    return f"{error.sentence} ({error.detail})" if error.detail else error.sentence


def _red_png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (64, 64), (220, 0, 0)).save(file, "PNG")
    return file.getvalue()
