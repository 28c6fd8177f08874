"""A stand-in for the provider `openai_compatible`. The test sets its answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_django import Settings

from chat.models import ENDPOINT_PROVIDER
from chat.providers import get_provider
from chat.providers.base import Capabilities, ListedModel
from chat.providers.openai_compatible.endpoint import Endpoint, Known, ModelFacts
from chat.providers.provider_errors import InvalidRequest, ProviderError
from chat.providers.requests import GenerateRequest
from chat.vocabulary.dialect_names import PROTOCOL_NAMES
from chat.vocabulary.parts import FunctionCall, InlineData, Text
from chat.vocabulary.stream_events import Finish, Finished, PartReceived, StreamEvent, Usage, UsageReported

USAGE: StreamEvent = UsageReported(Usage(prompt=3, candidates=1))
FINISH: StreamEvent = Finished(Finish.STOP)
CALL: StreamEvent = PartReceived(FunctionCall(name="report_number", arguments={"number": 7}))


def said(text: str) -> StreamEvent:
    return PartReceived(Text(text))


def make_listed(name: str, context_tokens: int | None = None, **facts: bool | None) -> ListedModel:
    return ListedModel(name, "", "", context_tokens, None, **facts)


def make_capabilities(*, functions: bool = True, images: bool = True, protocol: str = "") -> Capabilities:
    def accepted_type(mime_type: str) -> str:
        return mime_type if images else ""

    return Capabilities(
        account="account",
        functions=functions,
        functions_beside_built_in=False,
        stores_files=False,
        accepted_type=accepted_type,
        known=Known(Endpoint("local", "http://localhost/v1", protocol=protocol), ModelFacts()),
    )


@dataclass
class Server:
    """The answers of the stand-in. An error is raised in place of an answer."""

    models: list[ListedModel] | ProviderError = field(
        default_factory=lambda: [make_listed("small"), make_listed("big")]
    )
    text: list[StreamEvent] | ProviderError = field(default_factory=lambda: [said("hello"), USAGE, FINISH])
    function: list[StreamEvent] | ProviderError = field(default_factory=lambda: [CALL])
    image: list[StreamEvent] | ProviderError = field(default_factory=lambda: [said("It is Red.")])
    capabilities: Capabilities = field(default_factory=make_capabilities)
    protocols: list[str] = field(default_factory=lambda: ["", *PROTOCOL_NAMES])
    """The protocols that it speaks. The empty name means that a request names none."""
    asked_models: list[str] = field(default_factory=list)


class FakeProvider:
    """The stand-in. All its instances answer as `server` says."""

    name = ENDPOINT_PROVIDER
    is_demo = False
    server = Server()

    def __init__(self, endpoint: str = "") -> None:
        """`endpoint`: name of the endpoint, which changes nothing."""

    def capabilities(self, model: str) -> Capabilities:
        """Return the capabilities that the test has set."""
        return self.server.capabilities

    async def list_models(self) -> list[ListedModel]:
        """Return the models, or raise the error, that the test has set."""
        if isinstance(self.server.models, ProviderError):
            raise self.server.models
        return self.server.models

    async def stream(self, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield the test's events for a request with tools, with an image, or with text alone; or raise its error."""
        self.server.asked_models.append(request.model)
        has_image = isinstance(request.contents[0].parts[0], InlineData)
        answer = self.server.function if request.tools else self.server.image if has_image else self.server.text
        if isinstance(request.known, Known) and request.known.endpoint.protocol not in self.server.protocols:
            raise InvalidRequest("404 page not found")
        if isinstance(answer, ProviderError):
            raise answer
        for event in answer:
            yield [event]

    async def aclose(self) -> None:
        """Do nothing, because no connection is open."""


@contextmanager
def fake_server(settings: Settings) -> Iterator[Server]:
    """Use the stand-in for `openai_compatible`, and provide what it answers."""
    settings.CHAT_PROVIDERS = {**settings.CHAT_PROVIDERS, ENDPOINT_PROVIDER: f"{__name__}.FakeProvider"}
    FakeProvider.server = Server()
    get_provider.cache_clear()
    try:
        yield FakeProvider.server
    finally:
        get_provider.cache_clear()
