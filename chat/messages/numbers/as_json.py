"""Converts traced numbers to the JSON that is stored and that the API returns. Pure."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from chat.messages.numbers.ledger import TracedNumber
from chat.messages.numbers.sources import Verdict
from chat.vocabulary.sanitize import sanitize_text

LINE_LIMIT_CHARS = 300
"""Maximum number of characters of a source's line that are stored."""


class SourceJSON(TypedDict):
    """The source of a number."""

    message_id: str | None
    part_index: int | None
    line: int
    text: str


class NumberJSON(TypedDict):
    """A number of an answer. See the documentation of the API."""

    text: str
    start: int
    end: int
    value: str
    unit: str
    verdict: Verdict
    source: NotRequired[SourceJSON]


def number_json(text: str, one: TracedNumber) -> NumberJSON:
    """Return a traced number as JSON. `text`: the text of the answer."""
    json: NumberJSON = {
        "text": text[one.start : one.end],
        "start": one.start,
        "end": one.end,
        "value": f"{one.value:f}",
        "unit": one.unit,
        "verdict": one.verdict,
    }
    if one.note:
        json["source"] = {"message_id": None, "part_index": None, "line": 0, "text": one.note}
    elif one.hit is not None:
        source = one.hit.source
        json["source"] = {
            "message_id": str(source.message_id) if source.message_id else None,
            "part_index": source.part_index,
            "line": one.hit.line,
            # The source may be a file whose bytes a database cannot store as text.
            "text": sanitize_text(one.hit.line_text[:LINE_LIMIT_CHARS]),
        }
    return json
