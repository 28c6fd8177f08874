"""The type of an upload is determined from its content, and unsafe files and names are refused or sanitized."""

from __future__ import annotations

import contextlib
import gzip
import io
import struct
import unicodedata
import zlib
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pytest_django import Settings

from attachments.code_files import as_code_reads, name_in_code
from attachments.validation import (
    EXCEL,
    PARQUET,
    ImageInfo,
    RefusedUpload,
    UnreadableImage,
    UploadTooLarge,
    inspect_file_of_code,
    inspect_image,
    inspect_upload,
    safe_mime_type,
    safe_name,
)
from tests.table_files import excel_file, opendocument_file, rename_parts, zip_file

# Without the time, so that all processes that run tests give them the same names.
pack = partial(gzip.compress, mtime=0)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


def encode_image(kind: str, size: tuple[int, int] = (40, 30)) -> bytes:
    """Return an image file with a gradient, which has more bytes than an image of one colour."""
    file = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(file, kind)
    return file.getvalue()


def build_png_header(width: int, height: int) -> bytes:
    """Return a PNG of 60 bytes whose header claims the size."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize(("kind", "mime_type"), FORMATS.items())
def test_mime_type_and_pixel_size_of_an_image_are_read_from_its_content(kind: str, mime_type: str) -> None:
    assert inspect_image(encode_image(kind)) == ImageInfo(mime_type, 40, 30)


@pytest.mark.parametrize(("dpi", "scale"), [(72, 1), (150, 1), (200, 2), (600, 2), (0, 1)])
def test_image_with_a_high_dpi_has_the_display_scale_2(dpi: int, scale: int) -> None:
    file = io.BytesIO()
    Image.linear_gradient("L").save(file, "PNG", dpi=(dpi, dpi))
    assert inspect_image(file.getvalue()).scale == scale


@pytest.mark.parametrize("kind", FORMATS)
def test_image_truncated_at_any_byte_is_refused(kind: str) -> None:
    whole = encode_image(kind)
    for length in range(0, len(whole) - 1, max(1, len(whole) // 60)):
        with pytest.raises(UnreadableImage):
            inspect_image(whole[:length])


def test_jpeg_with_data_after_its_end_marker_is_accepted() -> None:
    assert inspect_image(encode_image("JPEG") + b"trailer" * 1000).width == 40


def test_jpeg_truncated_after_its_embedded_preview_is_refused() -> None:
    whole = encode_image("JPEG")
    preview = b"Exif\0\0" + whole
    with_preview = whole[:2] + b"\xff\xe1" + struct.pack(">H", len(preview) + 2) + preview + whole[2:]
    assert inspect_image(with_preview).width == 40
    with pytest.raises(UnreadableImage):
        inspect_image(with_preview[: len(preview) + len(whole) - 200])


@pytest.mark.parametrize("size", [(30_000, 30_000), (10_000, 10_000), (50_001, 1_000), (2**31 - 1, 2**31 - 1)])
def test_image_with_too_many_pixels_is_refused_without_decoding(size: tuple[int, int]) -> None:
    with pytest.raises(UnreadableImage, match=r"too many pixels|broken"):
        inspect_image(build_png_header(*size))


def test_refusal_of_an_image_names_the_file_and_the_limit() -> None:
    with pytest.raises(
        UnreadableImage, match=r"^“sky.png” has too many pixels, 9000 × 9000: an image may have 50 million"
    ):
        inspect_upload("sky.png", build_png_header(9000, 9000))
    with pytest.raises(UnreadableImage, match=r"^“strip.png” has 1 × 70000 pixels: each side may have 65535\.$"):
        inspect_upload("strip.png", build_png_header(1, 70_000))
    with pytest.raises(UnreadableImage, match=r"^“cut.png” is a PNG image that ends too early\.$"):
        inspect_upload("cut.png", encode_image("PNG")[:-20])


def test_gif_with_a_frame_of_too_many_pixels_is_refused_even_if_its_screen_is_small() -> None:
    whole = encode_image("GIF", (10, 10))
    offset = whole.index(b"\x2c\0\0\0\0") + 5
    with pytest.raises(UnreadableImage, match="too many pixels"):
        inspect_image(whole[:offset] + struct.pack("<HH", 12_000, 12_000) + whole[offset + 4 :])


def test_image_with_a_width_of_0_pixels_is_refused() -> None:
    with pytest.raises(UnreadableImage):
        inspect_image(build_png_header(0, 10))


@given(st.binary(max_size=300), st.sampled_from(list(FORMATS)))
def test_broken_image_raises_no_other_error_than_unreadable_image(random_bytes: bytes, kind: str) -> None:
    start = encode_image(kind, (4, 4))[:40]
    with contextlib.suppress(UnreadableImage):
        assert inspect_image(start + random_bytes).width > 0


@pytest.mark.parametrize(
    ("name", "data", "mime_type"),
    [
        ("a.csv", b"a,b\n1,2\n", "text/csv"),
        ("A.CSV", "größe;1\n".encode(), "text/csv"),
        ("a.json", b'{"a": 1}', "application/json"),
        ("a.py", b"print(1)\n", "text/plain"),
        ("notes", "größe".encode("latin-1"), "text/plain"),
        ("bom.txt", b"\xef\xbb\xbfhello", "text/plain"),
        ("a.pdf", b"%PDF-1.7\n\0\x01", "application/pdf"),
        ("a.svg", b"<svg onload=alert(1)></svg>", "text/plain"),
        ("a.html", b"<script>alert(1)</script>", "text/plain"),
        ("a.png", b"<html><script>alert(1)</script>", "text/plain"),
        ("page.csv", b"<html><script>alert(1)</script>", "text/csv"),
        ("excel.csv", "größe;1\n".encode("utf-16"), "text/csv"),
        ("no-mark.csv", "größe;1\n2;3\n".encode("utf-16-le"), "text/csv"),
        ("dos.csv", b"item,qty\r\nbolt,40\r\n\x1a", "text/csv"),
        ("filled.csv", b"item,qty\r\nbolt,40\r\n" + bytes(4096), "text/csv"),
        ("copied.csv", b"item,qty\nbo\0lt,40\n", "text/csv"),
        ("a.xlsx", excel_file({"A": [["a"], [1]]}), EXCEL),
        ("renamed.csv", excel_file({"A": [["a"], [1]]}), EXCEL),
        ("a.xlsx", rename_parts(excel_file({"A": [["a"], [1]]}), lambda name: name.replace("/", "\\")), EXCEL),
        ("a.xls", OLE + "Workbook\0".encode("utf-16-le"), "application/vnd.ms-excel"),
        ("a.ods", opendocument_file(""), "application/vnd.oasis.opendocument.spreadsheet"),
        ("a.dta", b"<stata_dta><header>", "application/x-stata-dta"),
        ("a.dta", b"\x72\x02\x01\0", "application/x-stata-dta"),
        ("a.feather", b"ARROW1\0\0\xff", "application/vnd.apache.arrow.file"),
        ("a.parquet", b"PAR1\0\x15\x04PAR1", PARQUET),
        ("text.xlsx", b"hello", "text/plain"),
        ("no-name.zip", zip_file({"~": b"a,b"}).replace(b"~", b"\0"), "text/plain"),
    ],
)
def test_mime_type_of_an_upload_is_determined_by_its_content(name: str, data: bytes, mime_type: str) -> None:
    assert inspect_upload(name, data).mime_type == mime_type


def test_image_with_a_wrong_file_extension_is_recognized_as_an_image() -> None:
    info = inspect_upload("table.csv", encode_image("PNG"))
    assert (info.mime_type, info.width, info.height) == ("image/png", 40, 30)


def test_unknown_binary_is_refused_with_a_list_of_allowed_types() -> None:
    binaries = [
        zlib.compress(bytes(1000)),
        b"\x7fELF\x02\x01",
        b"text\0text",
        "a,\0b".encode("utf-16"),
        b"\xff\xfe\x00\xd8",
        b"PAR1\0\x15\x04",
    ]
    for data in binaries:
        with pytest.raises(RefusedUpload, match=r"“data.bin” cannot be attached: allowed are PNG, .*CSV"):
            inspect_upload("data.bin", data)


def test_refusal_of_a_csv_file_with_binary_data_gives_the_position_of_the_first_bad_byte() -> None:
    data = b"item,qty\n" * 100 + b"\1\2\3\4"
    with pytest.raises(
        RefusedUpload, match=r"“data.csv” cannot be attached: byte 1 at 900: this is not text. Save it as"
    ):
        inspect_upload("data.csv", data)


@pytest.mark.parametrize(
    ("name", "data", "explanation"),
    [
        ("a.numbers", zip_file({"Index/Document.iwa": b"x"}), "it is a file of Apple Numbers. In Numbers, choose"),
        ("a.docx", zip_file({"word/document.xml": b"x"}), "it is a document of Word. Save it as PDF"),
        ("a.doc", OLE + "WordDocument\0".encode("utf-16-le"), "it is a document of Word."),
        ("a.xlsx", OLE + "EncryptedPackage".encode("utf-16-le"), "it is protected by a password. Save it without"),
        ("a.ods", zip_file({"mimetype": b"x", "encrypted-package": b"x"}), "it is protected by a password."),
        ("a.gsheet", b'{"url": "https://docs.google.com/open?id=1"}', "it is only a link. In Google Sheets, choose"),
        ("a.dbf", b"\3\x18\5\1", "it is a file of dBase."),
        ("a.feather", b"FEA1\0\0", "it is a Feather file of version 1. Save it as Parquet"),
        ("a.sav", b"$FL2@(#) SPSS\0\0", "it is a file of SPSS. Export the table"),
        ("a.rds", pack(b"X\n\0\0\0\3\0"), "it is a file of R. In R, write the table with write.csv()"),
        ("a.RData", b"RDX3\nX\n\0\0", "it is a file of R."),
        ("a.db", b"SQLite format 3\0\x10", "it is a file of SQLite."),
        ("a.mdb", b"\0\1\0\0Standard Jet DB\0", "it is a file of Microsoft Access."),
        ("a.sas7bdat", bytes(12) + b"\xc2\xea\x81\x60", "it is a file of SAS."),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0", "it is an archive (.7z). Unpack it"),
        ("a.zip", zip_file({"a.csv": b"1", "b.csv": b"2"}), "it is an archive of 2 tables: “a.csv”, “b.csv”. Unpack"),
        ("a.zip", zip_file({"a.xlsx": b"1"}), "it is an archive with “a.xlsx”. Unpack it, and attach that file."),
        ("a.zip", zip_file({}), "it is an empty archive."),
        ("a.csv.gz", pack(b"a,b\n1,2\n")[:-9], "it is packed with gzip, and its end is missing."),
        ("a", b"\x1f\x8b\x08", "it is packed with gzip, and its end is missing."),
        ("a.csv.gz", pack(b"a,b\n1\1\1\1,2\n"), "byte 1 at 5: this is not text."),
        ("a.csv.gz", pack(bytes(2**24)), "it unpacks to more than 15 MB."),
        ("a.zip", zip_file({"a.csv": bytes(2**24)}), "it unpacks to more than 15 MB."),
    ],
)
def test_refusal_says_of_what_kind_the_file_is_or_what_is_wrong_with_it(
    name: str, data: bytes, explanation: str
) -> None:
    with pytest.raises(RefusedUpload) as caught:
        inspect_upload(name, data)
    assert str(caught.value).startswith(f"“{name}” cannot be attached: {explanation}")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("name", "data", "label"),
    [
        ("sales.csv.gz", pack(b"a,b\n") + pack(b"1,2\n"), "sales.csv.gz"),
        ("sales.csv", pack(b"a,b\n1,2\n"), "sales.csv.gz"),
        (
            "export.zip",
            zip_file({"x/sales.csv": b"a,b\n1,2\n", "readme.md": b"x", "__MACOSX/x/._sales.csv": b"\0"}),
            "sales.csv.zip",
        ),
    ],
)
def test_gzip_or_zip_with_one_csv_file_is_accepted_and_code_reads_the_unpacked_csv(
    name: str, data: bytes, label: str
) -> None:
    info = inspect_upload(name, data)
    assert (info.name, info.mime_type) == (label, "text/csv")
    assert name_in_code(info.name, info.mime_type) == "sales.csv"
    assert as_code_reads(info.name, data) == b"a,b\n1,2\n"
    assert inspect_file_of_code(name, data).mime_type == "application/octet-stream"
    assert name_in_code(name, "application/octet-stream") == name


@pytest.mark.parametrize(
    ("name", "data", "mime_type"),
    [
        ("model.pkl", b"\x80\x04\x95\x00", "application/octet-stream"),
        ("broken.png", b"\x89PNG\r\n\x1a\n", "application/octet-stream"),
        ("out.csv", b"a,b\n", "text/csv"),
        ("page.html", b"<script>", "text/plain"),
    ],
)
def test_file_that_code_wrote_may_have_any_type(name: str, data: bytes, mime_type: str) -> None:
    info = inspect_file_of_code(name, data)
    assert (info.name, info.mime_type, info.width) == (name, mime_type, None)


def test_file_that_code_wrote_is_refused_if_it_is_empty_or_too_large(settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 3
    with pytest.raises(RefusedUpload, match="is empty"):
        inspect_file_of_code("a.bin", b"")
    with pytest.raises(UploadTooLarge):
        inspect_file_of_code("a.bin", b"\0" * 4)


def test_refusal_of_a_too_large_file_has_the_file_name_and_the_limit(settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 3 * 1024 * 1024
    with pytest.raises(RefusedUpload, match="empty"):
        inspect_upload("a.csv", b"")
    with pytest.raises(UploadTooLarge, match=r"“a.csv” is too large: a file may have 3 MB\."):
        inspect_upload("a.csv", b"a" * (3 * 1024 * 1024 + 1))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\plot.png", "plot.png"),
        ("a\0b\r\nSet-Cookie: x.png", "abSet-Cookie: x.png"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("zero\u200bwidth\ufeff.csv", "zerowidth.csv"),
        ("  spaced \t name .csv ", "spaced name .csv"),
        ("größe.png", "größe.png"),
        ("..", "file"),
        ("", "file"),
        ("/", "file"),
        ("\ud800", "file"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("com1.tar.gz", "_com1.tar.gz"),
        ("console.txt", "console.txt"),
    ],
)
def test_file_name_is_reduced_to_a_safe_name_without_a_path(name: str, label: str) -> None:
    assert safe_name(name, "file") == label


def test_long_name_keeps_its_extension() -> None:
    label = safe_name("a" * 5000 + ".csv", "file")
    assert len(label) == 120
    assert label.endswith(".csv")
    label = safe_name("\U0001f600" * 500 + ".csv", "file")
    assert len(label.encode()) <= 240
    assert label.endswith("\U0001f600.csv")


@given(st.text())
def test_any_file_name_becomes_one_printable_line_without_a_path(name: str) -> None:
    label = safe_name(name, "file")
    assert 0 < len(label) <= 120
    assert len(label.encode()) <= 240
    assert not set("/\\\0\r\n") & set(label)
    assert not any(unicodedata.category(c)[0] == "C" for c in label)
    assert safe_name(label, "file") == label


@pytest.mark.parametrize(
    ("mime_type", "expected"),
    [
        ("image/png", "image/png"),
        ("Text/HTML; charset=utf-8", "text/html"),
        ("text/html\r\nX: y", "application/octet-stream"),
        ("a/" + "b" * 200, "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_invalid_mime_type_becomes_octet_stream(mime_type: str, expected: str) -> None:
    assert safe_mime_type(mime_type) == expected


def build_jpeg_with_segments(segments: bytes) -> bytes:
    """Return a valid JPEG with these bytes before its scan."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG")
    data = buffer.getvalue()
    scan = data.index(b"\xff\xda")
    return data[:scan] + segments + data[scan:]


@pytest.mark.parametrize(
    "data",
    [
        build_jpeg_with_segments(b"\xff" * 2_000_000),
        build_jpeg_with_segments(b"\xff\xfe\x00\x02" * 500_000),
        b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\x00teXt\x00\x00\x00\x00" * 100_000,
        b"GIF89a\x08\x00\x08\x00\x00\x00\x00" + b"!\xfe\x01a\x00" * 400_000 + b";",
    ],
    ids=["jpeg fill", "jpeg segments", "png chunks", "gif comments"],
)
def test_image_with_too_many_segments_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableImage, match="in too many pieces"):
        inspect_image(data)


def test_image_with_some_fill_bytes_and_segments_is_accepted() -> None:
    assert inspect_image(build_jpeg_with_segments(b"\xff" * 8 + b"\xff\xfe\x00\x02" * 50)).width == 8
