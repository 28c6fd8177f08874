"""Describes how requests differ between kinds of servers. Pure.

Source: the servers' documentation, recorded traffic and issue threads. Other differences are learned from a
server's refusals (`refusal_facts`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from chat.providers.openai_compatible.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class Dialect:
    """The requests that one kind of server wants."""

    max_tokens_field: str = "max_tokens"
    """Field of the token limit. OpenAI's reasoning models take only `max_completion_tokens`, others `max_tokens`."""
    sends_usage_option: bool = True
    """Whether `stream_options` is sent. Some servers report usage without it, and refuse it."""
    reasoning_field: str = ""
    """The field that every assistant message must have, with the model's reasoning. Empty: none."""
    call_id_pattern: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_.:|-]{1,64}")
    """Matches the ids of function calls that the server takes."""
    bridges_tool_to_user: bool = False
    """Whether an assistant message is required between a function's result and a message of the user."""
    takes_pdf: bool = False
    """Whether a PDF may be sent as a `file`."""
    summarises_reasoning: bool = False
    """Whether the Responses API is asked for summaries of the reasoning. Other servers send theirs unasked."""
    reads_output_images: bool = False
    """Whether the output of a function may contain images in the Responses API."""
    stores_requests: bool = False
    """Whether the server may store requests and answers unless a request says `store: false`."""


SHORT_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
OPENAI = Dialect(
    max_tokens_field="max_completion_tokens",
    call_id_pattern=SHORT_ID,
    takes_pdf=True,
    summarises_reasoning=True,
    reads_output_images=True,
)
GENERIC = Dialect()

DIALECTS: Mapping[str, Dialect] = {
    "generic": GENERIC,
    "openai": OPENAI,
    "google": Dialect(stores_requests=True),
    "ollama": GENERIC,
    "llamacpp": GENERIC,
    "vllm": GENERIC,
    "lmstudio": GENERIC,
    "openrouter": Dialect(call_id_pattern=SHORT_ID, takes_pdf=True),
    "mistral": Dialect(
        sends_usage_option=False, call_id_pattern=re.compile(r"[a-zA-Z0-9]{9}"), bridges_tool_to_user=True
    ),
    "deepseek": Dialect(reasoning_field="reasoning_content"),
}
"""The dialects by their names, which are those of `DIALECT_NAMES`."""

AZURE_HOSTS = ("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com")
HOSTS = {
    "api.openai.com": "openai",
    **dict.fromkeys(AZURE_HOSTS, "openai"),
    "generativelanguage.googleapis.com": "google",
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
}
PORTS = {11434: "ollama", 8080: "llamacpp", 1234: "lmstudio"}
"""The usual ports of local servers."""


def dialect_name(endpoint: Endpoint) -> str:
    """Return the name of an endpoint's dialect."""
    if endpoint.dialect in DIALECTS:
        return endpoint.dialect
    for known, name in HOSTS.items():
        if _is_at(endpoint, known):
            return name
    return PORTS.get(urlsplit(endpoint.base_url).port or 0, "generic")


def key_headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the header with the key of an endpoint; nothing without a key. Azure has a header of its own."""
    if not endpoint.api_key:
        return {}
    if any(_is_at(endpoint, host) for host in AZURE_HOSTS):
        return {"api-key": endpoint.api_key}
    return {"Authorization": f"Bearer {endpoint.api_key}"}


def _is_at(endpoint: Endpoint, host: str) -> bool:
    """Return whether the host of an endpoint is this host or a subdomain of it."""
    return f".{urlsplit(endpoint.base_url).hostname or ''}".endswith(f".{host}")


def dialect_of(endpoint: Endpoint) -> Dialect:
    """Return an endpoint's dialect."""
    return DIALECTS[dialect_name(endpoint)]
