"""Runs inside a kernel: lets pandas read workbooks with calamine, the package that is installed for them."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo


def choose_reader(info: ExecutionInfo) -> None:
    """Make `pandas.read_excel` use calamine, if the cell that is about to run mentions it."""
    if "read_excel" in (info.raw_cell or ""):
        with contextlib.suppress(ImportError, KeyError):
            pandas = importlib.import_module("pandas")
            for name in (f"io.excel.{kind}.reader" for kind in ("xlsx", "xlsm", "xlsb", "xls", "ods")):
                if pandas.get_option(name) == "auto":
                    pandas.set_option(name, "calamine")
