"""Runs inside a kernel: shows pandas Series as tables, and all rows and columns of moderately large DataFrames."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from pandas import DataFrame, Series

_SHOWN_CELLS_LIMIT = 4_000
_SHOWN_ROWS_LIMIT = 1_000
_SHOWN_COLUMNS_LIMIT = 100
_HTML_LIMIT_CHARS = 500_000
_DEFAULTS = {"display.max_rows": (60,), "display.min_rows": (10,), "display.max_columns": (0, 20)}
"""The default values of pandas' options, in its different versions. Other values were set by the code."""


def register_tables(shell: InteractiveShell) -> None:
    """Register the HTML of Series and DataFrames in the shell, without importing pandas."""
    formatter = shell.display_formatter.formatters["text/html"]
    for frames, series in (("pandas.core.frame", "pandas.core.series"), ("pandas", "pandas")):
        # In pandas 3, the `__module__` of its classes is only `pandas`.
        formatter.for_type_by_name(frames, "DataFrame", _frame_html)
        formatter.for_type_by_name(series, "Series", _series_html)


def _series_html(series: Series) -> str | None:
    # A Series that cannot become a column is shown as text.
    with contextlib.suppress(Exception):
        return _frame_html(series.to_frame("" if series.name is None else series.name))
    return None


def _frame_html(frame: DataFrame) -> str | None:
    """Return the HTML of a DataFrame, with all its rows and columns if they fit and no option was changed."""
    pandas = importlib.import_module("pandas")
    rows, columns = frame.shape
    is_small = rows <= _SHOWN_ROWS_LIMIT and columns <= _SHOWN_COLUMNS_LIMIT and rows * columns <= _SHOWN_CELLS_LIMIT
    if is_small and all(pandas.get_option(name) in values for name, values in _DEFAULTS.items()):
        limits = ("display.max_rows", _SHOWN_ROWS_LIMIT, "display.max_columns", _SHOWN_COLUMNS_LIMIT)
        with pandas.option_context(*limits):
            html: str | None = frame._repr_html_()
        if html is None or len(html) <= _HTML_LIMIT_CHARS:
            return html
    html = frame._repr_html_()
    return html
