"""Runs inside a kernel: writes the expression that reads a delimited text with pandas."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chat.python.kernels.in_kernel.table_layout import Layout
from chat.python.kernels.in_kernel.table_records import Dialect, TextRows
from chat.python.kernels.in_kernel.table_source import pandas_names

SKIPPED_LIMIT = 60
"""Maximum number of skipped rows that the expression lists by number."""
NAMES_LIMIT_CHARS = 2_500


def read_csv_code(
    dialect: Dialect, layout: Layout, places: TextRows, names: Sequence[str], *, has_broken_quotes: bool
) -> str:
    """Return the expression, see `Source.code`; empty if pandas cannot read the text.

    `names`: the names of all columns.
    """
    if has_broken_quotes and any(dialect.delimiter in cell or "\n" in cell for row in places.rows for cell in row):
        # Some cells need quotes, but pandas would misread the broken quotes of others.
        return ""
    arguments = dialect_arguments(dialect, has_broken_quotes=has_broken_quotes)
    first, count = layout.first, layout.header_rows
    start = first + count + layout.below
    end = start + len(layout.body) + len(layout.repeated)
    width = max(map(len, places.rows[first:end]), default=len(names))
    shown = pandas_names(names)
    is_listed = count != 1 or has_broken_quotes or dialect.has_borders or width > len(places.rows[first])
    is_listed = is_listed or list(places.rows[first][: len(names)]) != list(names)
    if is_listed and len(str(shown)) > NAMES_LIMIT_CHARS and count < 2:
        is_listed = False
        arguments += [] if count else ["header=None"]
    used = start if is_listed or not count else first
    skipped, suffix, row_count = skipped_rows(layout, places, used)
    arguments += skipped
    if is_listed:
        arguments += ["header=None", f"names=[{', '.join(map(literal, shown))}]"]
    if width > len(names) or dialect.has_borders:
        start = int(dialect.has_borders)
        arguments.append(f"usecols=range({f'{start}, ' * start}{len(names) + start})")
    if row_count is not None:
        arguments.append(f"nrows={row_count}")
    return f"pd.read_csv({', '.join(['NAME', *arguments])}MORE){suffix}"


def skipped_rows(layout: Layout, places: TextRows, used: int) -> tuple[list[str], str, int | None]:
    """Return arguments that skip rows, a method call that drops empty ones, and the row count if rows follow the body.

    `used`: the first row that pandas reads: the row of names, or the first row of the body.
    """
    positions, names_end = places.positions, layout.first + layout.header_rows
    start = names_end + layout.below
    end = start + len(layout.body) + len(layout.repeated)
    last = positions[end - 1] if end > start else positions[names_end - 1]
    top = positions[used] if used < len(positions) else positions[-1] + 1
    units = range(names_end, start) if used < start else ()
    inner = [positions[at] for at in (*units, *layout.repeated)]
    inner = sorted([*inner, *(position for position in places.skipped if top < position < last)])
    row_count = len(layout.body) + places.further_count
    arguments, suffix = [f"skiprows={top}"] if top else [], ""
    if inner and len(inner) + top <= SKIPPED_LIMIT:
        arguments = [f"skiprows={[*range(top), *inner]}"]
    elif inner:
        row_count += len(inner)
        suffix = '.dropna(how="all")' if len(places.skipped) else ""
    has_end = layout.after > 0 or any(position > last for position in places.skipped)
    return arguments, suffix, row_count if has_end else None


def dialect_arguments(dialect: Dialect, *, has_broken_quotes: bool) -> list[str]:
    """Return the arguments of `read_csv` for this dialect."""
    arguments = []
    if dialect.delimiter == " ":
        spaces = r'r"(?<=\S)\s{2,}(?=\S)", engine="python"' if dialect.is_gap else r'r"\s+"'
        arguments += [f"sep={spaces}", "quoting=3"]
    elif dialect.delimiter != ",":
        arguments.append(f"sep={literal(dialect.delimiter)}")
    if dialect.skips_spaces:
        arguments.append("skipinitialspace=True")
    if dialect.escape:
        arguments.append(f"escapechar={literal(dialect.escape)}")
    if has_broken_quotes and dialect.delimiter != " ":
        arguments.append("quoting=3")
    return arguments


def literal(value: object) -> str:
    """Return the Python literal of a text, or of a list or dictionary of texts."""
    return json.dumps(value, ensure_ascii=False)
