"""Asks a server once about one of its models. What the server does not say stays unknown, and counts as possible."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

from chat.providers.openai_compatible.dialects import dialect_name
from chat.providers.openai_compatible.endpoint import Endpoint, ModelFacts
from chat.providers.openai_compatible.listing import (
    facts_of_listed,
    facts_of_llamacpp,
    facts_of_lmstudio,
    facts_of_ollama,
    listed_models,
)
from chat.providers.openai_compatible.transport import Clients
from chat.providers.provider_errors import Overloaded, ProviderError, RateLimited, Stalled, Unreachable

logger = logging.getLogger(__name__)


async def probe(clients: Clients, endpoint: Endpoint, model: str, facts: ModelFacts) -> ModelFacts:
    """Return the facts, updated with the server's answers. A question that it does not answer is no error."""
    try:
        listed = [one for one in listed_models(await clients.ask(endpoint, "/models")) if one.name == model]
        if listed:
            facts = facts_of_listed(listed[0], facts)
        facts = await _own_question(clients, endpoint, model, facts)
    except (Unreachable, Stalled, Overloaded, RateLimited) as error:
        # The server may be starting. The next answer asks it again.
        logger.info("endpoint %s cannot be asked about %s: %s", endpoint.name, model, error)
        return facts
    except ProviderError as error:
        logger.info("endpoint %s says nothing about %s: %s", endpoint.name, model, error)
    return replace(facts, is_probed=True)


async def _own_question(clients: Clients, endpoint: Endpoint, model: str, facts: ModelFacts) -> ModelFacts:
    """Ask about the model at a URL that only this kind of server has, if it has one."""
    match dialect_name(endpoint):
        case "ollama":
            return facts_of_ollama(
                await clients.ask(endpoint, _at_root(endpoint, "/api/show"), json.dumps({"model": model}).encode()),
                facts,
            )
        case "llamacpp":
            return facts_of_llamacpp(await clients.ask(endpoint, _at_root(endpoint, "/props")), facts)
        case "lmstudio":
            return facts_of_lmstudio(await clients.ask(endpoint, _at_root(endpoint, "/api/v1/models")), model, facts)
        case _:
            return facts


def _at_root(endpoint: Endpoint, path: str) -> str:
    """Return the URL of a path of the server, outside the API. A proxy may have put the server below a path."""
    return endpoint.base_url.rstrip("/").removesuffix("/v1") + path
