"""Errors of Python sessions."""

from __future__ import annotations

from chat.people.quotas.resources import QuotaExceeded


class SessionUnavailable(Exception):
    """Code cannot run in the session now. The text is a sentence for the user and the model."""


class KernelTimeUsedUp(QuotaExceeded, SessionUnavailable):
    """The person's code may not run any more today, because its time is used up."""
