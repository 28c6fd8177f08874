"""Reads the log of a turn and computes the answer that it describes.

This takes tenths of a second for a long log. On the thread of `turn_store`, no live answer could store its changes
meanwhile; with SQLite also not during a transaction, because SQLite has one writer. So a function that changes a turn
by its log runs on another thread, and reads the log twice: the whole log before the transaction, and inside it the rows
that were added since.
"""

from __future__ import annotations

import logging
import uuid

from django.db import InterfaceError, OperationalError

from chat.messages.answer import Answer
from chat.messages.log import from_row
from chat.models import TurnEvent

logger = logging.getLogger(__name__)


class UnreadableLog(Exception):
    """This version cannot read the log of a turn."""


class StoredLog:
    """The log of one turn, up to the last row that has been read."""

    def __init__(self, turn_id: uuid.UUID) -> None:
        """Read the whole log."""
        self.turn_id = turn_id
        self._answer: Answer | None = Answer()
        self.last_seq = 0
        """The last step that has been read."""
        self.read_on()

    @property
    def answer(self) -> Answer:
        """The answer that the log describes. Raises UnreadableLog if this version cannot read the log."""
        if self._answer is None:
            raise UnreadableLog(f"the log of turn {self.turn_id} could not be read")
        return self._answer

    def read_on(self) -> None:
        """Read the rows that were added since the last call. In a transaction that has locked the turn, no more are
        added.
        """
        if self._answer is None:
            return
        rows = TurnEvent.objects.filter(turn=self.turn_id, seq__gt=self.last_seq).order_by("seq")
        try:
            for seq, name, data in rows.values_list("seq", "name", "data"):
                if change := from_row(name, data):
                    self._answer.apply(change)
                self.last_seq = seq
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("the log of turn %s could not be read", self.turn_id)
            self._answer = None
