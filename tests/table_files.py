"""Writes small table files for tests: Excel workbooks, and Parquet files through the packages of kernels."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
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


def excel_file(sheets: Mapping[str, Sequence[Sequence[Cell]]], *, padding_bytes: int = 0) -> bytes:
    """Return a workbook with these sheets. `padding_bytes`: size of a further part, which packs to almost nothing."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        relation = f'<Relationship Id="r1" Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", _RELATIONS.format(relation))
        names = [f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)]
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
            content = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml", f"<worksheet {_MAIN}><sheetData>{content}</sheetData></worksheet>"
            )
        if padding_bytes:
            with archive.open("xl/padding.bin", "w") as part:
                for _ in range(padding_bytes // 2**20):
                    part.write(bytes(2**20))
    return file.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, date):
        return f'<c s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
    return f"<c><v>{value}</v></c>"
