"""Runs inside a kernel: hides functions that wrap those of libraries from warnings and tracebacks."""

from __future__ import annotations

from types import FunctionType
from typing import TypeVar, cast

HIDDEN_FILE = "<plotline importlib._bootstrap>"
"""File name of the hidden functions. Python's `warn` does not count frames of files with both of these names, so that
`stacklevel` still leads to the line of the cell."""
Wrapper = TypeVar("Wrapper")


def hide_frame(wrapper: Wrapper) -> Wrapper:
    """Hide a function's frame. Without this, users would see it between their line and the library."""
    function = cast(FunctionType, wrapper)
    function.__code__ = function.__code__.replace(co_filename=HIDDEN_FILE)
    return wrapper
