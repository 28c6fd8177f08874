"""Runs inside a kernel: lists its variables and files, and describes one variable.

The list must be quick and safe whatever values there are. It therefore calls no method of a class that a user defined,
and none of a large object that looks at all of its content. Only the description of one variable may call `repr`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time, timedelta, timezone
from itertools import islice
from typing import Any, TypeVar

from chat.python.kernels.in_kernel.file_names import shown_path
from chat.python.kernels.in_kernel.file_walk import written_entries
from chat.python.kernels.in_kernel.shell_attributes import CHANGES

T = TypeVar("T")

VARIABLES_LIMIT = 100
FILES_LIMIT = 200
CHANGES_LIMIT = 16
CHANGE_LIMIT_CHARS = 600
LIST_LIMIT_CHARS = 64_000
"""Maximum length of all texts of a list. Its JSON can be longer: it writes a non-ASCII character as 6 or 12 characters.
"""
PREVIEW_LIMIT_CHARS = 200
DESCRIPTION_LIMIT_CHARS = 8_000
ITEMS_LIMIT = 6
DEPTH_LIMIT = 3
COUNTED_CELLS_LIMIT = 1_000_000
"""Maximum number of cells of a table whose missing cells are counted."""
LONG_INTEGER_BITS = 500
LIBRARIES = frozenset(
    {"numpy", "pandas", "torch", "scipy", "PIL", "polars", "xarray", "pyarrow", "decimal", "fractions"}
)
CONTAINERS = (list, tuple, set, frozenset, dict)
SIZED_TYPES = (*CONTAINERS, str, bytes, bytearray, int)
BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}
NAMES_OF_IPYTHON = frozenset({"In", "Out", "get_ipython"})


def main(namespace: Mapping[str, object], operation: str, *arguments: Any) -> dict[str, object]:
    """Describe one variable if the operation is `describe`; else list the variables and files."""
    return describe(namespace, *arguments) if operation == "describe" else contents(namespace)


# --- the list -------------------------------------------------------------------------------------------------------


def contents(namespace: Mapping[str, object]) -> dict[str, object]:
    """Return the newest variables in the order of definition, the newest files in the order of names, and the number of
    cells that ran.
    """
    budget = LIST_LIMIT_CHARS
    names = [name for name, value in dict(namespace).items() if is_variable(name, value)]
    variables: list[dict[str, object]] = []
    for name in reversed(names[-VARIABLES_LIMIT:]):
        variable = summarize(name, namespace.get(name))
        budget -= len(str(variable))
        if budget < 0:
            break
        variables.insert(0, variable)
    found_files, has_more_files = files()
    kept_files: list[dict[str, object]] = []
    for file in found_files:
        budget -= len(str(file))
        if budget < 0:
            break
        kept_files.append(file)
    shell = sys.modules["IPython"].get_ipython()
    return {
        "variables": variables,
        "files": sorted(kept_files, key=lambda file: str(file["name"])),
        "execution_count": int(shell.execution_count) - 1,
        **vars(shell).get(CHANGES, {}),
        "is_truncated": has_more_files or len(variables) < len(names) or len(kept_files) < len(found_files),
    }


def is_variable(name: object, value: object) -> bool:
    """Return whether this name is a person's own variable: not a module, an imported function or class, a name of
    IPython, or a name that starts with an underscore.
    """
    cls = type(value)
    if type(name) is not str or name.startswith("_") or name in NAMES_OF_IPYTHON:
        return False
    if cls in (types.ModuleType, types.BuiltinFunctionType) or type_name(value) == "ufunc":
        return False
    if cls is types.FunctionType:
        return value.__module__ == "__main__"
    if issubclass(cls, type):
        return module_name(value) == "__main__"
    return not module_name(cls).startswith(("IPython", "ipykernel"))


def files() -> tuple[list[dict[str, object]], bool]:
    """Return the regular files of the working directory and the folders in it, the newest first, and whether some are
    left out. See `shown_path` for the names.
    """
    found: list[dict[str, Any]] = [
        {"name": shown_path(name), "size_bytes": status.st_size, "modified_at": status.st_mtime}
        for name, status in written_entries(".")
    ]
    found.sort(key=lambda file: -file["modified_at"])
    return found[:FILES_LIMIT], len(found) > FILES_LIMIT


def summarize(name: str, value: object) -> dict[str, Any]:
    """Return name, type, shape, size in bytes and preview. Values that are not known are empty."""
    return {
        "name": name[:PREVIEW_LIMIT_CHARS],
        "type": type_name(value),
        "shape": attempt(shape, value) or [],
        "size_bytes": attempt(size_bytes, value),
        "preview": (attempt(preview, value) or "")[:PREVIEW_LIMIT_CHARS],
    }


def attempt(function: Callable[[object], T], value: object) -> T | None:
    """Return the result of a function for a value, or None if it raises an error."""
    try:
        return function(value)
    except Exception:
        return None


def module_name(cls: object) -> str:
    """Return the name of the module that defines a class, without calling methods of its metaclass."""
    name = type.__dict__["__module__"].__get__(cls)
    return name if type(name) is str else ""


def type_name(value: object) -> str:
    """Return the name of a value's class, without calling methods of its metaclass."""
    return str(type.__dict__["__name__"].__get__(type(value)))[:PREVIEW_LIMIT_CHARS]


def library(value: object) -> str:
    """Return the known library that defines the class of a value, or an empty text."""
    cls = type(value)
    module = module_name(cls)
    root = module.partition(".")[0]
    is_its_class = vars(sys.modules.get(module, types)).get(type_name(value)) is cls
    return root if root in LIBRARIES and is_its_class else ""


def shape(value: Any) -> list[int]:
    """Return the lengths of a value's dimensions."""
    if type(value) in (*CONTAINERS, str, bytes, bytearray, range):
        return [len(value)]
    name = library(value)
    if name == "PIL":
        return [value.height, value.width]
    return [int(length) for length in value.shape[:8]] if name else []


def size_bytes(value: Any) -> int:
    """Return the size in memory, without the items of a container and the objects in a table."""
    name = library(value)
    if name == "numpy":
        return int(value.nbytes)
    if name == "pandas" and hasattr(value, "memory_usage"):
        usage = value.memory_usage(deep=False)
        return int(usage if type(usage) is int else usage.sum())
    if name == "torch" and hasattr(value, "nelement"):
        return int(value.element_size() * value.nelement())
    # For a value of an unknown class, `object.__sizeof__` calls no method of that class.
    return int(value.__sizeof__() if type(value) in SIZED_TYPES else object.__sizeof__(value))


# --- previews -------------------------------------------------------------------------------------------------------


def preview(value: Any, depth: int = 0) -> str:
    """Return a short form of a value; for an unknown class, the name of the class."""
    cls = type(value)
    if value is None or cls in (bool, float, complex, slice) or value is Ellipsis:
        return repr(value)
    if cls is int:
        return repr(value) if value.bit_length() < LONG_INTEGER_BITS else f"an integer of {value.bit_length():,} bits"
    if cls in (str, bytes, bytearray):
        limit = PREVIEW_LIMIT_CHARS if depth == 0 else PREVIEW_LIMIT_CHARS // 4
        return repr(value[:limit]) + ("…" if len(value) > limit else "")
    if cls in (range, date, datetime, time, timedelta, timezone):
        return str(value)
    if cls in CONTAINERS:
        return preview_container(value, depth)
    if cls is types.FunctionType:
        code = value.__code__
        return f"{value.__name__}({', '.join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])})"
    if issubclass(cls, type):
        return f"class {type.__dict__['__name__'].__get__(value)}"
    name = library(value)
    return preview_of_library(value, name, depth) if name else f"<{type_name(value)} object>"


def preview_container(value: Any, depth: int) -> str:
    """Return the first items of a container."""
    start, end = BRACKETS[type(value)]
    if not value:
        return repr(value)
    if depth >= DEPTH_LIMIT:
        return f"{start}…{end}"
    if type(value) is dict:
        pairs = islice(value.items(), ITEMS_LIMIT)
        items = [f"{preview(key, depth + 1)}: {preview(item, depth + 1)}" for key, item in pairs]
    else:
        items = [preview(item, depth + 1) for item in islice(value, ITEMS_LIMIT)]
    more = ", …" if len(value) > ITEMS_LIMIT else "," if type(value) is tuple and len(value) == 1 else ""
    return f"{start}{', '.join(items)}{more}{end}"


def preview_of_library(value: Any, name: str, depth: int) -> str:
    """Return a short form of an array, a table or another object of a known library."""
    kind = type_name(value)
    if name == "numpy" and kind == "ndarray":
        items = [preview(item, depth + 1) for item in value.flat[:ITEMS_LIMIT].tolist()]
        return f"{value.dtype.name} [{', '.join(items)}{', …' if value.size > ITEMS_LIMIT else ''}]"
    if name == "numpy" and hasattr(value, "item"):
        return preview(value.item(), depth + 1)
    if name == "pandas" and kind == "DataFrame":
        columns = [preview(column, depth + 1) for column in value.columns[:ITEMS_LIMIT]]
        more = ", …" if len(value.columns) > ITEMS_LIMIT else ""
        counts = value.iloc[:, :ITEMS_LIMIT].isna().sum() if value.size <= COUNTED_CELLS_LIMIT else [0] * len(columns)
        missing = [f" ({count:,} missing)" if count else "" for count in counts]
        return f"columns {', '.join(map(''.join, zip(columns, missing, strict=True)))}{more}"
    if name == "pandas" and (kind == "Series" or kind.endswith("Index")):
        items = [
            preview(item, depth + 1) for item in (value.iloc if kind == "Series" else value)[:ITEMS_LIMIT].tolist()
        ]
        return f"{value.dtype} [{', '.join(items)}{', …' if len(value) > ITEMS_LIMIT else ''}]"
    if (name, kind) in (("pandas", "Timestamp"), ("pandas", "Timedelta"), ("fractions", "Fraction")):
        return str(value)
    if name == "torch" and hasattr(value, "dtype"):
        return f"{value.dtype} on {value.device}"
    if name == "PIL":
        return f"{value.mode}, {value.width} × {value.height}"
    return f"<{kind} object>"


# --- the description of one variable --------------------------------------------------------------------------------


def describe(namespace: Mapping[str, object], name: str) -> dict[str, object]:
    """Return a longer text about one variable; it may call `repr` of any class, so the caller limits its time."""
    if name not in namespace:
        return {"text": ""}
    value = namespace[name]
    facts = summarize(name, value)
    first_line = f"{name}: {facts['type']}"
    if facts["shape"]:
        first_line += f", shape {tuple(facts['shape'])}"
    if facts["size_bytes"]:
        first_line += f", {facts['size_bytes']:,} bytes"
    text = "\n".join([first_line, *details(value)])
    cut = "\n… (cut)" if len(text) > DESCRIPTION_LIMIT_CHARS else ""
    return {"text": text[:DESCRIPTION_LIMIT_CHARS] + cut}


def details(value: Any) -> Iterator[str]:
    """Yield further lines about a value."""
    kind = (library(value), type_name(value))
    try:
        if kind == ("pandas", "DataFrame"):
            types_of_columns = islice(value.dtypes.items(), 50)
            yield "Types: " + ", ".join(f"{column} {dtype}" for column, dtype in types_of_columns)
            yield value.head(20).to_string(max_cols=20, max_colwidth=60)
        elif kind == ("pandas", "Series"):
            yield value.head(30).to_string()
        elif kind == ("numpy", "ndarray"):
            if value.size and value.dtype.kind in "biuf":
                yield f"Minimum {value.min()}, maximum {value.max()}"
            yield sys.modules["numpy"].array2string(value, threshold=200, edgeitems=5)
        elif type(value) is types.FunctionType:
            yield sys.modules["inspect"].getsource(value)
        elif type(value) in CONTAINERS:
            import reprlib  # imported only here, because it is seldom needed

            short = reprlib.Repr()
            short.maxlist = short.maxtuple = short.maxset = short.maxfrozenset = short.maxdict = 50
            short.maxstring = short.maxother = 300
            yield short.repr(value)
        elif type(value) in (str, bytes, bytearray):
            yield repr(value[:DESCRIPTION_LIMIT_CHARS])
        else:
            yield repr(value)[:DESCRIPTION_LIMIT_CHARS]
            attributes = dict(islice(vars(value).items(), 30)) if hasattr(value, "__dict__") else {}
            for attribute, content in attributes.items():
                yield f".{attribute} = {preview(content, 1)}"
    except Exception as error:
        yield f"(its content cannot be shown: {type_name(error)})"
