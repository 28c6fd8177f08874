"""Runs inside a kernel: writes the code that reads a table on a sheet with pandas."""

from __future__ import annotations

from chat.python.kernels.in_kernel.table_sheet_merges import SheetRows
from chat.python.kernels.in_kernel.table_sheet_parts import Place
from chat.python.kernels.in_kernel.table_sheet_regions import column_letters
from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT, pandas_names


def sheet_code(sheet: str, rows: SheetRows, corner: Place, engine: str, *, is_whole: bool) -> str:
    """Return an expression that reads the rows; see `Source.code`. `corner`: the last row and column of the sheet."""
    layout, numbers = rows.layout, rows.numbers
    positions = layout.body_positions
    width = min(len(layout.names), COLUMNS_LIMIT)
    body_start = numbers[positions[0]] if positions else numbers[-1] + 1
    # pandas counts all columns of the sheet for the names of columns without one.
    is_named = not rows.left or all(layout.names)
    is_plain = layout.header_rows == 1 and not layout.below and is_named and has_plain_names(rows)
    start = numbers[layout.first] if is_plain else body_start
    shown = pandas_names(layout.names[:width])
    arguments = [f"sheet_name={code_literal(sheet)}"]
    if not is_plain:
        names = ", ".join(map(code_literal, shown))
        arguments.append(f"header=None, names=[{names}]")
    last = numbers[positions[-1]] if positions else body_start - 1
    has_end = is_whole and last < corner[0]
    if repeated := [str(numbers[position]) for position in layout.repeated]:
        # Beside skipped rows, pandas counts `nrows` in two ways, so the rows after the body are skipped as well.
        ends = [f"*range({last + 1}, {corner[0] + 1})"] if has_end else []
        arguments.append(f"skiprows=[{', '.join([f'*range({start})', *repeated, *ends])}]")
    elif start:
        arguments.append(f"skiprows={start}")
    if rows.left or width < len(layout.names) or rows.left + width <= corner[1]:
        arguments.append(f'usecols="{column_letters(rows.left)}:{column_letters(rows.left + width - 1)}"')
    if has_end and not repeated:
        arguments.append(f"nrows={last - start + (not is_plain)}")
    code = f'pd.read_excel(NAME, {", ".join(arguments)}, engine="{engine}"MORE)'
    first = numbers.index(start) if start in numbers else 0
    if numbers[-1] - start != len(numbers) - 1 - first:
        code += '.dropna(how="all", ignore_index=True)'
    filled = [shown[column] for column, is_simple in rows.filled.items() if is_simple and column < width]
    for name in filled:
        literal = code_literal(name)
        code += f".assign(**{{{literal}: lambda table: table[{literal}].ffill()}})"
    return code


def has_plain_names(rows: SheetRows) -> bool:
    """Return whether the names are the texts of one row, which pandas would read as the same names."""
    head = rows.head[0] if rows.head else ()
    cells = [cell if cell is not None else "" for cell in head]
    return cells == rows.layout.names[: len(cells)] and len(set(cells)) == len(cells) == len(rows.layout.names)


def code_literal(text: str) -> str:
    """Return a text as a Python literal. The placeholders of `Source.code` are escaped in it."""
    return repr(text).replace("NAME", "N\\x41ME").replace("MORE", "M\\x4fRE")
