"""Renders the numbers of an answer with their sources, which the line below the answer shows."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from chat.messages.numbers.as_json import NumberJSON
from chat.models import Turn
from chat.page.rendering.jinja import render
from chat.vocabulary.parts import Part, Text

IN_RESULTS = ("output", "file", "derived")
"""Verdicts of numbers that were found in outputs or files, or computed from them."""
JUST_ENDED = timedelta(minutes=1)
"""Time after the end of an answer in which the search for the sources of its numbers may still run."""
_BEFORE_CHARS = 60
_BEFORE_LETTERS = 6
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class NumberView:
    """A number of an answer."""

    text: str
    before: str
    """The last letters before the number, by which the page finds it. Markdown is shown with other signs and digits."""
    verdict: str
    line: int
    source: str
    """The text of the line with its source, or the computation; empty if it has no source."""


def numbers_url(message_id: uuid.UUID, parts: Iterable[Part]) -> str:
    """Return where the page gets the numbers of an answer with their sources; empty if its texts have no digits."""
    has_digits = any(isinstance(part, Text) and _DIGIT.search(part.text) for part in parts)
    return reverse("message-numbers", args=[message_id]) if has_digits else ""


def has_just_ended(turn: Turn) -> bool:
    """Return whether the turn ended so recently that the search for the sources of its numbers may still run."""
    return turn.ended_at is not None and turn.ended_at > timezone.now() - JUST_ENDED


def numbers_html(
    text: str, numbers: Sequence[NumberJSON], unread_files: Sequence[str] = (), *, is_asked: bool = False
) -> SafeString:
    """Render the content of the line below an answer with this text: its sentence and the list of the numbers.

    `is_asked`: the line is shown even if there are no numbers.
    """
    views = [_view(text, one) for one in numbers]
    known = sum(one.verdict in IN_RESULTS for one in views)
    context = {"numbers": views, "known": known, "unread_files": unread_files, "is_asked": is_asked}
    return render("chat/_numbers", context)


def _view(text: str, one: NumberJSON) -> NumberView:
    before = "".join(filter(str.isalpha, text[max(0, one["start"] - _BEFORE_CHARS) : one["start"]]))
    source = one.get("source")
    line, said = (source["line"], source["text"]) if source else (0, "")
    return NumberView(one["text"], before[-_BEFORE_LETTERS:], one["verdict"], line, said)
