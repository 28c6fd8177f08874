"""The vocabulary of a turn: what a message is made of, and what a provider says while it answers.

Pure values: no clock, no network, no database. Kinds are Gemini's field names; what has no field here is
kept in wire form in `Part.fields`, so that nothing a provider sent is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


class Role(StrEnum):
    """Who said a message."""

    USER = "user"
    MODEL = "model"


class PartKind(StrEnum):
    """What a part holds; the same string in database, template, API and export."""

    TEXT = "text"
    THOUGHT = "thought"
    EXECUTABLE_CODE = "executable_code"
    CODE_EXECUTION_RESULT = "code_execution_result"
    INLINE_DATA = "inline_data"
    FILE_DATA = "file_data"
    FUNCTION_CALL = "function_call"
    FUNCTION_RESPONSE = "function_response"
    UNSUPPORTED = "unsupported"
    """A kind we do not know: its wire form is whole in `Part.fields`."""


OUTCOME_OK = "OUTCOME_OK"
OUTCOME_FAILED = "OUTCOME_FAILED"
OUTCOME_DEADLINE_EXCEEDED = "OUTCOME_DEADLINE_EXCEEDED"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message, exactly as the provider sent it."""

    kind: PartKind
    text: str | None = None
    """Text of `text` and `thought`, code of `executable_code`, output of `code_execution_result`; None is "absent"."""
    language: str = ""
    """Of `executable_code`, as on the wire: `PYTHON`."""
    outcome: str = ""
    """Of `code_execution_result`, as on the wire: `OUTCOME_OK`; unknown values are kept."""
    call_id: str = ""
    """Gemini's `id` of code, result and function parts; often absent."""
    mime_type: str = ""
    """Of `inline_data` and `file_data`."""
    data: bytes | None = None
    """The bytes of `inline_data`."""
    fields: Mapping[str, JSON] = field(default_factory=dict)
    """All else of the part in wire form (camelCase): `fileUri`, function `name` and `args`, `toolCall`, ..."""
    thought_signature: bytes | None = None

    @property
    def is_answer(self) -> bool:
        """Whether a person would take it for some of an answer: thoughts and empty texts are none."""
        return self.kind is not PartKind.THOUGHT and (self.kind is not PartKind.TEXT or bool(self.text))

    @property
    def is_open_text(self) -> bool:
        """Whether a later increment of the same kind may be joined to this part."""
        return self.kind in (PartKind.TEXT, PartKind.THOUGHT) and self.thought_signature is None and not self.fields


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one generation, as the last chunk that had them said; None is "not said"."""

    prompt: int | None = None
    tool_use: int | None = None
    """Intermediate tokens of code execution, billed as input."""
    thoughts: int | None = None
    candidates: int | None = None
    cached: int | None = None
    total: int | None = None

    def __add__(self, other: Usage) -> Usage:
        """Both together; what neither said stays unsaid."""
        return Usage(
            *(
                None if mine is None and theirs is None else (mine or 0) + (theirs or 0)
                for mine, theirs in zip(astuple(self), astuple(other), strict=True)
            )
        )


# --- what a provider yields -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PartReceived:
    """A part, or an increment of a text part, in wire order."""

    part: Part


@dataclass(frozen=True, slots=True)
class UsageReported:
    """A snapshot; the last one counts, they are not monotonic."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class FinishReported:
    """A finish reason; it does not end the stream, and the last one counts."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class PromptBlocked:
    """The prompt was refused; no part follows."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ResponseDescribed:
    """What the provider calls this answer and who gave it."""

    response_id: str
    model_version: str


@dataclass(frozen=True, slots=True)
class MetadataReported:
    """Grounding, citations, URL context, safety ratings: wire form, kept as it came under its wire name."""

    name: str
    value: JSON


StreamEvent: TypeAlias = (
    PartReceived | UsageReported | FinishReported | PromptBlocked | ResponseDescribed | MetadataReported
)


# --- what a provider is asked ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Content:
    """One side's say in a request."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One generation, in no provider's words."""

    model: str
    contents: tuple[Content, ...]
    system_instruction: str = ""
    code_execution: bool = False
    google_search: bool = False
    url_context: bool = False
    image_output: bool = False
    """Whether the model answers with images beside text."""
    thinking_level: str = ""
    """`LOW`, `HIGH`, ... as on the wire; empty: the model's own. Never beside a budget."""
    thinking_budget: int | None = None
    """Tokens; 0 is off, -1 as the model sees fit."""
    temperature: float | None = None
    max_output_tokens: int | None = None
    include_thoughts: bool = True
