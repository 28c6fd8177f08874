"""Runs inside a kernel: reads the table in a file of any format."""

from __future__ import annotations

from chat.python.kernels.in_kernel.table_arrow import BINARY_SUFFIXES, read_binary_file
from chat.python.kernels.in_kernel.table_json import read_json_file
from chat.python.kernels.in_kernel.table_sheets import read_sheet_file
from chat.python.kernels.in_kernel.table_source import Choices, Source, Unreadable
from chat.python.kernels.in_kernel.table_text import read_text_file

JSON_SUFFIXES = ("json", "jsonl", "ndjson")
HEAD_BYTES = 16
"""Number of first bytes of a file by which binary formats are recognized."""


def read_table(name: str, choices: Choices) -> Source:
    """Read a file, whose format is found from its content.

    Raises Unreadable if it has no table that can be read, ImportError if a library is missing.
    """
    suffix = name.lower().rpartition(".")[2]
    with open(name, "rb") as file:
        if source := read_binary_file(name, file.read(HEAD_BYTES), suffix):
            return source
        file.seek(0)
        data = file.read()
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return read_sheet_file(name, choices)
    if suffix in (*BINARY_SUFFIXES, "xlsx", "xlsm", "xltx", "xltm", "xlsb", "ods"):
        raise Unreadable(f"its name ends in .{suffix}, but its content has another format.")
    return read_plain_file(data, name, suffix, choices)


def read_plain_file(data: bytes, name: str, suffix: str, choices: Choices) -> Source:
    """Read a text in UTF-8 as JSON or delimited text, also if its name is wrong.

    Raises Unreadable if it holds no table.
    """
    first, is_json = data.lstrip()[:1], suffix in JSON_SUFFIXES
    if not is_json and first not in (b"[", b"{"):
        return read_text_file(data, name, choices)
    try:
        source = read_json_file(data, suffix, choices)
    except Unreadable:
        if is_json and first in (b"[", b"{", b""):
            raise
        if first == b"<":
            raise Unreadable(f"its name ends in .{suffix}, but its content is HTML or XML.") from None
        source = read_text_file(data, name, choices)
        if is_json and source.column_count < 2:
            raise
    if is_json == source.format.startswith("JSON"):
        return source
    note = f"The name of the file ends in .{suffix}, but its content is {source.format}."
    return source._replace(notes=[note, *source.notes])
