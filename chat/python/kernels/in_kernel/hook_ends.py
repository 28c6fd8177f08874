"""Runs inside a kernel: ends code that exits, asks a person for input or starts a debugger."""

from __future__ import annotations

import os
import pdb
import sys
import time
from typing import TYPE_CHECKING, NoReturn

from IPython.core import debugger
from IPython.core.autocall import ZMQExitAutocall

from chat.python.kernels.in_kernel.hook_errors import ErrorDisplay
from chat.python.kernels.in_kernel.hook_installs import refuse_installs

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LAST_OUTPUT_S = 0.2
"""Time that ZeroMQ's thread needs to send flushed text."""


def exit_cell(caller: object, code: object = None) -> NoReturn:
    """Replace `exit` and `quit`, which would end the kernel in Jupyter.

    End only the cell, with the status or message `code`.
    """
    raise SystemExit(code)


def refuse_input(*arguments: object, **options: object) -> NoReturn:
    """Replace `input` and `getpass`: raise an error."""
    raise EOFError("Nobody can type here while code runs. Put the values into the code.")


def refuse_debugger(*arguments: object, **options: object) -> NoReturn:
    """Replace debuggers: raise an error."""
    raise RuntimeError("No debugger can be used here, because nobody can type while code runs. Print values instead.")


def end_code_in_words(shell: InteractiveShell) -> None:
    """Install the functions above, show errors in a short form, and refuse to install packages."""
    ErrorDisplay(shell)
    ZMQExitAutocall.__call__ = exit_cell
    shell.ask_exit = sys.exit
    # Modules that the code imports use the built-in names.
    shell.builtin_trap.auto_builtins.update(exit=shell.exiter, quit=shell.exiter)
    shell.kernel.raw_input = shell.kernel.getpass = refuse_input
    sys.breakpointhook = pdb.set_trace = debugger.set_trace = refuse_debugger
    debugger.OldPdb.interaction = debugger.Pdb.interaction = refuse_debugger
    for name in ("debug", "pdb"):
        shell.register_magic_function(refuse_debugger, "line_cell" if name == "debug" else "line", name)
    _flush_before_exit()
    refuse_installs(shell)


def _flush_before_exit() -> None:
    """Make `os._exit` send printed text before it exits. In forked processes it exits at once."""
    exit_now, kernel_pid = os._exit, os.getpid()

    def exit_after_output(status: int) -> NoReturn:
        if os.getpid() == kernel_pid:
            for stream in (sys.stdout, sys.stderr):
                # Call the original method of the class, because `bootstrap` makes `stream.flush` skip frequent flushes.
                type(stream).flush(stream)
            time.sleep(_LAST_OUTPUT_S)
        exit_now(status)

    os._exit = exit_after_output
