"""Writes a sentence about the limit of Linux that a cell has exceeded, from the error in the kernel's reply. Pure.

Only the name and the start of the message of the exception are used, because Python writes both for errors of Linux.
The sizes come from the kernel itself, see `in_kernel.limits`; false sizes concern only the kernel itself.

The sentence is a line of the cell's output, like the lines of a traceback. It is stored with the output, the model
reads it there, and exports, the API and copies contain it. So it is in English in every language of the pages: a
translation on the page would differ from what the model was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from chat.python.kernels.kernel_program import natural_number

MIB = 1024 * 1024
_NUMBERS_LIMIT = 2**63
_MEMORY_ERRORS = frozenset({"MemoryError", "ArrowMemoryError"})
"""Names of exceptions of Python and pyarrow. The exception of numpy is reported with the name of its base class."""


class Limit(StrEnum):
    """A limit whose excess does not end the kernel. The value is its name in outputs."""

    DISK = "DiskLimit"
    FILE_SIZE = "FileSizeLimit"
    OPEN_FILES = "OpenFilesLimit"
    PROCESSES = "ProcessLimit"
    THREADS = "ThreadLimit"
    MEMORY = "MemoryLimit"


_ERROR_NUMBERS = {
    "[Errno 12]": Limit.MEMORY,
    "[Errno 24]": Limit.OPEN_FILES,
    "[Errno 27]": Limit.FILE_SIZE,
    "[Errno 28]": Limit.DISK,
}


def limit_of(reply: Mapping[str, object]) -> Limit | None:
    """Return the limit that a cell has exceeded, from the content of its reply; None if the error is about no limit."""
    name, value = reply.get("ename"), reply.get("evalue")
    if reply.get("status") != "error" or not isinstance(name, str) or not isinstance(value, str):
        return None
    if name in _MEMORY_ERRORS:
        return Limit.MEMORY
    if name == "BlockingIOError" and value.startswith("[Errno 11]"):
        return Limit.PROCESSES
    if name == "RuntimeError" and value == "can't start new thread":
        return Limit.THREADS
    return _ERROR_NUMBERS.get(value[:10]) if name == "OSError" else None


def limit_sentence(limit: Limit, sizes: Mapping[str, object]) -> str:
    """Return a sentence for the reader and the model.

    `sizes`: the result of `in_kernel.limits`, or an empty mapping.
    """
    return _SENTENCES[limit](sizes)


def _disk(sizes: Mapping[str, object]) -> str:
    folders = {
        "its working folder": _mib(sizes, "working_directory_bytes"),
        "the folder for temporary files": _mib(sizes, "temporary_directory_bytes"),
    }
    known = " and ".join(f"{name} holds {size}" for name, size in folders.items() if size)
    return f"The disk of the Python session is full{': ' if known else ''}{known}. Remove files that are not needed."


def _file_size(sizes: Mapping[str, object]) -> str:
    size = _mib(sizes, "file_bytes")
    return f"The file would be too large{f': one file may have at most {size}' if size else ''}."


def _open_files(sizes: Mapping[str, object]) -> str:
    return f"The code opened too many files at once{_at_most(sizes, 'open_files', 'in each process')}."


def _processes(sizes: Mapping[str, object]) -> str:
    # A non-blocking socket raises the same error, so the sentence is not certain.
    count = _at_most(sizes, "processes", "processes and threads")
    return f"If the code was starting a process, it has met the limit of processes of the Python session{count}."


def _threads(sizes: Mapping[str, object]) -> str:
    count = _at_most(sizes, "processes", "processes and threads")
    return f"The code has met the limit of threads of the Python session{count}."


def _memory(sizes: Mapping[str, object]) -> str:
    size = _mib(sizes, "address_space_bytes")
    limit = f": each process may have {size} of address space" if size else ""
    return f"The code asked for more memory than there is for it{limit}."


_SENTENCES: Mapping[Limit, Callable[[Mapping[str, object]], str]] = {
    Limit.DISK: _disk,
    Limit.FILE_SIZE: _file_size,
    Limit.OPEN_FILES: _open_files,
    Limit.PROCESSES: _processes,
    Limit.THREADS: _threads,
    Limit.MEMORY: _memory,
}


def _at_most(sizes: Mapping[str, object], name: str, unit: str) -> str:
    number = natural_number(sizes.get(name), _NUMBERS_LIMIT)
    return "" if number is None else f": at most {number:,} {unit}"


def _mib(sizes: Mapping[str, object], name: str) -> str:
    number = natural_number(sizes.get(name), _NUMBERS_LIMIT)
    return "" if number is None else f"{number // MIB:,} MiB"
