"""Runs inside a kernel: reads from the parts of a workbook what the library for workbooks does not report.

These are formulas without stored values, errors, the extent of the cells, and merged cells of OpenDocument. They are
read in pieces, by regular expressions and by parsers that do not expand entities.
"""

from __future__ import annotations

import io
import posixpath
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from chat.python.kernels.in_kernel.table_sheet_regions import column_number
from chat.python.kernels.in_kernel.table_source import Unreadable

if TYPE_CHECKING:
    import python_calamine

UNPACKED_LIMIT_BYTES = 256 * 1024 * 1024
AREA_LIMIT_CELLS = 20_000_000
"""Maximum number of cells between the first and the last one. The library needs 32 bytes for each of them."""
ODD_CELLS_LIMIT = 100_000

_PIECE_BYTES = 1024 * 1024
_ROW_LIMIT_BYTES = 4 * _PIECE_BYTES
_PART_LIMIT_BYTES = 4 * 1024 * 1024
_OPEN_CELL = rb"<(?:\w{1,9}:)?c\s([^<>]*)>\s*"
_UNSAVED = re.compile(
    _OPEN_CELL + rb"<(?:\w{1,9}:)?f\b[^<>]*(?:(?<=/)>|>[^<]*</(?:\w{1,9}:)?f>)\s*(?:<(?:\w{1,9}:)?v\b[^<>]*>([^<]*))?"
)
"""Matches a cell with a formula: its attributes, and its value if it has one."""
_FAULT = re.compile(
    _OPEN_CELL + rb"(?:<(?:\w{1,9}:)?f\b[^<>]*>[^<]*(?:</(?:\w{1,9}:)?f>)?\s*)?<(?:\w{1,9}:)?v>([^<]*)<"
)
"""Matches a cell with a value: its attributes and its value."""
_PLACE = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')
_FAR_CELL = re.compile(rb'\br="([A-Z]{3})\d{1,7}"[^<>]*(?<!/)>')
_LETTERS = bytes(65 if 65 <= byte <= 90 else byte for byte in range(256))
"""Translation table that replaces all capital letters by A."""
_FULL_CELL = re.compile(rb'<(?:\w{1,9}:)?c\s[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"[^<>]*(?<!/)>')
_DOTTED_TARGET = re.compile(rb"""(?<=Target=["'])\.[^"'<>]*""")
_MAIN_PART = "xl/workbook.xml"

Place = tuple[int, int]
"""The row and the column of a cell on its sheet, from 0."""
Merged = tuple[Place, Place]
"""The first and the last cell of a merged area."""


class OddCells(NamedTuple):
    """Cells of a sheet that the library reads as empty."""

    unsaved: list[Place]
    """Cells with formulas whose values are not stored."""
    faults: list[tuple[Place, str]]
    """Cells with errors such as `#DIV/0!`."""


class Workbook(NamedTuple):
    """A file of a spreadsheet program, opened as an archive."""

    data: bytes
    parts: dict[str, zipfile.ZipInfo]
    """The parts by their names in lower case with slashes; empty for the old format xls."""


def open_workbook(data: bytes) -> Workbook:
    """Open a workbook. Raises Unreadable if its unpacked size is too large, or if the archive is broken."""
    if not data.startswith(b"PK"):
        return Workbook(data, {})
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, LookupError):
        raise Unreadable("it is a broken Excel file. Save or download it again.") from None
    if sum(entry.file_size for entry in entries) > UNPACKED_LIMIT_BYTES:
        raise Unreadable(f"it unpacks to more than {UNPACKED_LIMIT_BYTES // 1024**2} MB.")
    return Workbook(data, {_plain_name(entry.filename).lower(): entry for entry in entries})


def repacked(workbook: Workbook) -> bytes:
    """Return the file with the usual names of its parts, because some programs write other names."""
    main = _main_part(workbook)
    folder, _, name = main.rpartition("/")
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook.data)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for entry in workbook.parts.values():
            part = _plain_name(entry.filename)
            content = old.read(entry)
            if part.lower() == main:
                part = _MAIN_PART
            elif part.lower() == f"{folder}/_rels/{name}.rels".lstrip("/"):
                part = "xl/_rels/workbook.xml.rels"
            elif folder and part.lower().startswith(f"{folder}/"):
                part = f"xl/{part[len(folder) + 1 :]}"
            if part.endswith(".rels"):
                content = (
                    content.replace(b"\\", b"/")
                    .replace(f'"/{folder}/'.encode(), b'"/xl/')
                    .replace(main.encode(), _MAIN_PART.encode())
                )
            if part == "xl/_rels/workbook.xml.rels":
                content = _DOTTED_TARGET.sub(lambda found: posixpath.normpath(b"/xl/" + found[0]), content)
            new.writestr(part, content)
    return packed.getvalue()


def find_odd_cells(workbook: Workbook, sheet: str) -> OddCells:
    """Return the cells of a sheet that the library reads as empty. Raises Unreadable if cells are too far apart."""
    part = _sheet_part(workbook, sheet)
    odd = OddCells([], [])
    if part is None:
        return odd
    last_row = last_column = 0
    for piece in _pieces(workbook, part):
        _collect(piece, odd)
        last = piece.rfind(b"<row ")
        found = _PLACE.search(piece, last) if last >= 0 else None
        last_row = max(last_row, int(found[2]) if found else 0)
        if b'r="AAA' in piece.translate(_LETTERS):
            far = (column_number(one[1].decode()) for one in _FAR_CELL.finditer(piece))
            last_column = max(far, default=last_column)
    if last_row * last_column > AREA_LIMIT_CELLS:
        _check_area(workbook, part, sheet)
    return odd


def has_cells(workbook: Workbook, reader: python_calamine.CalamineWorkbook, sheet: str) -> bool:
    """Return whether a sheet has values."""
    part = _sheet_part(workbook, sheet)
    if part is None:
        return reader.get_sheet_by_name(sheet).start is not None
    return any(b"v>" in piece or b"is>" in piece for piece in _pieces(workbook, part))


def _collect(piece: bytes, odd: OddCells) -> None:
    """Append the cells in this piece of the sheet's XML that the library reads as empty."""
    if b"<f" in piece or b":f" in piece:
        for match in _UNSAVED.finditer(piece):
            # An empty text is a value, too.
            is_empty = not match[2] and not (match[2] is not None and b't="str"' in match[1])
            place = _PLACE.search(match[1]) if is_empty and len(odd.unsaved) < ODD_CELLS_LIMIT else None
            if place:
                odd.unsaved.append((int(place[2]) - 1, column_number(place[1].decode())))
    if b't="e"' in piece:
        for match in _FAULT.finditer(piece):
            place = _PLACE.search(match[1]) if b't="e"' in match[1] and len(odd.faults) < ODD_CELLS_LIMIT else None
            if place:
                cell = (int(place[2]) - 1, column_number(place[1].decode()))
                odd.faults.append((cell, match[2].decode(errors="replace")[:20]))


def _check_area(workbook: Workbook, part: zipfile.ZipInfo, sheet: str) -> None:
    """Raise Unreadable if the cells with values are too far from each other."""
    rows: set[int] = set()
    columns: set[bytes] = set()
    for piece in _pieces(workbook, part):
        for match in _FULL_CELL.finditer(piece):
            rows.add(int(match[2]))
            columns.add(match[1])
    numbers = [column_number(letters.decode()) for letters in columns]
    if rows and (max(rows) - min(rows) + 1) * (max(numbers) - min(numbers) + 1) > AREA_LIMIT_CELLS:
        raise Unreadable(
            f"the cells of “{sheet[:40]}” lie too far from each other."
            " Delete the far rows and columns, and save it again."
        )


def _pieces(workbook: Workbook, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the XML of a sheet in pieces of whole rows."""
    rest = b""
    try:
        with zipfile.ZipFile(io.BytesIO(workbook.data)) as archive, archive.open(part) as file:
            while piece := file.read(_PIECE_BYTES):
                piece = rest + piece
                end = piece.rfind(b"row>") + 4
                rest = piece[end:] if end > 3 else piece
                if end > 3:
                    yield piece[:end]
                if len(rest) > _ROW_LIMIT_BYTES:
                    yield rest
                    rest = b""
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, RuntimeError, NotImplementedError):
        return
    yield rest


def _plain_name(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")


def _main_part(workbook: Workbook) -> str:
    """Return the name of the part that lists the sheets, in lower case."""
    for element in _elements(workbook, "_rels/.rels"):
        if element.get("Type", "").endswith("/officeDocument"):
            return _plain_name(element.get("Target", "")).lower()
    return _MAIN_PART


def is_locked(workbook: Workbook) -> bool:
    """Return whether a password protects an OpenDocument file."""
    return any(one.tag.endswith("}encryption-data") for one in _elements(workbook, "meta-inf/manifest.xml"))


def has_dotted_targets(workbook: Workbook) -> bool:
    """Return whether the paths of sheets are written as `../xl/…`, which the library does not understand."""
    return any(target.startswith(".") for target in _targets(workbook).values())


def _targets(workbook: Workbook) -> dict[str | None, str]:
    """Return the paths of the parts to which the main part refers, by their relationship ids."""
    folder, _, name = _main_part(workbook).rpartition("/")
    return {one.get("Id"): one.get("Target", "") for one in _elements(workbook, f"{folder}/_rels/{name}.rels")}


def _sheet_part(workbook: Workbook, sheet: str) -> zipfile.ZipInfo | None:
    """Return the part of a sheet in a workbook that is stored as XML; `None` if it cannot be found."""
    main, targets = _main_part(workbook), _targets(workbook)
    folder = main.rpartition("/")[0]
    for element in _elements(workbook, main):
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            key = next((value for attribute, value in element.items() if attribute.endswith("}id")), None)
            target = _plain_name(targets.get(key, "")) if targets.get(key, "").startswith(("/", "\\")) else ""
            path = target or posixpath.normpath(f"{folder}/{targets.get(key, '')}".replace("\\", "/"))
            return workbook.parts.get(path.lower())
    return None


def _elements(workbook: Workbook, name: str) -> list[ElementTree.Element]:
    """Return the elements of a small part; an empty list if it is missing, large or broken, or declares entities."""
    entry = workbook.parts.get(name.lstrip("/"))
    if entry is None or entry.file_size > _PART_LIMIT_BYTES:
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(workbook.data)) as archive, archive.open(entry) as file:
            text = file.read(_PART_LIMIT_BYTES)
        return [] if b"<!" in text.replace(b"<!--", b"") else list(ElementTree.fromstring(text).iter())
    except (ElementTree.ParseError, zipfile.BadZipFile, OSError, ValueError, EOFError, RuntimeError, LookupError):
        return []


def find_merged_cells(workbook: Workbook, sheet: str) -> list[Merged]:
    """Return the merged areas of an OpenDocument sheet; an empty list for other files."""
    entry = workbook.parts.get("content.xml")
    if entry is None:
        return []
    reader = _MergedCells(sheet)
    try:
        with zipfile.ZipFile(io.BytesIO(workbook.data)) as archive, archive.open(entry) as file:
            reader.parser.ParseFile(file)
    except (expat.ExpatError, zipfile.BadZipFile, OSError, ValueError, EOFError, RuntimeError, NotImplementedError):
        pass
    return reader.merged


class _MergedCells:
    """XML parser that finds the merged areas of a sheet in an OpenDocument file."""

    def __init__(self, sheet: str) -> None:
        self.merged: list[Merged] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.StartDoctypeDeclHandler = self._refuse
        self._sheet = sheet
        self._is_here = False
        self._row = self._column = self._next_row = 0

    def _refuse(self, *declaration: object) -> None:
        raise ValueError("a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table:table":
            self._is_here = attributes.get("table:name") == self._sheet
            self._next_row = 0
        if not self._is_here:
            return
        if name == "table:table-row":
            self._row, self._column = self._next_row, 0
            self._next_row += _count(attributes, "table:number-rows-repeated")
        elif name in ("table:table-cell", "table:covered-table-cell"):
            height = _count(attributes, "table:number-rows-spanned")
            width = _count(attributes, "table:number-columns-spanned")
            if height * width > 1 and len(self.merged) < ODD_CELLS_LIMIT:
                first = self._row, self._column
                self.merged.append((first, (self._row + height - 1, self._column + width - 1)))
            self._column += _count(attributes, "table:number-columns-repeated")


def _count(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(name, "1")
    return int(text) if text.isdecimal() and len(text) < 8 else 1
