"""Writes small table files for tests: Excel workbooks, and Parquet files through the packages of kernels."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from string import ascii_uppercase
from xml.sax.saxutils import escape

#: A program for a kernel that writes `table.parquet`.
WRITE_PARQUET = """
import datetime, pyarrow, pyarrow.parquet
days = [datetime.date(2024, 1, day) for day in range(1, 11)]
pyarrow.parquet.write_table(
    pyarrow.table({"day": days, "amount": [1.5, None, *range(8)], "tags": [["a"]] * 10}), "table.parquet"
)
"""

Cell = str | int | float | bool | date | None
"""Value of a cell. Text that begins with `=` is a formula without a stored value, and with `#` an error."""
_PREFIXES = ("office", "table", "text", "manifest")

_TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"""
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
#: Style 1 is the format of dates.
_STYLES = f'<styleSheet {_MAIN}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'


def excel_file(
    sheets: Mapping[str, Sequence[Sequence[Cell]]],
    *,
    padding_bytes: int = 0,
    states: Mapping[str, str] | None = None,
    merged: Sequence[str] = (),
    far_cell: str = "",
) -> bytes:
    """Return a workbook with these sheets.

    `padding_bytes`: size of a further part, which compresses well. `states`: `hidden` or `veryHidden` by the
    name of a sheet. `merged`: merged areas of each sheet, such as `A1:B2`. `far_cell`: address of one more number.
    """
    states = states or {}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        relation = f'<Relationship Id="r1" Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", _RELATIONS.format(relation))
        names = [
            f'<sheet name="{escape(name)}" sheetId="{n}" state="{states.get(name, "visible")}" r:id="r{n}"/>'
            for n, name in enumerate(sheets, 1)
        ]
        workbook = f'<workbook {_MAIN} xmlns:r="{_RELATION}"><sheets>{"".join(names)}</sheets></workbook>'
        archive.writestr("xl/workbook.xml", workbook)
        relations = [
            f'<Relationship Id="r{n}" Type="{_RELATION}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        ]
        relations.append(f'<Relationship Id="r0" Type="{_RELATION}/styles" Target="styles.xml"/>')
        archive.writestr("xl/_rels/workbook.xml.rels", _RELATIONS.format("".join(relations)))
        archive.writestr("xl/styles.xml", _STYLES)
        for n, rows in enumerate(sheets.values(), 1):
            content = "".join(f'<row r="{y}">{_row(y, row)}</row>' for y, row in enumerate(rows, 1))
            if far_cell:
                content += f'<row r="{far_cell.strip(ascii_uppercase)}"><c r="{far_cell}"><v>1</v></c></row>'
            areas = "".join(f'<mergeCell ref="{area}"/>' for area in merged)
            more = f"<mergeCells>{areas}</mergeCells>" if areas else ""
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml", f"<worksheet {_MAIN}><sheetData>{content}</sheetData>{more}</worksheet>"
            )
        if padding_bytes:
            with archive.open("xl/padding.bin", "w") as part:
                for _ in range(padding_bytes // 2**20):
                    part.write(bytes(2**20))
    return file.getvalue()


def rename_parts(data: bytes, rename: Callable[[str], str]) -> bytes:
    """Return a workbook with renamed parts. Parts that mention `xl/workbook.xml` get its new name."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry).replace(b"xl/workbook.xml", rename("xl/workbook.xml").encode())
            new.writestr(rename(entry.filename), content)
    return file.getvalue()


def zip_file(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of files by their names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def opendocument_file(rows: str) -> bytes:
    """Return a spreadsheet of OpenDocument with one sheet, `S`. `rows`: its rows in XML."""
    names = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in _PREFIXES)
    sheet = f'<table:table table:name="S">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    mime_type = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mime_type}"/>'
    return zip_file(
        {
            "mimetype": mime_type.encode(),
            "content.xml": f"<office:document-content{names}>{body}</office:document-content>".encode(),
            "META-INF/manifest.xml": f"<manifest:manifest{names}>{manifest}</manifest:manifest>".encode(),
        }
    )


def _row(number: int, row: Sequence[Cell]) -> str:
    return "".join(_cell(f' r="{chr(65 + n)}{number}"', value) for n, value in enumerate(row))


def _cell(place: str, value: Cell) -> str:
    if value is None:
        return f"<c{place}/>"
    if isinstance(value, str) and value.startswith("="):
        return f"<c{place}><f>{escape(value[1:])}</f><v></v></c>"
    if isinstance(value, str) and value.startswith("#"):
        return f'<c{place} t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c{place} t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c{place} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, date):
        return f'<c{place} s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
    return f"<c{place}><v>{value}</v></c>"
