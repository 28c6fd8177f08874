"""Determines from the bytes and the suffix of a file which kind of table it holds, or which program made it. Pure.

Nothing is unpacked here, so a small file cannot make the server unpack gigabytes.
"""

from __future__ import annotations

from attachments.other_images import HEIC_REFUSAL, RAW_SUFFIXES, RECORDING_REFUSAL, UNREAD_PICTURE, is_heic
from attachments.packed_text import PACKED_SUFFIXES, ZIP_MARKS, PackedError, archive_parts

SPREADSHEET_SUFFIXES = frozenset({"xlsx", "xlsm", "xltx", "xltm", "xlsb", "xls", "ods"})
"""Extensions of workbooks, also of those with macros and of templates."""
BINARY_TABLE_SUFFIXES = SPREADSHEET_SUFFIXES | {"parquet", "dta", "arrow", "feather"}
TEXT_TABLE_SUFFIXES = frozenset({"csv", "tsv", "tab", "json", "jsonl", "ndjson"})
TABLE_SUFFIXES = TEXT_TABLE_SUFFIXES | BINARY_TABLE_SUFFIXES | set(PACKED_SUFFIXES)
"""Extensions of files that hold a table, or can hold one."""
TABLE_TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "dta": "application/x-stata-dta",
}
"""MIME types by the kinds that `find_table_kind` returns."""

_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of files of Microsoft Office before 2007, and of newer ones that a password protects."""
_OLE_STREAMS = {"Workbook": "xls", "Book": "xls", "WordDocument": "Word", "PowerPoint Document": "PowerPoint"}
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
_STATA_VERSIONS = range(102, 116)
"""First bytes of Stata's files before version 13: the number of the format."""
_ODS_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"

_EXPORT = "Export the table that you need as CSV or Excel there, and attach that file."
_UNPACK = "Unpack it, and attach the file that you need."
_IN_R = "it is a file of R. In R, write the table with write.csv(), and attach that file."
_IN_NUMBERS = "it is a file of Apple Numbers. In Numbers, choose File > Export To > CSV, and attach that file."
_PROGRAM = "it is a file of {}. " + _EXPORT
_DOCUMENT = "it is a document of {}. Save it as PDF, and attach that file."
_LOCKED = "it is protected by a password. Save it without the password, and attach it again."
_ARCHIVE = "it is an archive ({}). " + _UNPACK
_JPEG_XL, _JPEG_2000 = UNREAD_PICTURE.format("JPEG XL"), UNREAD_PICTURE.format("JPEG 2000")
_MARKS = {
    b"\0\0\0\x0cJXL \r\n": _JPEG_XL,
    b"\0\0\0\x0cjP  \r\n": _JPEG_2000,
    b"\xff\x4f\xff\x51": _JPEG_2000,
    b"8BPS\0": UNREAD_PICTURE.format("Photoshop"),
    b"$FL2": _PROGRAM.format("SPSS"),
    b"$FL3": _PROGRAM.format("SPSS"),
    bytes(12) + b"\xc2\xea\x81\x60": _PROGRAM.format("SAS"),
    b"\0\1\0\0Standard Jet DB": _PROGRAM.format("Microsoft Access"),
    b"\0\1\0\0Standard ACE DB": _PROGRAM.format("Microsoft Access"),
    # Broken files of this version crash PyArrow, which no longer supports it.
    b"FEA1": "it is a Feather file of version 1. Save it as Parquet, for example with pandas, and attach that file.",
    b"SQLite format 3\0": _PROGRAM.format("SQLite"),
    b"MATLAB 5.0 MAT": _PROGRAM.format("MATLAB"),
    b"RDX2\n": _IN_R,
    b"RDX3\n": _IN_R,
    b"X\n\0\0\0": _IN_R,
    b"7z\xbc\xaf\x27\x1c": _ARCHIVE.format(".7z"),
    b"Rar!\x1a\x07": _ARCHIVE.format(".rar"),
    b"BZh": _ARCHIVE.format(".bz2"),
    b"\xfd7zXZ\0": _ARCHIVE.format(".xz"),
    b"\x28\xb5\x2f\xfd": _ARCHIVE.format(".zst"),
}
"""Explanations for refused files, by their first bytes."""
_SUFFIXES = {
    **dict.fromkeys(("sav", "zsav", "por"), _PROGRAM.format("SPSS")),
    **dict.fromkeys(("sas7bdat", "xpt"), _PROGRAM.format("SAS")),
    **dict.fromkeys(("mdb", "accdb"), _PROGRAM.format("Microsoft Access")),
    **dict.fromkeys(("sqlite", "sqlite3"), _PROGRAM.format("SQLite")),
    **dict.fromkeys(("rds", "rdata", "rda"), _IN_R),
    "dbf": _PROGRAM.format("dBase"),
    "gsheet": "it is only a link. In Google Sheets, choose File > Download > Microsoft Excel, and attach that file.",
    "mat": _PROGRAM.format("MATLAB"),
    "numbers": _IN_NUMBERS,
    **dict.fromkeys(("heic", "heif"), HEIC_REFUSAL),
    "jxl": _JPEG_XL,
    **dict.fromkeys(RAW_SUFFIXES, UNREAD_PICTURE.format("raw")),
    **{suffix: UNREAD_PICTURE.format(suffix.upper()) for suffix in ("ico", "emf", "wmf")},
    **dict.fromkeys(("mov", "mp4", "m4v", "3gp", "avi", "mkv", "webm"), RECORDING_REFUSAL),
    **dict.fromkeys(("mp3", "m4a", "wav", "ogg", "opus", "flac", "aac", "amr"), RECORDING_REFUSAL),
}
"""Explanations for other refused files that are not text, by their suffixes."""
_PARTS = {
    "word/document.xml": _DOCUMENT.format("Word"),
    "ppt/presentation.xml": _DOCUMENT.format("PowerPoint"),
    "index/document.iwa": _IN_NUMBERS,
    "index.zip": _IN_NUMBERS,
    "encrypted-package": _LOCKED,
}
"""Explanations for refused zip archives, by the name of a part inside."""


def is_table_name(name: str) -> bool:
    """Return whether a file with this name can hold a table."""
    return name.lower().rpartition(".")[2] in TABLE_SUFFIXES


def find_table_kind(data: bytes, suffix: str) -> str | None:
    """Return the kind of table, a key of `TABLE_TYPES`; `None` for any other file.

    `suffix`: of the file name, in lower case.
    """
    if data.startswith(ZIP_MARKS):
        return _find_zip_kind(data, suffix)
    if data.startswith(_OLE_MARK):
        return "xls" if _find_ole_program(data) == "xls" else None
    if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"ARROW1"):
        return "arrow"
    is_old_stata = suffix == "dta" and data[0] in _STATA_VERSIONS and data[1:2] in (b"\1", b"\2")
    return "dta" if is_old_stata or data.startswith(b"<stata_dta>") else None


def explain_refusal(data: bytes, suffix: str) -> str:
    """Return the end of the error for a refused file: what kind of file it is, and what to do.

    Empty if the kind is unknown.
    """
    if is_heic(data):
        return HEIC_REFUSAL
    for mark, explanation in _MARKS.items():
        if data.startswith(mark):
            return explanation
    if data[257:262] == b"ustar":
        return _ARCHIVE.format(".tar")
    if data.startswith(_OLE_MARK):
        return _explain_ole(data)
    if data.startswith(ZIP_MARKS):
        names = _part_names(data)
        return next((explanation for part, explanation in _PARTS.items() if part in names), "")
    return _SUFFIXES.get(suffix, "")


def _find_zip_kind(data: bytes, suffix: str) -> str | None:
    """Return the kind of a workbook from the names of its parts; None if the archive is no workbook."""
    names = _part_names(data)
    if not names and suffix in SPREADSHEET_SUFFIXES:
        return "xlsx"  # a broken workbook: the program that reads it reports the error
    if any(name.startswith("xl/") for name in names):
        return "xlsb" if "xl/workbook.bin" in names else "xlsx"
    # The type is the first part of an OpenDocument file, and is not packed.
    return "ods" if "content.xml" in names and (_ODS_TYPE in data[:200] or suffix == "ods") else None


def _part_names(data: bytes) -> set[str]:
    """Return the names of the parts of an archive in lower case with slashes; an empty set for a broken archive."""
    try:
        return {part.filename.replace("\\", "/").lstrip("/").lower() for part in archive_parts(data)}
    except PackedError:
        return set()


def _find_ole_program(data: bytes) -> str:
    """Return the program of an OLE file, from the first known stream in its directory; empty if no stream is known."""
    start = (int.from_bytes(data[48:52], "little") + 1) << min(int.from_bytes(data[30:32], "little"), 16)
    found = {data.find(f"{name}\0".encode("utf-16-le"), start): kind for name, kind in _OLE_STREAMS.items()}
    found.pop(-1, None)
    return found[min(found)] if found else ""


def _explain_ole(data: bytes) -> str:
    if _PROTECTED in data:
        return _LOCKED
    program = _find_ole_program(data)
    return _DOCUMENT.format(program) if program in ("Word", "PowerPoint") else ""
