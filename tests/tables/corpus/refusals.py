"""Files that hold no table that can be read: a reader must say what is wrong."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator, Mapping

from tests.tables.corpus.case import Case
from tests.tables.corpus.compound_files import write_compound_file
from tests.tables.corpus.values import seeded

NOT_A_TABLE = ("not", "no table", "cannot", "binary", "looks like")


def make_refusals() -> Iterator[Case]:
    """Yield files of another type, damaged, empty or locked ones. Words that name the cause are labelled."""
    for name, (data, words) in _files().items():
        yield Case("refusal", name, data, refusal=True, must_note=words)


def _zip(members: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return target.getvalue()


def _files() -> dict[str, tuple[bytes, tuple[str, ...]]]:
    noise = seeded("noise")
    random_bytes = bytes(noise.randrange(256) for _ in range(9000))
    pdf = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n" + random_bytes[:3000] + b"\n%%EOF\n"
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + random_bytes[:2000]
    jpeg = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + random_bytes[:2000]
    page = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><p>Please sign in.</p></body></html>\n"
    locked = write_compound_file(
        {"EncryptionInfo": b"\x04\x00\x04\x00@\x00\x00\x00" + b" " * 900, "EncryptedPackage": random_bytes}
    )
    numbers = _zip({"Index/Document.iwa": random_bytes[:900], "Metadata/Properties.plist": b"bplist00"})
    word = _zip({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w:document/>"})
    sav = b"$FL2@(#) SPSS DATA FILE MS Windows 26.0.0" + b" " * 19 + struct.pack("<iii", 2, 5, 1) + random_bytes[:900]
    sqlite = b"SQLite format 3\x00" + random_bytes[:1008]
    return {
        "report.csv": (pdf, ("pdf",)),
        "scan.csv": (png, ("png", "image", "picture", *NOT_A_TABLE)),
        "photo.xlsx": (jpeg, ("jpeg", "image", "picture", *NOT_A_TABLE)),
        "noise.csv": (random_bytes, NOT_A_TABLE),
        "noise.xlsx": (random_bytes[:4000], NOT_A_TABLE),
        "noise.parquet": (random_bytes[:4000], NOT_A_TABLE),
        "empty.csv": (b"", ("empty", "no ")),
        "empty.json": (b"", ("empty", "no ")),
        "empty.xlsx": (b"", ("empty", "no ", "not")),
        "blank.csv": (b"\n\n  \n", ("empty", "no ")),
        "mark-only.csv": (b"\xef\xbb\xbf", ("empty", "no ")),
        "locked.xlsx": (locked, ("password", "protect", "encrypt")),
        "budget.xlsx": (numbers, ("numbers", *NOT_A_TABLE)),
        "letter.xlsx": (word, ("word", *NOT_A_TABLE)),
        "survey.csv": (sav, ("spss", *NOT_A_TABLE)),
        "database.csv": (sqlite, ("sqlite", *NOT_A_TABLE)),
        "download.csv": (page, ("html", "web page")),
        "cut.parquet": (b"PAR1" + random_bytes[:5000], ("cut", "end", "incomplete", "damaged", *NOT_A_TABLE)),
        "cut.xlsx": (
            _zip({"xl/workbook.xml": random_bytes[:3000]})[:1500],
            ("cut", "incomplete", "damaged", *NOT_A_TABLE),
        ),
        "broken.json": (b'{"a": [1, 2,, 3], "b": }', ("json",)),
        "script.json": (b"var rows = [1, 2];\nconsole.log(rows)\n", ("json",)),
    }
