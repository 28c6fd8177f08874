"""Events of a provider's stream, independent of any wire format. Pure values.

The provider's own finish reason, usage report and metadata are kept beside the neutral values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from chat.vocabulary.parts import JSON, Part

CONTINUATION_TOKEN = "continuationToken"
"""The name of the metadata that continues an answer after `Finish.CONTINUATION`. Stored rows use this name too."""


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    """The model finished its answer."""
    LENGTH = "length"
    CONTINUATION = "continuation"
    """The provider continues the answer if it is asked to."""
    ROUND_LIMIT = "round_limit"
    """The model still called functions in the last round that a turn may have."""

    SAFETY = "safety"
    RECITATION = "recitation"
    LANGUAGE = "language"
    BLOCKLIST = "blocklist"
    PROHIBITED_CONTENT = "prohibited_content"
    PERSONAL_DATA = "personal_data"
    POLICY = "policy"
    ESCALATION = "escalation"
    BLOCKED = "blocked"
    """The provider blocked the answer and does not say why."""

    IMAGE_SAFETY = "image_safety"
    IMAGE_PROHIBITED_CONTENT = "image_prohibited_content"
    IMAGE_RECITATION = "image_recitation"
    IMAGE_WITHHELD = "image_withheld"
    """The provider withheld an image and does not say why."""
    NO_IMAGE = "no_image"

    TOO_MANY_TOOL_CALLS = "too_many_tool_calls"
    MALFORMED_CALL = "malformed_call"
    CALL_AS_TEXT = "call_as_text"
    """The model wrote a function call as text, because its server does not parse calls."""
    UNEXPECTED_CALL = "unexpected_call"
    MALFORMED_RESPONSE = "malformed_response"
    MISSING_SIGNATURE = "missing_signature"
    UNKNOWN = "unknown"
    """A reason that Plotline does not know."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts from the last chunk that carried usage. `None`: the provider did not report this count."""

    prompt: int | None = None
    tool_use: int | None = None
    """Tokens that the provider's own tools added to the prompt. They are billed as input."""
    thoughts: int | None = None
    candidates: int | None = None
    cached: int | None = None
    """The part of `prompt` that the provider read from its cache."""
    total: int | None = None
    estimated: int | None = None
    """Estimated sum of the tokens of all requests for which the provider reported none. It is not included
    in `total`.
    """

    def __add__(self, other: Usage) -> Usage:
        """Return the sum. A count that neither side reported stays `None`."""
        return Usage(
            *(
                None if left is None and right is None else (left or 0) + (right or 0)
                for left, right in zip(self.counts().values(), other.counts().values(), strict=True)
            )
        )

    def counts(self) -> dict[str, int | None]:
        """Return the counts as JSON: name -> count."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Source:
    """A web page that an answer is based on, as the provider reported it. Unchecked."""

    url: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class PartReceived:
    """A whole part, or an increment of a text."""

    part: Part


@dataclass(frozen=True, slots=True)
class TextBecameThought:
    """The server shows only now that all text of this response so far was reasoning."""


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Token counts so far. They may decrease: the last event is valid."""

    usage: Usage
    raw: Mapping[str, JSON] = field(default_factory=dict)
    """The provider's own report."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The provider ended the answer, for a reason. More events may follow, and the last `Finished` is valid."""

    finish: Finish
    reason: str = ""
    """The provider's own word."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class ResponseIdentified:
    """The provider's id of the response, and the model that answers."""

    response_id: str
    model_version: str


@dataclass(frozen=True, slots=True)
class SourcesReported:
    """The web pages that the answer is based on, and the search queries. Replaces an earlier report of the
    same name.
    """

    name: str
    sources: tuple[Source, ...] = ()
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataReported:
    """Other data about the response, under the provider's own name for it. Replaces an earlier value of that name."""

    name: str
    value: JSON


Report: TypeAlias = UsageReported | Finished | ResponseIdentified | SourcesReported | MetadataReported
"""An event about the whole response."""


@dataclass(frozen=True, slots=True)
class OutputsRedrawn:
    """Code that runs in the Python session has changed outputs that it showed before."""

    parts: tuple[Part, ...]
    """All outputs of the code so far, as they are now: texts (results without an outcome), graphs and rich outputs."""
    cleared: tuple[str, ...] = ()
    """Texts that the code showed before and has now cleared."""
    left_out: int = 0
    """The number of cleared texts that are not kept."""
    call_id: str = ""
    """`call_id` of the code."""


StreamEvent: TypeAlias = PartReceived | OutputsRedrawn | TextBecameThought | Report
ToolOutput: TypeAlias = Part | OutputsRedrawn
"""One output of a tool."""
