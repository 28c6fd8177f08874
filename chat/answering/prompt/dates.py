"""Makes the line that tells the model the person's date and time. It follows the question. No row stores it."""

from __future__ import annotations

from collections.abc import Sequence

from chat.messages.records import MessageRecord
from chat.models import Message, Turn
from chat.people.time_zones import parse_zone
from chat.vocabulary.parts import Text

NOTE = "[Note of the server: it is {time:%A}, {time.day} {time:%B %Y, %H:%M}, in the zone {time.tzinfo} (UTC{offset}).]"


def dated_question(turn: Turn, records: Sequence[MessageRecord]) -> tuple[Message, Text]:
    """Return the question that a turn answers, and the line with the time at which the turn started.

    The line is a part of its own after the question's text, so that the provider's cache of everything before stays
    valid. `records`: the messages before the turn's answer that are sent. If the turn continues an answer, the line is
    that of the question before this answer, so that the cache of the answer's rounds stays valid, too.
    """
    asked = turn
    for record in reversed(records):
        if record.turn is not None:
            asked = record.turn
        elif not asked.chosen.get("continues"):
            # A turn from an import has no time zone.
            return record.message, date_note(asked, turn.time_zone)
    return records[-1].message, date_note(turn)


def date_note(turn: Turn, other_zone: str = "") -> Text:
    """Return the date and time at which a turn started, in the zone of the person who asked.

    `other_zone`: the zone to use if the turn has none.
    """
    time = turn.created_at.astimezone(parse_zone(turn.time_zone or other_zone))
    return Text(NOTE.format(time=time, offset=time.isoformat()[-6:]))
