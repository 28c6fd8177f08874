"""Runs inside a kernel: shows help, such as that of `len?`, as output. Notebooks have a pager; pages have none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def _print_page(shell: InteractiveShell, data: object, start: int = 0, screen_lines: int = 0) -> None:
    text = data.get("text/plain", "") if isinstance(data, Mapping) else data
    # Write the text and its line end in one call, because a warning could come between two calls.
    print(f"{text}\n", end="")


def print_pages(shell: InteractiveShell) -> None:
    """Print the texts that the shell would send to a pager."""
    shell.set_hook("show_in_pager", _print_page)
