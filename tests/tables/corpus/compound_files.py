"""A small writer of compound files (OLE2): the container of `.xls` and of locked `.xlsx` files."""

from __future__ import annotations

import struct
from collections.abc import Mapping

SECTOR = 512
END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
NOTHING = 0xFFFFFFFF
# Streams below this size would have to lie in a stream of small sectors, so all are filled up to it.
LEAST = 4096


def write_compound_file(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file with these streams, each padded with NUL to at least 4,096 bytes."""
    table: list[int] = []
    body, entries = b"", []
    for name, data in streams.items():
        padded = data.ljust(LEAST, b"\0")
        padded += b"\0" * (-len(padded) % SECTOR)
        start, sectors = len(table), len(padded) // SECTOR
        table += [*range(start + 1, start + sectors), END]
        body += padded
        entries.append((name, 2, start, len(padded)))
    directory = _directory(entries)
    directory_start = len(table)
    sectors = len(directory) // SECTOR
    table += [*range(directory_start + 1, directory_start + sectors), END]
    table_sectors = 1
    while len(table) + table_sectors > table_sectors * SECTOR // 4:
        table_sectors += 1
    table_start = len(table)
    table += [TABLE] * table_sectors
    table += [FREE] * (table_sectors * SECTOR // 4 - len(table))
    places = [*range(table_start, table_start + table_sectors)]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    header += struct.pack(
        "<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, table_sectors, directory_start, 0, LEAST, END, 0, END, 0
    )
    header += struct.pack("<109I", *places, *[FREE] * (109 - len(places)))
    return header + body + directory + struct.pack(f"<{len(table)}I", *table)


def _directory(entries: list[tuple[str, int, int, int]]) -> bytes:
    """Return the directory: a root whose child is the first stream; the others follow to the right."""
    ordered = sorted(entries, key=lambda entry: (len(entry[0]), entry[0].upper()))
    data = _entry("Root Entry", 5, END, 0, NOTHING, 1)
    for number, (name, type_, start, size) in enumerate(ordered, 1):
        data += _entry(name, type_, start, size, number + 1 if number < len(ordered) else NOTHING, NOTHING)
    while len(data) % SECTOR:
        data += _entry("", 0, 0, 0, NOTHING, NOTHING)
    return data


def _entry(name: str, type_: int, start: int, size: int, right: int, child: int) -> bytes:
    encoded = name.encode("utf-16-le")
    length = len(encoded) + 2 if name else 0
    head = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", length, type_, 1, NOTHING, right, child)
    return head + b"\0" * 36 + struct.pack("<IQ", start, size)
