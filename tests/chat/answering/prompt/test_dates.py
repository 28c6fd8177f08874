"""The line with date and time behind a question, and the question that it follows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chat.answering.prompt.dates import date_note, dated_question
from chat.messages.records import MessageRecord
from chat.models import Message, Turn

ASKED_AT = datetime(2026, 11, 26, 23, 55, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("Europe/Berlin", "Friday, 27 November 2026, 00:55, in the zone Europe/Berlin (UTC+01:00)"),
        ("America/St_Johns", "Thursday, 26 November 2026, 20:25, in the zone America/St_Johns (UTC-03:30)"),
        ("", "Thursday, 26 November 2026, 23:55, in the zone UTC (UTC+00:00)"),
    ],
)
def test_date_line_has_the_start_time_of_the_turn_in_the_persons_time_zone(zone: str, words: str) -> None:
    assert date_note(Turn(created_at=ASKED_AT, time_zone=zone)).text == f"[Note of the server: it is {words}.]"


def records(*turns: Turn | None) -> list[MessageRecord]:
    """Return questions; for each turn also the answer that it wrote."""
    return [MessageRecord(Message(), turn) for turn in turns]


def test_only_the_newest_question_has_a_date_line_with_the_start_of_its_turn() -> None:
    rows = records(None, Turn(), None)
    message, note = dated_question(Turn(created_at=ASKED_AT), rows)
    assert message is rows[-1].message
    assert "26 November 2026" in note.text


def test_continuation_keeps_the_date_of_the_question_that_it_continues() -> None:
    asked = Turn(created_at=ASKED_AT)
    again, now = (Turn(chosen={"continues": True}, time_zone="Europe/Berlin") for _ in range(2))
    rows = records(None, Turn(), None, asked, None, again, None)
    message, note = dated_question(now, rows)
    assert message is rows[2].message
    # The imported turn has no time zone, so the zone of the new turn is used.
    assert "27 November 2026, 00:55, in the zone Europe/Berlin" in note.text
