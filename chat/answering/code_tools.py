"""The protocol of a tool set that runs the code of answers and of persons, and how this tool set is found.

Parts and turns store where code runs: engine `native` is the model's service, engine `session` is this tool set. It is
the first of `settings.TOOL_SETS` whose factory has the methods of `CodeTools`. All others only offer functions.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol, runtime_checkable

from django.conf import settings
from django.utils.module_loading import import_string

from attachments.models import Attachment
from chat.messages.tool_sets import ToolSet
from chat.models import Turn
from chat.providers import get_provider
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import Setup
from chat.vocabulary.parts import Engine, Part


def capabilities_of(setup: Setup) -> Capabilities:
    """Return what requests to the model of a setup may contain. Runs up to three queries for a model of an endpoint."""
    return get_provider(setup.provider, setup.endpoint).capabilities(setup.model)


@dataclass(frozen=True)
class EngineOptions:
    """The facts that decide where code can run."""

    setup: Setup
    setting: str
    """The conversation's setting: `auto`, `native` or `session`."""
    has_state: Callable[[], bool] = lambda: False
    """Returns whether the tool set holds state of the conversation, such as variables. It is called only if the choice
    depends on this."""
    files: Sequence[Attachment] = ()
    """The files of the question. When the engine is chosen, also those of the project."""
    find_earlier_files: Callable[[], Sequence[Attachment]] = tuple
    """Returns the files of the earlier questions. It is called only if the choice depends on them."""
    find_capabilities: Callable[[Setup], Capabilities] = capabilities_of
    """Returns the capabilities of a setup's model. The starts of one batch share its results."""
    is_private: bool = False
    """True if no model's service may get data. Code then runs in the tool set or nowhere."""

    @cached_property
    def capabilities(self) -> Capabilities:
        """The kinds of content that the model takes. They are read only if a decision depends on them."""
        return self.find_capabilities(self.setup)


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine that runs the code of an answer, and the reason."""

    engine: Engine | None
    """`None` if code runs nowhere."""
    reason: str = ""
    """A sentence for the reader; empty if there is nothing to say."""
    offers_session: bool = False
    """True if code that runs at the model's service may also run in the tool set: the model may choose it, or the code
    moves there after a failure. A request offers it only if the model takes functions beside built-in tools."""


@dataclass(frozen=True, slots=True)
class TableNote:
    """A note for a model that says how the server reads one attached table."""

    label: str
    """The name by which code finds the file."""
    line: str
    """JSON on one line."""
    columns: tuple[str, ...] = ()
    """The names of columns that the line holds."""


@runtime_checkable
class CodeTools(Protocol):
    """A factory of tool sets (`ToolSetFactory`) that also takes the code of answers, and runs code of persons."""

    function: str
    """The name of the function that runs its argument `code`. Code of a person runs as a call of this function, too."""
    own_code_reason: str
    """The sentence for the reader that says why code of a person runs here."""
    too_large: str
    """The reason to move code here, if the files of the question are too large for the model's service."""
    instruction: str
    """The name of the column of `Instruction` that holds the text for models whose code runs here."""
    instructions: Mapping[str, str]
    """The default texts of that column, and of `both_engines`."""

    def __call__(self, turn: Turn) -> ToolSet | None:
        """Return the tool set of a turn, or `None` if its code cannot run here. Only the turn's columns are read."""
        ...

    def obstacle(self) -> str:
        """Return why this server runs no code here, as a sentence for the reader; empty if it does."""
        ...

    def choose_engine(self, options: EngineOptions) -> EngineChoice:
        """Return where code of an answer runs, and why. Whether the answer runs code is decided elsewhere."""
        ...

    def reason_to_move(self, parts: Sequence[Part]) -> str:
        """Return why code should move here after a round with these parts, as a sentence; empty if it should not."""
        ...

    def with_state(self, conversation_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
        """Return those conversations that have state here for their next code. Runs at most one query."""
        ...

    def takes_file(self, file: Attachment) -> bool:
        """Return whether only code in the tool set gets a file. Requests then have a sentence in place of the file."""
        ...

    def file_notes(self, files: Sequence[Attachment], *, is_private: bool) -> dict[uuid.UUID, str]:
        """Return the sentence for each file that `takes_file`, by the file's id. It says where code finds the file.

        `files`: those of the shown questions and the project, then kept files, in order of time. `is_private`: whether
        no file is sent to a model, so that each file has a sentence.
        """
        ...

    async def read_tables(self, files: Sequence[Attachment], earlier: Sequence[Attachment]) -> None:
        """Wait, for a limited time, until the server has read the tables of a question and the earlier ones."""
        ...

    def table_notes(self, files: Sequence[Attachment], turn: Turn) -> dict[uuid.UUID, TableNote]:
        """Return the notes for those of the files whose reading is known, by the file's id. Runs at most one query.

        `files`: as in `file_notes`. `turn`: shows where code runs, because a model's service accepts fewer names, and
        whether the data are private, so that notes must contain no cells.
        """
        ...


def code_tools() -> CodeTools | None:
    """Return the tool set that runs the code of answers; `None` if no tool set does."""
    return _find_code_tools(tuple(settings.TOOL_SETS))


def has_other_tools() -> bool:
    """Return whether there are tool sets that do not run the code of answers."""
    return len(settings.TOOL_SETS) > (code_tools() is not None)


@cache
def _find_code_tools(paths: tuple[str, ...]) -> CodeTools | None:
    return next((factory for factory in map(import_string, paths) if isinstance(factory, CodeTools)), None)
