"""Makes the line that tells the model the person's date and time. It follows the question; no row stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chat.messages.records import MessageRecord
from chat.models import Message, Turn
from chat.people.time_zones import parse_zone
from chat.vocabulary.parts import Text

NOTE = "[Note of the server: it is {time:%A}, {time.day} {time:%B %Y, %H:%M}, in the zone {time.tzinfo} (UTC{offset}).]"


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """The question that is sent with a date."""

    message: Message
    note: Text
    """The date as a part of its own after the question's text, so that the provider's cache of everything before stays
    valid.
    """


def dated_question(turn: Turn, records: Sequence[MessageRecord]) -> DatedQuestion:
    """Return the question that a turn answers, with the time at which the turn started.

    `records`: the messages before its answer that are sent. If a turn continues an answer, the date stays where it was
    sent with that answer, so that the cache of the answer's rounds remains valid.
    """
    asked = turn
    for record in reversed(records):
        if record.turn is not None:
            asked = record.turn
        elif not asked.chosen.get("continues"):
            # A turn from an import has no time zone.
            return DatedQuestion(record.message, date_note(asked, turn.time_zone))
    return DatedQuestion(records[-1].message, date_note(turn))


def date_note(turn: Turn, other_zone: str = "") -> Text:
    """Return the date and time at which a turn started, in the zone of the person who asked.

    `other_zone`: the zone to use if the turn has none.
    """
    time = turn.created_at.astimezone(parse_zone(turn.time_zone or other_zone))
    return Text(NOTE.format(time=time, offset=time.isoformat()[-6:]))
