"""Unpacks a text file that was compressed with gzip, or that is the only text table in a zip archive. Pure.

The packed bytes are stored and downloaded. The preview, models and code get the text.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

from django.conf import settings

GZIP_MARK = b"\x1f\x8b\x08"
ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a zip archive, and of an empty one."""
PACKED_SUFFIXES = ("gz", "zip")
ENTRIES_LIMIT = 5_000
NAMES_SHOWN = 5
NAME_CHARACTERS = 100

_DIRECTORY_MARK = b"PK\x01\x02"
"""The first bytes of each entry in the directory of an archive."""
_PIECE_BYTES = 64 * 1024
"""Compressed bytes that are unpacked at once. They are few, because zlib copies the rest of a piece at each member."""
_ENCRYPTED_FLAG = 0x1
_TEXT_TABLES = frozenset({"csv", "tsv", "tab", "json", "jsonl", "ndjson", "txt", "psv", "dat"})
_OTHER_TABLES = frozenset({"xlsx", "xlsm", "xlsb", "xls", "ods", "parquet", "dta", "feather", "arrow"})
_NO_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""Files that operating systems put into archives."""
_DOCUMENTS = ("[content_types].xml", "mimetype", "meta-inf/manifest.mf", "androidmanifest.xml", "index/document.iwa")
"""Names inside zip archives that are themselves one file, such as a workbook, a document or a program."""


class PackedError(Exception):
    """A file cannot be unpacked to one text. The message is the end of a sentence: the reason, and what to do."""


def unpack(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of the file that is packed in this one, or `None` if it is not packed.

    Workbooks and similar files are archives, but do not count as packed. Whether the bytes are text is not checked.
    Raises PackedError if the file is broken, has more than `UPLOAD_LIMIT_BYTES` when unpacked, or is an archive from
    which no single text can be chosen.
    """
    if data.startswith(GZIP_MARK):
        content = _gunzip(data)
        return _gzip_name(name, data), content
    if data.startswith(ZIP_MARKS):
        return _unzip(data)
    return None


def archive_parts(data: bytes) -> list[zipfile.ZipInfo]:
    """Return the entries of a zip archive without unpacking them.

    Raises PackedError if it is broken or has too many entries.
    """
    if data.count(_DIRECTORY_MARK) > ENTRIES_LIMIT:
        raise PackedError(f"it is an archive of more than {ENTRIES_LIMIT:,} files. Attach the file that you need.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, LookupError, OverflowError):
        raise PackedError("it is a broken zip archive. Save or download it again.") from None


def _gzip_name(name: str, data: bytes) -> str:
    """Return the name without `.gz`. If no suffix remains, return the name in the gzip header, if there is one.

    The header must be complete.
    """
    stem = name[:-3] if name.lower().endswith(".gz") else name
    if "." in stem or not data[3] & 0x8:
        return stem
    start = 10 + (2 + int.from_bytes(data[10:12], "little") if data[3] & 0x4 else 0)
    return _base_name(data[start : start + 1_000].partition(b"\0")[0].decode("latin-1")) or stem


def _gunzip(data: bytes) -> bytes:
    """Return the unpacked bytes of all members. Raises PackedError if it is broken, too large, or has too many."""
    pieces: list[bytes] = []
    size = start = members = 0
    try:
        # The loop ends at other bytes, because zeros may follow the last member.
        while data.startswith(GZIP_MARK, start):
            members += 1
            unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            while not unpacker.eof:
                if start >= len(data):
                    raise PackedError("it is packed with gzip, and its end is missing. Download it again.")
                pieces.append(unpacker.decompress(data[start : start + _PIECE_BYTES], settings.UPLOAD_LIMIT_BYTES + 1))
                size += len(pieces[-1])
                start += _PIECE_BYTES
                if size > settings.UPLOAD_LIMIT_BYTES:
                    raise PackedError(_too_large())
            start = min(start, len(data)) - len(unpacker.unused_data)
            if members > ENTRIES_LIMIT:
                raise PackedError("it is packed in too many pieces. Unpack it, and attach the file in it.")
    except zlib.error:
        raise PackedError("it is packed with gzip, and broken. Download it again.") from None
    return b"".join(pieces)


def _unzip(data: bytes) -> tuple[str, bytes] | None:
    """Return the name and bytes of the archive's only text table or only file; None for workbooks and similar archives.

    Raises PackedError if no single file can be chosen or unpacked.
    """
    parts = archive_parts(data)
    names = {part.filename.replace("\\", "/").lower() for part in parts}
    if any(name in names for name in _DOCUMENTS):
        return None
    # `ZipInfo.is_dir` fails for an empty name.
    files = [part for part in parts if not part.filename.endswith("/") and _is_file(part.filename)]
    part = _choose(files)
    if part.flag_bits & _ENCRYPTED_FLAG:
        raise PackedError("it is protected by a password. Unpack it, and attach the file in it.")
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise PackedError("it is packed in an unusual way. Unpack it, and attach the file in it.")
    limit = settings.UPLOAD_LIMIT_BYTES
    if part.file_size > limit:
        raise PackedError(_too_large())
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(part) as file:
            content = file.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, RuntimeError, NotImplementedError):
        raise PackedError("it is a broken zip archive. Save or download it again.") from None
    return _base_name(part.filename), content


def _choose(files: Sequence[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    """Return the archive's only table in text, or its only file.

    Raises PackedError if there is none, if there are several, or if the only table is a workbook or binary.
    """
    tables = [part for part in files if _suffix(part) in _TEXT_TABLES | _OTHER_TABLES]
    # An archive often holds a description (.txt) beside the table.
    without_notes = [part for part in tables if _suffix(part) != "txt"]
    chosen = files if len(files) == 1 else without_notes or tables
    if not chosen:
        what = "it is an empty archive." if not files else "it is an archive without a table."
        raise PackedError(f"{what} Unpack it, and attach the file that you need.")
    if len(chosen) > 1:
        listed = ", ".join(f"“{_base_name(part.filename)}”" for part in chosen[:NAMES_SHOWN])
        more = ", …" if len(chosen) > NAMES_SHOWN else ""
        raise PackedError(
            f"it is an archive of {len(chosen)} tables: {listed}{more}. Unpack it, and attach the tables that you need."
        )
    if _suffix(chosen[0]) in _OTHER_TABLES:
        raise PackedError(f"it is an archive with “{_base_name(chosen[0].filename)}”. Unpack it, and attach that file.")
    return chosen[0]


def _is_file(path: str) -> bool:
    """Return whether a path in an archive belongs to a file of a person, not to one that an operating system added."""
    return not path.startswith("__MACOSX/") and _base_name(path).lower() not in _NO_FILES


def _base_name(path: str) -> str:
    """Return the printable characters of the last part of a path."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return "".join(character for character in name if character.isprintable()).strip()[-NAME_CHARACTERS:]


def _suffix(part: zipfile.ZipInfo) -> str:
    return part.filename.lower().rpartition(".")[2]


def _too_large() -> str:
    return (
        f"it unpacks to more than {settings.UPLOAD_LIMIT_BYTES / 1024**2:.3g} MB. Unpack it, and attach a part of it."
    )
