"""Runs inside a kernel: shows errors by the lines of the person's code, without frames and paths of the machine."""

from __future__ import annotations

import bdb
import importlib.util
import inspect
import os
import pdb as debugger_module
import re
import subprocess
import sys
import sysconfig
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import ipykernel
import IPython
from IPython.core import interactiveshell
from IPython.core.error import UsageError

from chat.python.kernels.in_kernel.hidden_frames import HIDDEN_FILE
from chat.python.kernels.in_kernel.hook_installs import is_own_service, no_installs_sentence, packages_to_install

if TYPE_CHECKING:
    from types import TracebackType

    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

_ERROR_LIMIT_CHARS = 200_000
"""Maximum length of an error. Longer ones lose their middle. The server shortens them further."""
_MESSAGE_LIMIT_CHARS = 100_000
_FRAMES_LIMIT = 5_000
"""Maximum number of frames of a traceback that are read: the innermost ones."""
_OWN_FOLDERS = tuple(f"{os.path.dirname(module.__file__ or '')}{os.sep}" for module in (IPython, ipykernel))
_HIDDEN_FILES = tuple(module.__file__ for module in (bdb, debugger_module, threading))
_CELL_FRAME = re.compile(
    r'File "(Cell In\[\d{1,9}\])", (line \d{1,9})(?:, in <(?:module|cell line: \d{1,9})>(?:\(\))?)?'
)
_BUSY_LOOP = ("from a running event loop", "event loop is already running", "while another loop is running")
_NO_NAME = re.compile(r"name resolution|[Nn]ame or service not known|[Ff]ailed to resolve|Network is unreachable")
_AWAIT = (
    "Code here runs in an event loop already: write `await main()` in place of `asyncio.run(main())` and"
    " `loop.run_until_complete(main())`."
)


class ErrorFormat:
    """Formats errors as lines of text."""

    def __init__(self, shell: InteractiveShell) -> None:
        """`shell`: gives cells the names that tracebacks show."""
        self._shell = shell

    def lines(self, error: BaseException) -> list[str]:
        """Return the lines of an error with its causes. The last ones have the error's type, message and advice."""
        if isinstance(error, SystemExit):
            return [f"SystemExit: {message_of(error)}"]
        summary = traceback.TracebackException(
            type(error), error, _bounded(error.__traceback__), compact=True, lookup_lines=False
        )
        summaries = [summary]
        for one in summaries:
            self._shorten(one)
            nested = (one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ()))
            summaries += [other for other in nested if other is not None]
        text = "".join(summary.format()).rstrip("\n")
        if len(text) > _ERROR_LIMIT_CHARS:
            half = _ERROR_LIMIT_CHARS // 2
            text = f"{text[:half]}\n[... {len(text) - 2 * half:,} characters are left out here ...]\n{text[-half:]}"
        text = _CELL_FRAME.sub(r"\1, \2", text)
        return with_advice(text, error).split("\n")

    def _shorten(self, summary: traceback.TracebackException) -> None:
        """Remove frames of the kernel, and give files short names."""
        if getattr(summary, "filename", None):
            summary.filename = self.short_name(str(summary.filename))
        if summary.stack is not None:
            frames = [frame for frame in summary.stack if not _is_hidden(frame)]
            summary.stack[:] = [
                traceback.FrameSummary(self.short_name(frame.filename), frame.lineno, frame.name, line=frame.line)
                for frame in frames
            ]
            if not frames:
                # Without a stack, Python leaves out the heading “Traceback”.
                vars(summary)["stack"] = None

    def short_name(self, filename: str) -> str:
        """Return the name of a cell, or the path of a file below the folder that Python imports it from."""
        if cell := self._shell.compile.format_code_name(filename):
            return " ".join(cell)
        folders = {*sysconfig.get_paths().values(), *filter(None, map(str, sys.path)), _working_directory()}
        for folder in sorted(folders, key=len, reverse=True):
            if folder and filename.startswith(f"{folder.rstrip(os.sep)}{os.sep}"):
                return filename[len(folder.rstrip(os.sep)) + 1 :]
        return filename


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _bounded(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback, or its last frames if it is very deep."""
    depth = sum(1 for _ in traceback.walk_tb(trace))
    for _ in range(depth - _FRAMES_LIMIT):
        trace = trace.tb_next if trace else None
    return trace


def _is_hidden(frame: traceback.FrameSummary) -> bool:
    """Return whether a frame belongs to the kernel, to this program, to a debugger or to the start of a thread."""
    is_of_program = (frame.filename == "<string>" and frame.name in HIDDEN_FUNCTIONS) or frame.filename == HIDDEN_FILE
    is_of_python = frame.filename in _HIDDEN_FILES
    return is_of_program or is_of_python or frame.filename.startswith(_OWN_FOLDERS)


HIDDEN_FUNCTIONS = frozenset({"refuse_input", "refuse_debugger", "start_process", "run_command", "read_command"})
"""Functions of this program that replace others, so that code calls them without knowing. Their frames are hidden."""


def message_of(error: BaseException) -> str:
    """Return the message of an error, or a substitute if its class fails to make one."""
    try:
        return str(error.msg if isinstance(error, SyntaxError) else error)[:_MESSAGE_LIMIT_CHARS]
    except Exception:
        return "<exception str() failed>"


def with_advice(text: str, error: BaseException) -> str:
    """Return the text of an error with the sentence of `advice_on`."""
    advice = advice_on(error)
    return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'} {advice}" if advice else text


def advice_on(error: BaseException) -> str:
    """Return advice on an error that has another reason here than on a person's own computer; else an empty text."""
    message = message_of(error)
    if isinstance(error, RuntimeError) and message.endswith(_BUSY_LOOP):
        return _AWAIT
    if not is_own_service():
        return ""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return "" if _is_present(error.name.partition(".")[0]) else no_installs_sentence()
    if isinstance(error, OSError) and _NO_NAME.search(message):
        return "There is no internet here. Attach the file, or put its data into the code."
    is_about_packages = isinstance(error, ImportError) and "install" in message
    is_about_packages |= isinstance(error, subprocess.CalledProcessError) and packages_to_install(error.cmd) is not None
    return no_installs_sentence() if is_about_packages else ""


def _is_present(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _close_coroutines(error: BaseException) -> None:
    """Close the coroutines that asyncio refused to run, so that Python does not warn that they were never awaited."""
    if isinstance(error, RuntimeError) and message_of(error).endswith(_BUSY_LOOP):
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if str(frame.f_globals.get("__name__")).startswith("asyncio."):
                for value in list(frame.f_locals.values()):
                    if inspect.iscoroutine(value):
                        value.close()


class ErrorDisplay:
    """Shows the errors of cells and threads in place of IPython."""

    def __init__(self, shell: InteractiveShell) -> None:
        """Replace the shell's functions for errors. The original functions are used if an error cannot be formatted."""
        self._shell = shell
        self._format = ErrorFormat(shell)
        self._show_by_shell: Callable[..., None] = shell.showtraceback
        self._run_by_shell = shell.run_code
        shell.showtraceback, shell.showsyntaxerror = self.show, self._show_syntax_error
        shell.run_code = self._run_code
        self._warn_by_shell: Callable[..., None] = interactiveshell.warn
        interactiveshell.warn = self._warn
        threading.excepthook = self._show_in_thread
        vars(warnings)["formatwarning"] = self._format_warning

    def show(self, exc_tuple: object = None, *arguments: object, **options: object) -> None:
        """Send the error that has just occurred, or the given one. An exit without an error sends nothing."""
        try:
            kind, error, _ = self._shell._get_exc_info(exc_tuple)
            if issubclass(kind, UsageError):
                self._show_by_shell(exc_tuple, *arguments, **options)
            elif not is_good_exit(error):
                _close_coroutines(error)
                lines = self._format.lines(error)
                self._shell._showtraceback(kind, with_advice(message_of(error), error), lines)
        except Exception:
            self._show_by_shell(exc_tuple, *arguments, **options)

    def _show_syntax_error(self, filename: object = None, running_compiled_code: bool = False) -> None:
        self.show()

    async def _run_code(self, code: object, result: ExecutionResult | None = None, **options: object) -> bool:
        """Run code in the shell.

        An error whose message cannot be read is replaced, because the kernel sends the message.
        """
        has_failed: bool = await self._run_by_shell(code, result, **options)
        if result is not None and result.error_in_exec is not None:
            try:
                str(result.error_in_exec)
            except Exception:
                result.error_in_exec = Exception(message_of(result.error_in_exec))
        return has_failed

    def _show_in_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and not isinstance(arguments.exc_value, SystemExit):
            name = arguments.thread.name if arguments.thread else "that has ended"
            lines = [f"Exception in thread {name}:", *self._format.lines(arguments.exc_value)]
            print("\n".join(lines), file=sys.stderr)

    def _format_warning(
        self, message: object, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        """Return a warning without the path of the machine."""
        place = self._format.short_name(filename)
        where = f"{place}, line {lineno}" if place.startswith("Cell In[") else f"{place}:{lineno}"
        return f"{where}: {category.__name__}: {message}\n"

    def _warn(self, message: object, *arguments: object, **options: object) -> None:
        """Warn as the shell does, except for IPython's hint about how to end the kernel."""
        if not str(message).startswith("To exit:"):
            self._warn_by_shell(message, *arguments, **options)


def is_good_exit(error: BaseException) -> bool:
    """Return whether the error is an exit without a failure, such as `sys.exit(0)`."""
    code = error.code if isinstance(error, SystemExit) else 1
    return code is None or (isinstance(code, int) and code == 0)
