"""Decides when a request to a provider is repeated, and how the repeated request differs. Pure.

A temporary failure before the first byte of a response is retried after a pause. After the first byte there is no
retry, except those for a response without content.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from chat.answering.prompt.replay import Replay
from chat.providers.provider_errors import (
    ContextTooLong,
    FileGone,
    FileRefused,
    InvalidRequest,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
    ToolsRefused,
    ToolsUnsupported,
    Unreachable,
)
from chat.providers.requests import GenerateRequest
from chat.vocabulary.stream_events import Finish

TEMPORARY = (RateLimited, Overloaded, Unreachable)

SMALLEST_SHARE = 1 / 16
"""Minimum share of the context window for a retry. If that is too long, the last question alone is too long."""

SUSPECTS_LIMIT = 4
"""Maximum number of files that are suspected after a refusal that does not mention files. With more files, their number
may be the reason.
"""

RETRIED_FINISHES = frozenset(
    {
        Finish.STOP,
        Finish.MALFORMED_CALL,
        Finish.UNEXPECTED_CALL,
        Finish.MALFORMED_RESPONSE,
        Finish.MISSING_SIGNATURE,
    }
)
"""Finishes after which an answer without content is requested once more."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The provider is to be asked once more."""

    pause_s: float = 0.0
    sentence: str = ""
    """The sentence that pages show during the pause."""
    forgets_files: bool = False
    """True if files that the provider stored must be uploaded again."""


@dataclass(slots=True)
class RetryPolicy:
    """Decides about the attempts at one round, and remembers what was tried."""

    replay: Replay
    """How much of earlier messages the next attempt sends."""
    limit: int
    """Maximum number of attempts while the failures are temporary."""
    first_pause_s: float
    longest_pause_s: float
    jitter: Callable[[], float]
    """Returns a random number from 0 to 1."""
    suspected_files: frozenset[uuid.UUID] = frozenset()
    """Files and images of a refused request. If the next request, without them, is accepted, they were the reason."""
    _failures: int = 0
    _tried: set[str] = field(default_factory=set)

    def after_failure(
        self, error: ProviderError, *, sent_files: Collection[uuid.UUID], request: GenerateRequest | None = None
    ) -> Retry | None:
        """Return the retry after a failure before the first byte; `None` if the error is final.

        `sent_files`: ids of the files and images of earlier messages in the request. `request`: the sent request;
        `None` if none was sent.
        """
        self.suspected_files = frozenset()
        if isinstance(error, TEMPORARY):
            return self._wait(error)
        if isinstance(error, FileGone):
            return self._once("lost files", Retry(forgets_files=True))
        if isinstance(error, ContextTooLong):
            share = self.replay.context_share / 2
            if share < SMALLEST_SHARE:
                return None
            return self._with_replay(f"share {share}", replace(self.replay, context_share=share))
        if isinstance(error, SignatureRefused):
            return self._with_replay("signatures", replace(self.replay, has_signatures=False))
        if isinstance(error, ToolsRefused):
            return self._with_replay("tools", replace(self.replay, combines_tools=False))
        if isinstance(error, ToolsUnsupported) and request and request.tools:
            return self._with_replay("all tools", replace(self.replay, has_tools=False))
        if isinstance(error, InvalidRequest) and request and request.continuation_token:
            return self._with_replay("token", replace(self.replay, has_token=False))
        if isinstance(error, InvalidRequest) and sent_files:
            if isinstance(error, FileRefused) or len(sent_files) <= SUSPECTS_LIMIT:
                self.suspected_files = frozenset(sent_files)
            return self._with_replay("files", replace(self.replay, has_files=False))
        return None

    def after_blank(self, finish: Finish | None, *, is_empty: bool = False) -> Retry | None:
        """Return the retry after an answer without content; `None` if the answer is accepted.

        `is_empty`: whether the response had neither a part nor a finish reason.
        """
        if finish is Finish.MISSING_SIGNATURE:
            return self._with_replay("signatures", replace(self.replay, has_signatures=False))
        return self._once("blank", Retry()) if is_empty or finish in RETRIED_FINISHES else None

    def _wait(self, error: ProviderError) -> Retry | None:
        self._failures += 1
        if self._failures >= self.limit:
            return None
        pause_s = error.retry_after_s
        if pause_s is None:
            pause_s = self.first_pause_s * 2 ** (self._failures - 1)
        if pause_s > self.longest_pause_s:
            return None
        # Jitter: turns that were refused at the same time must not retry at the same time.
        pause_s *= 1 + self.jitter() / 4
        seconds = max(1, round(pause_s))
        return Retry(pause_s, f"The model's service is busy or out of reach. Asking again in {seconds} s…")

    def _with_replay(self, what: str, replay: Replay) -> Retry | None:
        retry = self._once(what, Retry())
        if retry:
            self.replay = replay
        return retry

    def _once(self, what: str, retry: Retry) -> Retry | None:
        if what in self._tried:
            return None
        self._tried.add(what)
        return retry
