"""Runs inside a new kernel, before any other code: enters the kernel's own directory, and adds hooks to cells.

The hooks work in kernels of every place: of Plotline's own service, with or without its sandbox, and of other servers.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping

from IPython import get_ipython

from chat.python.kernels.in_kernel.hook_changes import TableChanges
from chat.python.kernels.in_kernel.hook_ends import end_code_in_words
from chat.python.kernels.in_kernel.hook_excel import choose_reader
from chat.python.kernels.in_kernel.hook_figures import CellFigures
from chat.python.kernels.in_kernel.hook_fonts import GraphFonts
from chat.python.kernels.in_kernel.hook_images import SavedImages
from chat.python.kernels.in_kernel.hook_pager import print_pages
from chat.python.kernels.in_kernel.hook_tables import register_tables


def _enter_own_directory() -> None:
    """Make a directory for this kernel the working directory; kernels of a foreign server often start in the same one.

    A kernel of Plotline's own service, recognized by `PLOTLINE_KERNEL`, starts in its own directory and stays there.
    """
    if "PLOTLINE_KERNEL" not in os.environ:
        directory = tempfile.mkdtemp(prefix="plotline-")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        os.chdir(directory)


def main(namespace: Mapping[str, object]) -> dict[str, object]:
    """Prepare the kernel."""
    _enter_own_directory()
    shell = get_ipython()
    end_code_in_words(shell)
    shell.events.register("pre_run_cell", choose_reader)
    figures = CellFigures(shell)
    shell.events.register("pre_run_cell", lambda info: figures.forget())
    images, fonts, changes = SavedImages(figures), GraphFonts(), TableChanges(shell)

    def end_cell(result: object) -> None:
        images.show()
        fonts.note()
        changes.end()

    # This event follows `post_execute`, in which matplotlib shows the remaining figures: then all of them are known.
    shell.events.register("post_run_cell", end_cell)
    register_tables(shell)
    print_pages(shell)
    return {}
