"""The token counts of a response. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from chat.providers.untrusted_json import WireObject, as_object
from chat.vocabulary.stream_events import Usage, UsageReported

COUNTS_LIMIT = 2**53
USAGE_LIMIT_CHARS = 10_000


def usage_reports(wire: WireObject) -> Iterator[UsageReported]:
    """Yield an event with the token counts of a usage object; nothing if it is empty."""
    if wire:
        yield UsageReported(_usage(wire), wire if len(str(wire)) <= USAGE_LIMIT_CHARS else {})


def _usage(wire: WireObject) -> Usage:
    """Return the counts, under their names in chat completions or in responses.

    `completion_tokens` of most servers, but not of all, include those of the reasoning, which are then subtracted.
    """
    prompt = _first_count(wire.get("prompt_tokens"), wire.get("input_tokens"))
    completion = _first_count(wire.get("completion_tokens"), wire.get("output_tokens"))
    total = _first_count(wire.get("total_tokens"))
    details = as_object(wire.get("completion_tokens_details")) or as_object(wire.get("output_tokens_details"))
    thoughts = _first_count(details.get("reasoning_tokens"), wire.get("reasoning_tokens"))
    is_included = total is None or total != (prompt or 0) + (completion or 0) + (thoughts or 0)
    if completion is not None and thoughts and is_included:
        completion = max(0, completion - thoughts)
    prompt_details = as_object(wire.get("prompt_tokens_details")) or as_object(wire.get("input_tokens_details"))
    cached = _first_count(prompt_details.get("cached_tokens"), wire.get("prompt_cache_hit_tokens"))
    if total is None and (prompt, completion) != (None, None):
        total = (prompt or 0) + (completion or 0) + (thoughts or 0)
    return Usage(prompt=prompt, thoughts=thoughts, candidates=completion, cached=cached, total=total)


def _first_count(*values: object) -> int | None:
    counts = (int(value) for value in values if isinstance(value, int | float) and 0 <= value < COUNTS_LIMIT)
    return next(counts, None)
