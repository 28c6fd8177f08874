"""The contents that a kernel reports: variables, files and the number of cells. Pure.

The code in a kernel can forge the answer. Every value is therefore validated, cleaned and bounded here, whatever
`in_kernel.variables` promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from chat.python.kernels.in_kernel.private_texts import WITHHELD
from chat.python.kernels.in_kernel.variables import (
    CHANGE_LIMIT_CHARS,
    CHANGES_LIMIT,
    DESCRIPTION_LIMIT_CHARS,
    FILES_LIMIT,
    LIST_LIMIT_CHARS,
    PREVIEW_LIMIT_CHARS,
    VARIABLES_LIMIT,
)
from chat.python.kernels.kernel_program import natural_number
from chat.python.kernels.outputs import clean_text
from chat.vocabulary.file_labels import is_file_path

ANSWER_LIMIT_CHARS = 8 * LIST_LIMIT_CHARS
"""Maximum length of a kernel's answer. A longer one is refused."""
_NUMBER_LIMIT = 2**62
_COUNT_LIMIT = 2**31 - 1
"""The largest number that fits into a 32-bit column. A kernel cannot really have run more cells."""
_DIMENSIONS_LIMIT = 8
_TIME_LIMIT = 2**33

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a kernel."""

    name: str
    type: str
    """Name of the value's class."""
    shape: tuple[int, ...]
    """Lengths of an array's or a table's dimensions, or the length of a container; else empty."""
    size_bytes: int | None
    """Size in memory, without the items of a container; None if it is not known."""
    preview: str
    """A short form of the value. It was written by untrusted code."""


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A regular file in the working directory of a kernel, or in a folder there."""

    name: str
    """A path, see `is_file_path`. Files of other names are not listed."""
    size_bytes: int
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class KernelContents:
    """What a kernel contains between two cells."""

    variables: tuple[Variable, ...] = ()
    """The variables in the order of their definition; `in_kernel.variables.is_variable` says which are left out."""
    files: tuple[KernelFile, ...] = ()
    """The files in the order of their names."""
    execution_count: int = 0
    """Number of cells that ran."""
    is_truncated: bool = False
    """True if variables or files were left out, because there are too many or their descriptions are invalid."""
    changes: tuple[str, ...] = ()
    """Sentences about the tables that the last cell has changed. Untrusted, because the kernel writes them."""
    missing_cells: tuple[str, ...] = ()
    """Sentences about missing values of columns that the last cell names, in tables of earlier cells. Untrusted, too.
    """
    error: str = ""
    """A sentence that says why the kernel did not describe its contents. Then all other fields are empty."""


def parse_contents(answer: Mapping[str, object]) -> KernelContents:
    """Return the contents in the answer of `in_kernel.variables`. Items of an unexpected shape are left out."""
    count = _number(answer.get("execution_count"))
    listed = (answer.get("variables"), answer.get("files"))
    variables, files = (value if isinstance(value, list) else [] for value in listed)
    known_variables = tuple(_parse_items(variables[:VARIABLES_LIMIT], _parse_variable))
    known_files = tuple(_parse_items(files[:FILES_LIMIT], _parse_file))
    is_complete = len(known_variables) == len(variables) and len(known_files) == len(files)
    is_truncated = answer.get("is_truncated") is not False or not is_complete
    return KernelContents(
        known_variables,
        known_files,
        min(count or 0, _COUNT_LIMIT),
        is_truncated,
        _sentences(answer.get("changes")),
        _sentences(answer.get("missing_cells")),
    )


def _sentences(value: object) -> tuple[str, ...]:
    texts = [clean_text(one)[:CHANGE_LIMIT_CHARS] for one in value[:CHANGES_LIMIT]] if isinstance(value, list) else []
    return tuple(" ".join(one.split()) for one in texts if one.strip())


def parse_description(answer: Mapping[str, object]) -> str:
    """Return the text about one variable, or an empty text if there is no such variable."""
    return clean_text(answer.get("text"))[: DESCRIPTION_LIMIT_CHARS + 100]


def parse_filtered(answer: Mapping[str, object], count: int) -> list[str]:
    """Return `count` texts without cells of private files.

    If the answer has another number of texts, return `WITHHELD` for each.
    """
    texts = answer.get("texts")
    if not isinstance(texts, list) or len(texts) != count:
        return [WITHHELD] * count
    return [clean_text(text) if isinstance(text, str) else WITHHELD for text in texts]


def _parse_items(items: list[object], parse: Callable[[Mapping[str, object]], Item | None]) -> Iterator[Item]:
    for item in items:
        parsed = parse(item) if isinstance(item, dict) else None
        if parsed is not None:
            yield parsed


def _parse_variable(item: Mapping[str, object]) -> Variable | None:
    name, type_name, preview = (clean_text(item.get(key))[:PREVIEW_LIMIT_CHARS] for key in ("name", "type", "preview"))
    lengths = item.get("shape")
    shape = [_number(length) for length in lengths[:_DIMENSIONS_LIMIT]] if isinstance(lengths, list) else []
    if not name:
        return None
    return Variable(
        name,
        type_name,
        tuple(length for length in shape if length is not None),
        _number(item.get("size_bytes")),
        preview,
    )


def _parse_file(item: Mapping[str, object]) -> KernelFile | None:
    name, size_bytes, modified_at = item.get("name"), _number(item.get("size_bytes")), item.get("modified_at")
    if not isinstance(name, str) or not is_file_path(name) or size_bytes is None:
        return None
    if not isinstance(modified_at, int | float) or not 0 <= modified_at < _TIME_LIMIT:
        modified_at = 0
    return KernelFile(name, size_bytes, datetime.fromtimestamp(modified_at, UTC))


def _number(value: object) -> int | None:
    return natural_number(value, _NUMBER_LIMIT)
