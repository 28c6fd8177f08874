"""What stands under an answer: how it was made, and the pages it rests on. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from chat.fragments import About, Grounding, Source
from chat.models import Turn

USAGE_WORDS = {
    "prompt": "read",
    "tool_use": "read by its tools",
    "cached": "of these from cache",
    "thoughts": "thought",
    "candidates": "written",
}
SOURCES_LIMIT = 50
URL_LIMIT_CHARS = 2_000
DECEIVING = re.compile(r"[\\\s\x00-\x1f]|^[^/]*//[^/?#]*@")
QUERIES_LIMIT = 20


def about(turn: Turn) -> About:
    """How the answer of a turn was made; usage once it has ended."""
    usage = {} if turn.is_live else turn.usage
    # Clocks are set back at times.
    duration = max(0.0, (turn.ended_at - turn.created_at).total_seconds()) if turn.ended_at else None
    return About(
        model=turn.parameters.get("label") or turn.model,
        code_execution=turn.code_execution,
        code_reason=turn.code_reason,
        usage=tuple((words, usage[name]) for name, words in USAGE_WORDS.items() if usage.get(name)),
        total=usage.get("total"),
        cost=dollars(turn.cost),
        duration_s=None if duration is None else round(duration, 1),
    )


def dollars(cost: Decimal | None) -> str:
    """An amount with the digits that say something: `$0.0021`, `$1.20`; empty where none is known."""
    if cost is None:
        return ""
    if cost and cost < Decimal("0.0001"):
        return "<$0.0001"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def grounding_of(metadata: Mapping[str, Any]) -> Grounding | None:
    """The web pages that a provider says it used; None where there are none.

    Source: groundingMetadata and urlContextMetadata of ai.google.dev/api/generate-content. Only http and https
    addresses are taken, each once; whatever else the provider's words hold is left out.
    """
    found = {source.url: source for source in reversed(list(_sources(metadata)))}
    sources = tuple(reversed(found.values()))[:SOURCES_LIMIT]
    queries = tuple(dict.fromkeys(_queries(metadata)))[:QUERIES_LIMIT]
    return Grounding(sources, queries) if sources or queries else None


def _sources(metadata: Mapping[str, Any]) -> Iterator[Source]:
    for chunk in _dicts(_dict(metadata.get("groundingMetadata")).get("groundingChunks")):
        web = _dict(chunk.get("web") or chunk.get("retrievedContext") or chunk.get("maps"))
        yield from _source(web.get("uri"), web.get("title"))
    for page in _dicts(_dict(metadata.get("urlContextMetadata")).get("urlMetadata")):
        if str(page.get("urlRetrievalStatus", "")).endswith("_SUCCESS"):
            yield from _source(page.get("retrievedUrl"), None)


def _source(url: object, title: object) -> Iterator[Source]:
    # Browsers take a backslash for a slash, and what stands before @ for a name: the host shown must be the one opened.
    if not isinstance(url, str) or len(url) > URL_LIMIT_CHARS or DECEIVING.search(url):
        return
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return
    if parts.scheme in ("http", "https") and host:
        name = title if isinstance(title, str) and title.strip() else host
        yield Source(url, " ".join(name.split())[:200], host)


def _queries(metadata: Mapping[str, Any]) -> Iterator[str]:
    queries = _dict(metadata.get("groundingMetadata")).get("webSearchQueries")
    for query in queries if isinstance(queries, list) else ():
        if isinstance(query, str) and query.strip():
            yield " ".join(query.split())[:200]


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
