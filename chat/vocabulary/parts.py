"""The parts that a message is made of. Pure values: no clock, no network, no database.

Each kind of part is a frozen dataclass below. `PART_TYPES` lists them all, and the table shows where each kind is read
and written. A test fails for a kind that one of these places does not know.

| place | how it treats a kind |
|---|---|
| stored row, log of a live turn, REST API, JSON export | `part_json.py` beside this file, which reads the dataclass |
| page | `templates/chat/parts/_<kind>.jinja` |
| codecs of providers, Markdown and notebook export, event stream of the API | a `match` that ends in `assert_never` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeAlias, get_args

from chat.vocabulary.part_kinds import JSON as JSON
from chat.vocabulary.part_kinds import OUTCOME_ABORTED as OUTCOME_ABORTED
from chat.vocabulary.part_kinds import OUTCOME_DEADLINE_EXCEEDED as OUTCOME_DEADLINE_EXCEEDED
from chat.vocabulary.part_kinds import OUTCOME_FAILED as OUTCOME_FAILED
from chat.vocabulary.part_kinds import OUTCOME_LOST as OUTCOME_LOST
from chat.vocabulary.part_kinds import OUTCOME_OK as OUTCOME_OK
from chat.vocabulary.part_kinds import OUTCOME_RUNNING as OUTCOME_RUNNING
from chat.vocabulary.part_kinds import Engine as Engine
from chat.vocabulary.part_kinds import JSONObject as JSONObject
from chat.vocabulary.part_kinds import PartKind as PartKind
from chat.vocabulary.part_kinds import Refusal as Refusal
from chat.vocabulary.part_kinds import Role as Role


@dataclass(frozen=True, slots=True, kw_only=True)
class BasePart:
    """The fields that every part has."""

    kind: ClassVar[PartKind]
    text_field: ClassVar[str] = ""
    """The field with the long text, which has a column of its own in the database."""
    is_streamed: ClassVar[bool] = False
    """True if providers send parts of this kind in pieces."""

    round: int = 0
    """The round of the turn in which the part was made, counted from 0."""
    made_by: str = ""
    """`call_id` of the function call whose tool made this part. Empty: the model made it."""
    provider_data: Mapping[str, JSON] = field(default_factory=dict)
    """Data that the provider needs back verbatim, such as signatures, ids and unknown fields. Only its codec reads
    them. One key means the same for every provider, and the API shows it: `thought_signature`, in base64.
    """

    @property
    def is_answer(self) -> bool:
        """Return whether this is content of an answer. Thoughts, empty texts, bare signatures and tools are not."""
        return True

    @property
    def is_open_text(self) -> bool:
        """Return whether later text may be appended. Provider data prevent it, because they belong to this text."""
        return self.is_streamed and not self.provider_data

    @property
    def long_text(self) -> str:
        """The part's text, code or output. Empty for parts that have none."""
        text: str | None = getattr(self, self.text_field) if self.text_field else None
        return text or ""

    def with_long_text(self, text: str) -> Self:
        """Return the part with another text, code or output."""
        changes: dict[str, Any] = {self.text_field: text}
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Text(BasePart):
    """Text of an answer or a question, as Markdown."""

    kind = PartKind.TEXT
    text_field = "text"
    is_streamed = True
    text: str

    @property
    def is_answer(self) -> bool:
        """Return whether there is any text. Gemini sends empty texts that only carry a signature."""
        return bool(self.text)


@dataclass(frozen=True, slots=True)
class Thought(BasePart):
    """A thought of the model, or a summary of it. Only the model that had it may get it back."""

    kind = PartKind.THOUGHT
    text_field = "text"
    is_streamed = True
    text: str
    duration_ms: int | None = None
    """Milliseconds from its first piece to the next part or the end, measured by this server. `None`: not known."""

    @property
    def is_answer(self) -> bool:
        """Return `False`: a model that only thought has not answered."""
        return False


@dataclass(frozen=True, slots=True)
class ExecutableCode(BasePart):
    """Code that runs, or has run."""

    kind = PartKind.EXECUTABLE_CODE
    text_field = "code"
    code: str
    language: str = ""
    """`PYTHON`, or another language in the provider's own word."""
    call_id: str = ""
    """Pairs the code with its results. Empty if the provider sent none."""
    engine: Engine = Engine.NATIVE
    is_edited: bool = False
    """True if a person changed the code of the function call before it ran."""

    @property
    def is_python(self) -> bool:
        """Return whether the code is Python. Providers that run no other language may leave the language out."""
        return self.language.upper() in ("", "PYTHON", "LANGUAGE_UNSPECIFIED")


@dataclass(frozen=True, slots=True)
class PrintedImage:
    """An image that code printed as a `data:` URI. It was cut out of the output and stored as an attachment."""

    offset: int
    """Position in the output after the image was removed, in characters."""
    header: str
    """The URI from `data:` to the comma."""
    line_chars: int
    """Length of the lines of its base64; 0 if it was on one line."""
    attachment: int
    """Index of the attachment in its message."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that code wrote into the working directory of the Python session."""

    name: str
    size_bytes: int
    modified_at: str
    """ISO 8601. A file of the same name with another time is another file."""
    is_new: bool
    """True if there was no file of this name before."""


@dataclass(frozen=True, slots=True)
class CodeExecutionResult(BasePart):
    """The output of code, and the outcome of the code."""

    kind = PartKind.CODE_EXECUTION_RESULT
    text_field = "output"
    output: str | None = None
    """`None` if the provider sent no output, which is not the same as an empty one."""
    outcome: str = OUTCOME_RUNNING
    """One of the `OUTCOME_` constants, or another word of the provider's."""
    call_id: str = ""
    engine: Engine = Engine.NATIVE
    images: tuple[PrintedImage, ...] = ()
    files: tuple[WrittenFile, ...] = ()
    table_changes: tuple[str, ...] = ()
    """Sentences that say which tables the code has changed, and how."""
    missing_cells: tuple[str, ...] = ()
    """Sentences about missing cells in columns that the code names, of tables of earlier code. For notices only."""
    cleared: tuple[str, ...] = ()
    """Texts that code of the session has shown and then cleared; only in a run's last result. No model gets them."""
    cleared_left_out: int = 0
    duration_ms: int | None = None
    """Milliseconds from receiving the code to this result, as measured by this server. `None`: not known."""

    @property
    def is_running(self) -> bool:
        """Return whether the code has not ended. Only code of the session sends results while it runs."""
        return self.engine is Engine.SESSION and self.outcome == OUTCOME_RUNNING


@dataclass(frozen=True, slots=True)
class InlineData(BasePart):
    """The bytes of a file, such as a graph that code drew."""

    kind = PartKind.INLINE_DATA
    mime_type: str = ""
    name: str = ""
    """The file's name, if the provider sent one."""
    data: bytes | None = None
    """`None` once the bytes are stored as an attachment."""
    title: str | None = None
    """The title of a figure that code drew; empty if it has none, `None` if that is not known."""


@dataclass(frozen=True, slots=True)
class FileData(BasePart):
    """A file that a provider stores, named by its URI."""

    kind = PartKind.FILE_DATA
    uri: str = ""
    mime_type: str = ""


@dataclass(frozen=True, slots=True)
class FunctionCall(BasePart):
    """A call of one of Plotline's functions by the model."""

    kind = PartKind.FUNCTION_CALL
    name: str
    arguments: Mapping[str, JSON] | None = None
    """`None` if the arguments are not a JSON object."""
    call_id: str = ""
    """Unique in its answer. If the provider sends no id, Plotline makes one."""


@dataclass(frozen=True, slots=True)
class FunctionResponse(BasePart):
    """The response of one of Plotline's functions."""

    kind = PartKind.FUNCTION_RESPONSE
    name: str
    result: Mapping[str, JSON] = field(default_factory=dict)
    call_id: str = ""
    is_error: bool = False
    refusal: Refusal | None = None
    """`None` if `result` is what the function returned."""


@dataclass(frozen=True, slots=True)
class ToolCall(BasePart):
    """The model used a tool that the provider runs, such as its web search. Code has parts of its own."""

    kind = PartKind.TOOL_CALL
    name: str = ""
    """The provider's word for the tool."""
    arguments: Mapping[str, JSON] | None = None
    """`None` if the provider sent none."""
    call_id: str = ""

    @property
    def is_answer(self) -> bool:
        """Return `False`: if the model only used a tool and wrote nothing, it has not answered."""
        return False


@dataclass(frozen=True, slots=True)
class ToolResponse(BasePart):
    """The response of a provider's tool to the model."""

    kind = PartKind.TOOL_RESPONSE
    name: str = ""
    result: Mapping[str, JSON] | None = None
    """`None` if the provider sent none."""
    call_id: str = ""

    @property
    def is_answer(self) -> bool:
        """Return `False`: if a tool only returned something and the model wrote nothing, it has not answered."""
        return False


@dataclass(frozen=True, slots=True)
class Display(BasePart):
    """A rich output of code: the same content in several MIME types."""

    kind = PartKind.DISPLAY
    bundle: Mapping[str, JSON] = field(default_factory=dict)
    """MIME type -> content: text as a string, binary data in base64, JSON types as JSON."""


@dataclass(frozen=True, slots=True)
class Unsupported(BasePart):
    """A part of a kind that Plotline does not know. `provider_data` holds it as it was received."""

    kind = PartKind.UNSUPPORTED

    @property
    def is_answer(self) -> bool:
        """Return whether the part holds more than a signature. An import may have a part with nothing else."""
        return bool(self.provider_data.keys() - {"thought_signature"})


Part: TypeAlias = (
    Text
    | Thought
    | ExecutableCode
    | CodeExecutionResult
    | InlineData
    | FileData
    | FunctionCall
    | FunctionResponse
    | ToolCall
    | ToolResponse
    | Display
    | Unsupported
)

PART_TYPES: Mapping[PartKind, type[Part]] = {part_type.kind: part_type for part_type in get_args(Part)}
