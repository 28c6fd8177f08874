"""The two statements of every commit, as plain SQL.

Ten chats with 20 chunks a second each make some 110 commits a second. In each, the ORM took 0.48 ms to compile and run
both statements, and the event loop had to wait for that. As plain SQL they take 0.07 ms.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from django.db import connection

from chat.models import Turn, TurnEvent
from chat.models.plain_sql import lock_clause
from chat.vocabulary.parts import JSONObject

ROWS_LIMIT = 200
"""Maximum number of rows of one statement. Older versions of SQLite allow 999 values in a statement."""

_TURN_ID = Turn._meta.pk
_DATA = TurnEvent._meta.get_field("data")


def lock_held_turns(turn_ids: Sequence[uuid.UUID], lease_owner: str) -> dict[uuid.UUID, bool]:
    """Lock those of the turns whose lease this process holds. Return for each whether a stop was requested."""
    if not turn_ids:
        return {}
    ids = {_TURN_ID.get_db_prep_value(turn_id, connection): turn_id for turn_id in turn_ids}
    sql = (
        "SELECT id, stop_requested FROM chat_turn"
        f" WHERE id IN ({_places(len(ids))}) AND status = %s AND lease_owner = %s{lock_clause()}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*ids, Turn.Status.RUNNING.value, lease_owner])
        return {ids[turn_id]: bool(is_stop_requested) for turn_id, is_stop_requested in cursor.fetchall()}


def append_rows(rows: Iterable[tuple[uuid.UUID, int, str, JSONObject]]) -> None:
    """Append rows to logs: the turn's id, `seq`, name and data of each.

    Raises IntegrityError if a turn's log already has a row with this `seq`.
    """
    values = [
        value
        for turn_id, seq, name, data in rows
        for value in (
            _TURN_ID.get_db_prep_value(turn_id, connection),
            seq,
            name,
            _DATA.get_db_prep_value(data, connection),
        )
    ]
    for start in range(0, len(values), 4 * ROWS_LIMIT):
        some = values[start : start + 4 * ROWS_LIMIT]
        places = ", ".join([f"({_places(4)})"] * (len(some) // 4))
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO chat_turnevent (turn_id, seq, name, data) VALUES {places}", some)


def _places(number: int) -> str:
    return ", ".join(["%s"] * number)
