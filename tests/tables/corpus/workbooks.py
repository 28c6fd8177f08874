"""Small writers of `.xlsx`, `.ods` and `.xls`, with only what the corpus needs."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from xml.sax.saxutils import escape, quoteattr

from tests.tables.corpus.case import Value
from tests.tables.corpus.compound_files import write_compound_file


@dataclass(frozen=True)
class Formula:
    """A formula, with its last value if the program stored one."""

    text: str
    value: float | None = None


Cell = Value | Formula


@dataclass(frozen=True)
class Sheet:
    """A sheet: its rows from A1, merged ranges such as `A1:B1`, and `visible`, `hidden` or `veryHidden`."""

    name: str
    rows: Sequence[Sequence[Cell]]
    merged: Sequence[str] = ()
    state: str = "visible"


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="1"><font><sz val="11"/></font></fonts><fills count="1"><fill>'
    '<patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1">'
    '<xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" '
    'applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def _archive(members: Mapping[str, str], stored: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(
                zipfile.ZipInfo(name), text, zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED
            )
    return target.getvalue()


def _letters(column: int) -> str:
    return (chr(64 + column // 26) if column >= 26 else "") + chr(65 + column % 26)


def _serial(value: date) -> float:
    """Return a date as days since 1899-12-30."""
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return (moment - datetime(1899, 12, 30)).total_seconds() / 86400


def _xlsx_cell(place: str, cell: Cell, strings: list[str]) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Formula):
        value = "" if cell.value is None else f"<v>{cell.value}</v>"
        return f'<c r="{place}"><f>{escape(cell.text)}</f>{value}</c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, date):
        return f'<c r="{place}" s="{2 if isinstance(cell, datetime) else 1}"><v>{_serial(cell)!r}</v></c>'
    if isinstance(cell, str) and cell.startswith("#"):
        return f'<c r="{place}" t="e"><v>{cell}</v></c>'
    if isinstance(cell, str):
        if cell not in strings:
            strings.append(cell)
        return f'<c r="{place}" t="s"><v>{strings.index(cell)}</v></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _xlsx_sheet(sheet: Sheet, strings: list[str]) -> str:
    rows = "".join(
        f'<row r="{n}">{"".join(_xlsx_cell(f"{_letters(k)}{n}", cell, strings) for k, cell in enumerate(row))}</row>'
        for n, row in enumerate(sheet.rows, 1)
        if row
    )
    ranges = "".join(f'<mergeCell ref="{span}"/>' for span in sheet.merged)
    merged = f'<mergeCells count="{len(sheet.merged)}">{ranges}</mergeCells>' if ranges else ""
    return f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData>{merged}</worksheet>'


def write_xlsx(sheets: Sequence[Sheet], macros: bool = False) -> bytes:
    """Return a workbook as Excel stores it; with `macros`, its type is that of `.xlsm`.

    A text that begins with `#` is an error, such as `#DIV/0!`.
    """
    strings: list[str] = []
    bodies = [_xlsx_sheet(sheet, strings) for sheet in sheets]
    kind = "application/vnd.ms-excel.sheet.macroEnabled.main+xml" if macros else f"{_TYPE}.sheet.main+xml"
    parts = {f"xl/worksheets/sheet{n}.xml": body for n, body in enumerate(bodies, 1)}
    overrides = {"xl/workbook.xml": kind, "xl/styles.xml": f"{_TYPE}.styles+xml"}
    overrides |= {"xl/sharedStrings.xml": f"{_TYPE}.sharedStrings+xml"}
    overrides |= dict.fromkeys(parts, f"{_TYPE}.worksheet+xml")
    listed = "".join(f'<Override PartName="/{name}" ContentType="{type_}"/>' for name, type_ in overrides.items())
    names = "".join(
        f'<sheet name={quoteattr(sheet.name)} sheetId="{n}" state="{sheet.state}" r:id="rId{n}"/>'
        for n, sheet in enumerate(sheets, 1)
    )
    items = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in strings)
    last = len(sheets)
    workbook = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>'
    links = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, last + 1)]
    links += [("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")]
    return _archive(
        {
            "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{listed}</Types>',
            "_rels/.rels": _links([("officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": _HEAD + workbook,
            "xl/_rels/workbook.xml.rels": _links(links),
            "xl/styles.xml": _STYLES,
            "xl/sharedStrings.xml": f'{_HEAD}<sst xmlns="{_MAIN}">{items}</sst>',
            **parts,
        }
    )


_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def rewrite(data: bytes, replacements: Sequence[tuple[str, str]], separator: str) -> bytes:
    """Return a workbook with texts replaced in all its parts, and another separator in the names of the parts."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    for old, new in replacements:
        parts = {name: text.replace(old, new) for name, text in parts.items()}
    return _archive({name.replace("/", separator): text for name, text in parts.items()})


def _links(targets: Sequence[tuple[str, str]]) -> str:
    items = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{items}</Relationships>'


def _ods_cell(cell: Cell) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, Formula):
        return f"<table:table-cell table:formula={quoteattr('of:=' + cell.text)}/>"
    if isinstance(cell, bool):
        attributes, text = f'office:value-type="boolean" office:boolean-value="{str(cell).lower()}"', str(cell).upper()
    elif isinstance(cell, date):
        attributes, text = f'office:value-type="date" office:date-value="{cell.isoformat()}"', cell.isoformat()
    elif isinstance(cell, str):
        attributes, text = 'office:value-type="string"', cell
    else:
        attributes, text = f'office:value-type="float" office:value="{cell!r}"', str(cell)
    return f"<table:table-cell {attributes}><text:p>{escape(text)}</text:p></table:table-cell>"


def write_ods(sheets: Sequence[Sheet]) -> bytes:
    """Return a spreadsheet as LibreOffice stores it. Hidden sheets and merged cells are not written."""
    base = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{base}:{name}:1.0"' for name in ("office", "table", "text"))
    tables = "".join(
        f"<table:table table:name={quoteattr(sheet.name)}>"
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in sheet.rows)
        # LibreOffice fills a sheet up to its last row.
        + '<table:table-row table:number-rows-repeated="1048000">'
        + '<table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
        for sheet in sheets
    )
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{base}:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{mime}"/><manifest:file-entry manifest:full-path="content.xml" '
        'manifest:media-type="text/xml"/></manifest:manifest>'
    )
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    content = f'{_HEAD}<office:document-content {spaces} office:version="1.2">{body}</office:document-content>'
    return _archive({"mimetype": mime, "content.xml": content, "META-INF/manifest.xml": _HEAD + manifest}, "mimetype")


def _record(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _xls_text(text: str, length: str) -> bytes:
    return struct.pack(f"<{length}B", len(text), 1) + text.encode("utf-16-le")


def _xls_cell(row: int, column: int, cell: Cell) -> bytes:
    if isinstance(cell, str):
        return _record(0x0204, struct.pack("<HHH", row, column, 15) + _xls_text(cell, "H"))
    if isinstance(cell, bool):
        return _record(0x0205, struct.pack("<HHHBB", row, column, 15, cell, 0))
    if isinstance(cell, date):
        return _record(0x0203, struct.pack("<HHHd", row, column, 16, _serial(cell)))
    if isinstance(cell, int | float):
        return _record(0x0203, struct.pack("<HHHd", row, column, 15, cell))
    return b""


def write_xls(sheets: Sequence[Sheet]) -> bytes:
    """Return a workbook of Excel 97 (BIFF8). Merged cells and formulas are not written."""
    style = _record(0x00E0, struct.pack("<HHHBBBBIIH", 0, 0, 0xFFF5, 0x20, 0, 0, 0, 0, 0, 0x20C0))
    plain, day = (
        _record(0x00E0, struct.pack("<HHHBBBBIIH", 0, form, 0x0001, 0x20, 0, 0, 0, 0, 0, 0x20C0)) for form in (0, 14)
    )
    head = _record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0x0DBB, 0x07CC, 0, 6)) + _record(0x0042, b"\xb0\x04")
    fonts = _record(0x0031, struct.pack("<HHHHHBBBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 0) + _xls_text("Arial", "B")) * 4
    formats = fonts + style * 15 + plain + day
    bodies, entries = [], []
    for sheet in sheets:
        cells = b"".join(_xls_cell(n, k, cell) for n, row in enumerate(sheet.rows) for k, cell in enumerate(row))
        bodies.append(
            _record(0x0809, struct.pack("<HHHHII", 0x0600, 16, 0x0DBB, 0x07CC, 0, 6)) + cells + _record(0x000A)
        )
        state = {"visible": 0, "hidden": 1, "veryHidden": 2}[sheet.state]
        entries.append((state, _xls_text(sheet.name, "B")))
    place = len(head + formats) + sum(4 + 6 + len(text) for _, text in entries) + 4
    listed = b""
    for (state, text), body in zip(entries, bodies, strict=True):
        listed += _record(0x0085, struct.pack("<IBB", place, state, 0) + text)
        place += len(body)
    return write_compound_file({"Workbook": head + formats + listed + _record(0x000A) + b"".join(bodies)})
