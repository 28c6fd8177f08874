"""Requests to a provider, independent of any wire format. All are pure values except `GenerateRequest.known`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from chat.vocabulary.parts import JSON, Part, Role
from chat.vocabulary.thinking import ThinkingLevel


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    """A tool that the provider runs itself: `code_execution`, `web_search` or `url_context`."""

    name: str


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function of Plotline that the model may call."""

    name: str
    """The name of the function: at most 64 letters, digits, `_` and `-`."""
    description: str
    parameters: Mapping[str, JSON] = field(default_factory=dict)
    """A JSON schema of type `object`. Empty: no parameters."""


Tool: TypeAlias = BuiltInTool | FunctionTool


class ToolChoice(StrEnum):
    """Whether the model may, must not or must call a function."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a model thinks. Without a level and a budget, the model's own default applies."""

    level: ThinkingLevel | None = None
    budget_tokens: int | None = None
    """0: do not think. -1: the model decides. Not to be combined with a level."""
    include_thoughts: bool = True
    """Whether the answer contains summaries of the thoughts."""


@dataclass(frozen=True, slots=True)
class Content:
    """Consecutive parts of one role, in order."""

    role: Role
    parts: tuple[Part, ...]
    is_own: bool = True
    """Whether these parts come from the provider, account and model of this request.

    Parts of another model have no `provider_data`.
    """


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One request for an answer."""

    model: str
    contents: tuple[Content, ...]
    system_instruction: str = ""
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    thinking: Thinking = Thinking()
    temperature: float | None = None
    max_output_tokens: int | None = None
    image_output: bool = False
    """Whether the model answers with images in addition to text."""
    state: str = ""
    """Text about the present state of the tools, such as variables. It follows the newest results.

    No later request repeats it. So the contents before it stay the same, and the provider's cache of them stays valid.
    """
    continuation_token: str = ""
    """The token that the service gave for the rest of an answer; empty, unless this request asks for that rest."""
    protocol: str = ""
    """The protocol that the model's row names. Empty: the protocol of the provider's other models."""
    known: object = field(default=None, repr=False)
    """`Capabilities.known` of the model. Without it, the provider reads it again."""

    @property
    def functions(self) -> tuple[FunctionTool, ...]:
        """The functions of Plotline among the tools."""
        return tuple(tool for tool in self.tools if isinstance(tool, FunctionTool))
