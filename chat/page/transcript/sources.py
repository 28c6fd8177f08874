"""Selects the sources of an answer that a page may link to. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from chat.page.message_views import Grounding, SourceView

SOURCES_LIMIT = 50
QUERIES_LIMIT = 20
URL_LIMIT_CHARS = 2_000
WORDS_LIMIT_CHARS = 200

MISLEADING_URL = re.compile(r"[\\\s\x00-\x1f]|^[^/]*//[^/?#]*@")
"""URLs that may open another host than they show: browsers read `\\` as `/`, and text before `@` as a user name."""


def grounding_of(sources: Iterable[Mapping[str, object]], queries: Iterable[object]) -> Grounding | None:
    """Return the pages and searches to show; `None` if there are none.

    `sources`, `queries`: values that `Turn` stores. They may come from an import, so they may have any form. Only http
    and https addresses are returned, each once.
    """
    views = {view.url: view for view in reversed([view for source in sources for view in _source_views(source)])}
    searched = [" ".join(query.split())[:WORDS_LIMIT_CHARS] for query in queries if isinstance(query, str)]
    shown = tuple(reversed(views.values()))[:SOURCES_LIMIT]
    asked = tuple(dict.fromkeys(query for query in searched if query))[:QUERIES_LIMIT]
    return Grounding(shown, asked) if shown or asked else None


def _source_views(source: Mapping[str, object]) -> Iterator[SourceView]:
    """Yield the view of a source, if a page may link to its address."""
    url, title = source.get("url"), source.get("title")
    if not isinstance(url, str) or len(url) > URL_LIMIT_CHARS or MISLEADING_URL.search(url):
        return
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return
    if parts.scheme in ("http", "https") and host:
        name = title if isinstance(title, str) and title.strip() else host
        yield SourceView(url, " ".join(name.split())[:WORDS_LIMIT_CHARS], host)
