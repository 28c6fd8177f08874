"""Collects the changes of one live turn until they are stored in its log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TypeAlias

from chat.answering.turns.finish import Ending
from chat.answering.turns.store import StoreResult, TurnLost, TurnWrite
from chat.messages.changes import Change, Reported
from chat.messages.log import coalesce_changes
from chat.models import Turn
from chat.page.relay.batching import BatchedCalls
from chat.vocabulary.stream_events import UsageReported

Commits: TypeAlias = BatchedCalls[TurnWrite, StoreResult]


class NotStored(Exception):
    """Changes of a turn cannot be stored."""


class LogWriter:
    """Collects changes, and has them stored in order, one transaction after the other."""

    def __init__(self, turn: Turn, commits: Commits, *, seq: int, has_part: bool) -> None:
        """`turn`: the row, which gets the columns of the end once they are stored. `seq`: the last step of the log.

        `has_part`: whether the log already has a part.
        """
        self._turn = turn
        self._commits = commits
        self._seq = seq
        self._has_part = has_part
        self._changes: list[Change] = []
        """Changes that are not stored yet."""
        self._storing: tuple[TurnWrite, asyncio.Future[StoreResult]] | None = None
        """Changes that are being stored, until they are confirmed."""
        self.usage_chars = 0
        """Number of characters of the token counts that were submitted. Many servers send them with each chunk, so only
        few are submitted.
        """

    @property
    def has_changes(self) -> bool:
        """Return whether there are changes that were not submitted."""
        return bool(self._changes)

    def add(self, changes: Iterable[Change]) -> None:
        """Add changes to the next transaction."""
        self._changes += changes

    def submit(self, ending: Ending | None = None, *, waits_after_s: float | None = None) -> None:
        """Submit all changes to the next transaction. Changes that were submitted before must be confirmed first."""
        changes = coalesce_changes(self._changes)
        self._changes = []
        reports = (change.report for change in changes if isinstance(change, Reported))
        self.usage_chars += sum(len(str(report)) for report in reports if isinstance(report, UsageReported))
        write = TurnWrite(
            turn=self._turn,
            changes=changes,
            first_seq=self._seq + 1,
            had_no_part=not self._has_part,
            ending=ending,
            waits_after_s=waits_after_s,
        )
        self._has_part = self._has_part or write.has_first_part
        self._seq = write.last_seq
        self._storing = write, self._commits.submit(write)

    async def confirm(self) -> tuple[TurnWrite, StoreResult] | None:
        """Wait until submitted changes are stored, and return them. `None` if there are none.

        Raises TurnLost if another process has ended the turn, and NotStored if the changes cannot be stored. If the
        caller is cancelled, the changes are still stored, and the next call returns them.
        """
        if self._storing is None:
            return None
        write, result = self._storing
        try:
            # If this task is cancelled, the changes are stored nevertheless.
            stored = await asyncio.shield(result)
        except (TurnLost, asyncio.CancelledError):
            raise
        except Exception as error:
            raise NotStored from error
        self._storing = None
        if write.ending:
            write.ending.apply_to(self._turn)
        return write, stored
