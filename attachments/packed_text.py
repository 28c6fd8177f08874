"""Unpacks a text that is packed with gzip, or alone in a zip archive. Pure.

The packed bytes are what is stored and downloaded. The preview, models and code get the text.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

from django.conf import settings

GZIP_MARK = b"\x1f\x8b\x08"
ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
"""The beginning of an archive, and of an empty one."""
PACKED_SUFFIXES = ("gz", "zip")
ENTRIES_LIMIT = 5_000
NAMES_SHOWN = 5
NAME_CHARACTERS = 100

_DIRECTORY_MARK = b"PK\x01\x02"
"""Each file in the directory of an archive begins with it."""
_PIECE_BYTES = 64 * 1024
"""Bytes that are unpacked at once. What follows a member in its piece is copied."""
_ENCRYPTED_FLAG = 0x1
_TEXT_TABLES = frozenset({"csv", "tsv", "tab", "json", "jsonl", "ndjson", "txt", "psv", "dat"})
_OTHER_TABLES = frozenset({"xlsx", "xlsm", "xlsb", "xls", "ods", "parquet", "dta", "feather", "arrow"})
_NO_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""Files that operating systems put into archives."""
_DOCUMENTS = ("[content_types].xml", "mimetype", "meta-inf/manifest.mf", "androidmanifest.xml", "index/document.iwa")
"""Parts of files that are archives themselves, such as workbooks, documents and programs."""


class PackedError(Exception):
    """A file cannot be unpacked to one text. The message is the end of a sentence that says why, and what to do."""


def unpack(name: str, data: bytes) -> tuple[str, bytes] | None:
    """Return the name and the bytes of the file that is packed in this one, or `None` if it is not packed.

    Files of other types that are archives, such as workbooks, are not packed. Raises PackedError. At most
    `UPLOAD_LIMIT_BYTES` are unpacked. Whether they are text is not checked.
    """
    if data.startswith(GZIP_MARK):
        return _gzip_name(name, data), _gunzip(data)
    if data.startswith(ZIP_MARKS):
        return _unzip(data)
    return None


def archive_parts(data: bytes) -> list[zipfile.ZipInfo]:
    """Return the files in a zip archive, of which nothing is unpacked. Raises PackedError."""
    if data.count(_DIRECTORY_MARK) > ENTRIES_LIMIT:
        raise PackedError(f"it is an archive of more than {ENTRIES_LIMIT:,} files. Attach the file that you need.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, LookupError, OverflowError):
        raise PackedError("it is a broken zip archive. Save or download it again.") from None


def _gzip_name(name: str, data: bytes) -> str:
    """Return the name without `.gz`; if no suffix remains, the one in the file's header, where there is one."""
    stem = name[:-3] if name.lower().endswith(".gz") else name
    if "." in stem or not data[3] & 0x8:
        return stem
    start = 10 + (2 + int.from_bytes(data[10:12], "little") if data[3] & 0x4 else 0)
    return _base_name(data[start : start + 1_000].partition(b"\0")[0].decode("latin-1")) or stem


def _gunzip(data: bytes) -> bytes:
    """Return what all members of the file hold. Raises PackedError."""
    pieces: list[bytes] = []
    size = start = members = 0
    try:
        # Zeros may follow the last member.
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
    """Return the only table in text of an archive, or its only file. Raises PackedError."""
    parts = archive_parts(data)
    names = {part.filename.replace("\\", "/").lower() for part in parts}
    if any(name in names for name in _DOCUMENTS):
        return None
    files = [part for part in parts if not part.is_dir() and _is_file(part.filename)]
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
    """Return the file of an archive that is read. Raises PackedError if there is not one table in text."""
    tables = [part for part in files if _suffix(part) in _TEXT_TABLES | _OTHER_TABLES]
    # A description often lies beside a table.
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
    """Return whether a path in an archive is of a file that a person put there."""
    return not path.startswith("__MACOSX/") and _base_name(path).lower() not in _NO_FILES


def _base_name(path: str) -> str:
    """Return the last part of a path, in printable characters."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return "".join(character for character in name if character.isprintable()).strip()[-NAME_CHARACTERS:]


def _suffix(part: zipfile.ZipInfo) -> str:
    return part.filename.lower().rpartition(".")[2]


def _too_large() -> str:
    return (
        f"it unpacks to more than {settings.UPLOAD_LIMIT_BYTES / 1024**2:.3g} MB. Unpack it, and attach a part of it."
    )
