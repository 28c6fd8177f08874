"""Types for facts about a server and its models. `chat.providers.catalogue.endpoints` implements `EndpointStore`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server, with the account that is used there."""

    name: str
    """Empty: the endpoint that the settings describe."""
    base_url: str
    """The base URL of the API, for example `http://127.0.0.1:11434/v1`."""
    api_key: str = field(default="", repr=False)
    """Empty for servers that need none."""
    dialect: str = ""
    """One of `dialects.DIALECTS`. Empty: recognised by the address."""

    protocol: str = ""
    """One of `PROTOCOL_NAMES`. Empty: chat completions, or the Responses API for a model if its server refers to it."""

    @property
    def account(self) -> str:
        """SHA-256, in hex, of everything that determines which signatures are valid."""
        parts = ["openai_compatible", self.base_url, self.api_key]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a server has said or shown about one of its models. `None`: not known."""

    context_tokens: int | None = None
    functions: bool | None = None
    """Whether the model takes function declarations."""
    images: bool | None = None
    """Whether the model reads images."""
    refuses: frozenset[str] = frozenset()
    """Names of optional parameters and roles that the server refused for this model (`refusal_facts.REFUSABLE`)."""
    demands: frozenset[str] = frozenset()
    """What the server demanded for this model (`refusal_facts.EFFORT_NONE`, `REASONING`, `RESPONSES`)."""
    is_probed: bool = False
    """Whether the server was asked about this model."""


@dataclass(frozen=True, slots=True)
class Known:
    """The facts about a model, and its endpoint with the key."""

    endpoint: Endpoint
    facts: ModelFacts


class EndpointStore(Protocol):
    """The stored endpoints and facts. All methods query the database."""

    def find(self, name: str) -> Endpoint:
        """Return an endpoint. Raises LookupError if it does not exist, or is turned off."""
        ...

    def facts(self, endpoint: Endpoint, model: str) -> ModelFacts:
        """Return what is known about a model. What the operator has set takes precedence."""
        ...

    def remember(self, endpoint: Endpoint, model: str, facts: ModelFacts) -> None:
        """Store what the server has said or shown, in place of what it had said before."""
        ...
