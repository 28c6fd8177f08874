"""Writes a sentence about the limit of Linux that a cell has exceeded, from the error in the kernel's reply. Pure.

Only the name and the start of the message of the exception are used, because Python writes both for errors of Linux.
The sizes come from the kernel itself, see `in_kernel.limits`; false sizes concern only the kernel itself.

The sentence is a line of the cell's output, like the lines of a traceback. It is stored with the output, the model
reads it there, and exports, the API and copies contain it. So it is in English in every language of the pages: a
translation on the page would differ from what the model was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    if limit is Limit.DISK:
        return _disk_sentence(sizes)
    sentence, name, clause = _SENTENCES[limit]
    size = _size(sizes, name)
    return sentence.format(clause.format(size) if size else "")


_SENTENCES = {
    Limit.FILE_SIZE: ("The file would be too large{}.", "file_bytes", ": one file may have at most {}"),
    Limit.OPEN_FILES: ("The code opened too many files at once{}.", "open_files", ": at most {} in each process"),
    # A non-blocking socket raises the same error, so the sentence is not certain.
    Limit.PROCESSES: (
        "If the code was starting a process, it has met the limit of processes of the Python session{}.",
        "processes",
        ": at most {} processes and threads",
    ),
    Limit.THREADS: (
        "The code has met the limit of threads of the Python session{}.",
        "processes",
        ": at most {} processes and threads",
    ),
    Limit.MEMORY: (
        "The code asked for more memory than there is for it{}.",
        "address_space_bytes",
        ": each process may have {} of address space",
    ),
}
"""For each limit: the sentence, the name of the size, and the clause with the size, which replaces the braces."""


def _disk_sentence(sizes: Mapping[str, object]) -> str:
    folders = {
        "its working folder": _size(sizes, "working_directory_bytes"),
        "the folder for temporary files": _size(sizes, "temporary_directory_bytes"),
    }
    known = " and ".join(f"{name} holds {size}" for name, size in folders.items() if size)
    return f"The disk of the Python session is full{': ' if known else ''}{known}. Remove files that are not needed."


def _size(sizes: Mapping[str, object], name: str) -> str:
    """Return a size as text, bytes in MiB; empty if it is not a valid number."""
    number = natural_number(sizes.get(name), _NUMBERS_LIMIT)
    if number is None:
        return ""
    return f"{number // MIB:,} MiB" if name.endswith("_bytes") else f"{number:,}"
