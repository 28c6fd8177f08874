"""What the provider reported about one round of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add

from chat.vocabulary.parts import JSON
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    Report,
    ResponseIdentified,
    Source,
    SourcesReported,
    Usage,
    UsageReported,
)


@dataclass(slots=True)
class AnswerRound:
    """The provider's reports about one round."""

    finish: Finish | None = None
    """`None` until the provider gives a finish reason. If a response ends without one, it was cut off."""
    finish_reason: str = ""
    """The finish reason in the provider's own word."""
    finish_message: str = ""
    response_id: str = ""
    model_version: str = ""
    metadata: dict[str, JSON] = field(default_factory=dict)
    provider_usage: dict[str, JSON] = field(default_factory=dict)
    """The provider's own report of token counts."""
    started_calls: set[str] = field(default_factory=set)
    """`call_id` of each function call whose tool may have run. See `chat.messages.closing`."""
    state: str = ""
    """The text about the tools that the request contained."""
    _sources: dict[str, SourcesReported] = field(default_factory=dict)
    _usage: Usage | None = None
    """Token counts from the last report of the current attempt."""
    _usage_before: Usage | None = None
    """Token counts of earlier attempts, which are billed too."""

    @property
    def usage(self) -> Usage | None:
        """Token counts of all attempts at this round."""
        if self._usage_before is None or self._usage is None:
            return self._usage or self._usage_before
        return self._usage_before + self._usage

    @property
    def is_counted(self) -> bool:
        """Return whether the token counts of the current attempt are known or estimated. Reports with only zeros
        do not count.
        """
        return self._usage is not None and bool(self._usage.total or self._usage.estimated)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The web pages that the provider reported as sources."""
        return tuple(source for report in self._sources.values() for source in report.sources)

    @property
    def queries(self) -> tuple[str, ...]:
        """The search queries of the provider."""
        return tuple(query for report in self._sources.values() for query in report.queries)

    def apply(self, report: Report) -> None:
        """Apply one report of the provider."""
        match report:
            case UsageReported(usage, raw):
                self._usage, self.provider_usage = usage, dict(raw)
            case Finished(finish, reason, message):
                self.finish, self.finish_reason, self.finish_message = finish, reason, message
            case ResponseIdentified(response_id, model_version):
                self.response_id, self.model_version = response_id, model_version
            case SourcesReported(name):
                self._sources[name] = report
            case MetadataReported(name, value):
                self.metadata[name] = value

    def restart(self) -> None:
        """Reset the reports of the last attempt, except its token counts."""
        self._usage_before, self._usage = self.usage, None
        self.finish, self.finish_reason, self.finish_message = None, "", ""
        self.metadata.clear()
        self._sources.clear()


def total_usage(rounds: Iterable[AnswerRound]) -> Usage | None:
    """Return the token counts of these rounds together; `None` if the provider reported none."""
    counts = [usage for one in rounds if (usage := one.usage) is not None]
    return reduce(add, counts) if counts else None
