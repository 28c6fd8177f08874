"""One file of the corpus with its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# A column's name, or its position from 0 where the file gives no plain name.
Column = str | int
# A name that must be equal, several parts that must all occur in it, or None where any name will do.
Name = str | tuple[str, ...] | None
# Least and greatest: numbers as they are written in Python, dates in ISO 8601.
Range = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """A file and what a right reading of it says. A label that is absent is not checked.

    `rows` holds every number of rows that is defensible. `asks` names what the file alone does not decide: candidates
    or a note must be given for one of these keys. One of the words in `must_note` (lower case) must occur in the notes.
    `refusal` means that the file holds no table: a reader must say in a sentence what is wrong.
    """

    kind: str
    name: str
    data: bytes = field(repr=False)
    rows: int | tuple[int, ...] | None = None
    names: Sequence[Name] | None = None
    width: int | None = None
    types: Mapping[Column, str | tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[Column, Range] = field(default_factory=dict)
    texts: Mapping[Column, str] = field(default_factory=dict)
    roles: Mapping[Column, str | tuple[str, ...]] = field(default_factory=dict)
    missing: Mapping[Column, int] = field(default_factory=dict)
    asks: frozenset[str] = frozenset()
    must_note: Sequence[str] = ()
    refusal: bool = False

    @property
    def columns(self) -> int | None:
        """Return the number of columns, or None if it is not labelled."""
        return self.width if self.names is None else len(self.names)
