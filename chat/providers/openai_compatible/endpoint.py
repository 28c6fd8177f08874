"""Types for facts about a server and its models. `chat.providers.catalogue.endpoints` stores them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field


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
