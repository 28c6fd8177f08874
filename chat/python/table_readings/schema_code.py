"""Checks that the code of a table's reader quotes no cell, so that it may be sent in a private conversation. Pure."""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Collection

_OPTIONS = frozenset(
    {
        *("all", "any", "c", "calamine", "columns", "coordinates", "data", "id", "index", "geometry", "latitude"),
        *("longitude", "numpy_nullable", "openpyxl", "properties", "pyarrow", "python", "records", "split", "type"),
        *("value", "values", "odf", "xlrd"),
        *("boolean", "category", "float64", "Float64", "int64", "Int64", "object", "str", "string", "UInt64"),
    }
)
"""Texts in the code that are words of pandas and of the readers, and not from the file."""
_SHORT_CHARS = 2
"""Maximum length of a separator or a decimal mark. Texts that are not longer are allowed."""
_QUOTING = frozenset({"comment", "na_values"})
"""Options whose values quote cells. Code with one of them is refused."""
_DATE_FORMAT = re.compile(r"(?:%[A-Za-z]|[-/.:, TZ])+")


def is_schema_code(code: str, label: str, names: Collection[str]) -> bool:
    """Return whether no text in an expression quotes a cell.

    Allowed are names of the file, its sheets, keys or columns, words of pandas, encodings, date formats and separators.
    `label`: the name of the file. `names`: the names of the columns.
    """
    if not code:
        return False
    tree = ast.parse(code, mode="eval")
    keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    keys = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    named = {node for one in keys for node in ast.walk(one)}
    named |= {node for one in keywords if one.arg == "sheet_name" for node in ast.walk(one)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in named]
    return not any(one.arg in _QUOTING for one in keywords) and all(
        text == label or text in names or _is_of_pandas(text) for text in texts if isinstance(text, str)
    )


def _is_of_pandas(text: str) -> bool:
    if len(text) <= _SHORT_CHARS or text in _OPTIONS or _DATE_FORMAT.fullmatch(text):
        return True
    try:
        codecs.lookup(text)
    except (LookupError, ValueError):
        return False
    return True
