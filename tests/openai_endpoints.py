"""Endpoints at the stand-in server, in memory for tests of the provider and in the database for tests of turns."""

from __future__ import annotations

from typing import ClassVar

from chat.models import ENDPOINT_PROVIDER, Conversation, EndpointModel, LanguageModel, ModelEndpoint
from chat.providers.openai_compatible.endpoint import Endpoint, ModelFacts
from chat.vocabulary.dialect_names import CHAT_COMPLETIONS, RESPONSES_API
from tests.factories import make_conversation
from tests.openai_server.refusals import KEY, PROFILES
from tests.openai_server.server import StandInServer

UNRECOGNISED = "-unrecognised"
"""Suffix of endpoints without a chosen dialect, which the provider must recognise itself."""
RESPONSES, CHAT = "-responses", "-chat"
"""Suffixes of endpoints for which the operator has chosen the protocol."""
ENDPOINT_NAMES = ["", *(name + suffix for name in PROFILES for suffix in ("", UNRECOGNISED, RESPONSES, CHAT))]
"""All names that tests use. The empty one is the endpoint of the settings."""
GOOGLE = "google"
"""Name of an endpoint with the dialect of Google's own server, at the profile `generic`."""
KEY_VARIABLE = "STAND_IN_API_KEY"


def endpoint_at(server: StandInServer, name: str, key: str = KEY) -> Endpoint:
    """Return the endpoint for a profile, such as `mistral`, `mistral-unrecognised` or `openai-responses`."""
    profile, _, suffix = name.partition("-")
    url = server.url("generic" if profile == GOOGLE else profile)
    protocol = {RESPONSES: RESPONSES_API, CHAT: CHAT_COMPLETIONS}.get(f"-{suffix}", "")
    return Endpoint(name, url, key, "" if name.endswith(UNRECOGNISED) else profile, protocol)


class EndpointsInMemory:
    """Replaces `StoredEndpoints`, without a database. Each endpoint is at the profile of its name."""

    server: ClassVar[StandInServer]
    key: ClassVar[str] = KEY
    known: ClassVar[dict[tuple[str, str], ModelFacts]] = {}

    def find(self, name: str) -> Endpoint:
        """Return the endpoint at the profile of its name."""
        return endpoint_at(self.server, name, self.key)

    def facts(self, endpoint: Endpoint, model: str) -> ModelFacts:
        """Return the facts that were stored for a model, or empty facts."""
        return self.known.get((endpoint.name, model), ModelFacts())

    def remember(self, endpoint: Endpoint, model: str, facts: ModelFacts) -> None:
        """Keep the facts for later calls of `facts`."""
        self.known[endpoint.name, model] = facts


def make_endpoint_conversation(
    server: StandInServer, name: str, model: str, *, code_execution: str = "off"
) -> Conversation:
    """Create an endpoint with one model, and a conversation with this model. `name`: as for `endpoint_at`."""
    make_endpoint_model(server, name, model)
    return make_conversation(model=model, code_execution=code_execution)


def make_endpoint_model(server: StandInServer, name: str, model: str, **columns: float | int | str) -> LanguageModel:
    """Create an endpoint if it does not exist, and a model there."""
    endpoint = endpoint_at(server, name)
    ModelEndpoint.objects.get_or_create(
        name=name,
        defaults={
            "base_url": endpoint.base_url,
            "dialect": endpoint.dialect,
            "protocol": endpoint.protocol,
            "api_key_variable": KEY_VARIABLE,
        },
    )
    return LanguageModel.objects.create(provider=ENDPOINT_PROVIDER, endpoint=name, name=model, **columns)


def stored_facts(name: str, model: str) -> dict[str, object]:
    """Return the facts that are stored for a model, as JSON."""
    facts: dict[str, object] = EndpointModel.objects.get(endpoint=name, model=model).facts
    return facts
