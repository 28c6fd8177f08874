"""Generators of table files with labels that say what a right reading is.

The generators need no reader: a label comes from the data that the file was made of. They are deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.tables.corpus.case import Case
from tests.tables.corpus.columnar import make_columnar
from tests.tables.corpus.dates import make_dates
from tests.tables.corpus.delimiters import make_columns, make_delimiters
from tests.tables.corpus.encodings import make_encodings
from tests.tables.corpus.ends import make_ends
from tests.tables.corpus.headers import make_headers
from tests.tables.corpus.json_forms import make_json
from tests.tables.corpus.numbers import make_numbers
from tests.tables.corpus.refusals import make_refusals
from tests.tables.corpus.reported import make_reported
from tests.tables.corpus.spreadsheets import make_spreadsheets
from tests.tables.corpus.words import make_words

GENERATORS: tuple[Callable[[], Iterator[Case]], ...] = (
    make_encodings,
    make_delimiters,
    make_columns,
    make_headers,
    make_ends,
    make_numbers,
    make_dates,
    make_words,
    make_json,
    make_spreadsheets,
    make_columnar,
    make_reported,
    make_refusals,
)


def make_cases() -> list[Case]:
    """Return the whole corpus in a fixed order."""
    return [case for generate in GENERATORS for case in generate()]
