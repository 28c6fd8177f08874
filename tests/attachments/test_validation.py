"""The type of an upload is determined from its content, and unsafe files and names are refused or sanitized."""

from __future__ import annotations

import contextlib
import io
import struct
import unicodedata
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pytest_django import Settings

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
from tests.table_files import excel_file

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
def test_type_and_size_come_from_the_content(kind: str, mime_type: str) -> None:
    assert inspect_image(encode_image(kind)) == ImageInfo(mime_type, 40, 30)


@pytest.mark.parametrize(("dpi", "scale"), [(72, 1), (150, 1), (200, 2), (600, 2), (0, 1)])
def test_dense_image_has_two_pixels_for_one_of_the_page(dpi: int, scale: int) -> None:
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


def test_gif_frame_larger_than_its_screen_counts_for_the_pixel_limit() -> None:
    whole = encode_image("GIF", (10, 10))
    offset = whole.index(b"\x2c\0\0\0\0") + 5
    with pytest.raises(UnreadableImage, match="too many pixels"):
        inspect_image(whole[:offset] + struct.pack("<HH", 12_000, 12_000) + whole[offset + 4 :])


def test_image_without_pixels_is_refused() -> None:
    with pytest.raises(UnreadableImage):
        inspect_image(build_png_header(0, 10))


@given(st.binary(max_size=300), st.sampled_from(list(FORMATS)))
def test_broken_image_raises_only_unreadable_image(random_bytes: bytes, kind: str) -> None:
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
        ("a.parquet", b"PAR1\0\x15\x04PAR1", PARQUET),
        ("text.xlsx", b"hello", "text/plain"),
    ],
)
def test_type_of_an_upload_comes_from_its_content(name: str, data: bytes, mime_type: str) -> None:
    assert inspect_upload(name, data).mime_type == mime_type


def test_image_with_a_wrong_extension_is_an_image() -> None:
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


def test_refusal_of_a_file_with_the_name_of_text_says_which_byte_is_not_text() -> None:
    data = b"item,qty\n" * 100 + b"\1\2\3\4"
    with pytest.raises(
        RefusedUpload, match=r"“data.csv” cannot be attached: byte 1 at 900: this is not text. Save it as"
    ):
        inspect_upload("data.csv", data)


@pytest.mark.parametrize(
    ("name", "data", "mime_type"),
    [
        ("model.pkl", b"\x80\x04\x95\x00", "application/octet-stream"),
        ("broken.png", b"\x89PNG\r\n\x1a\n", "application/octet-stream"),
        ("out.csv", b"a,b\n", "text/csv"),
        ("page.html", b"<script>", "text/plain"),
    ],
)
def test_file_of_code_may_have_every_type(name: str, data: bytes, mime_type: str) -> None:
    info = inspect_file_of_code(name, data)
    assert (info.name, info.mime_type, info.width) == (name, mime_type, None)


def test_file_of_code_that_is_empty_or_large_is_refused(settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 3
    with pytest.raises(RefusedUpload, match="is empty"):
        inspect_file_of_code("a.bin", b"")
    with pytest.raises(UploadTooLarge):
        inspect_file_of_code("a.bin", b"\0" * 4)


def test_refusal_of_an_empty_or_large_file_names_it_and_the_limit(settings: Settings) -> None:
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
def test_name_is_reduced_to_a_label(name: str, label: str) -> None:
    assert safe_name(name, "file") == label


def test_long_name_keeps_its_extension() -> None:
    label = safe_name("a" * 5000 + ".csv", "file")
    assert len(label) == 120
    assert label.endswith(".csv")
    label = safe_name("\U0001f600" * 500 + ".csv", "file")
    assert len(label.encode()) <= 240
    assert label.endswith("\U0001f600.csv")


@given(st.text())
def test_any_name_becomes_one_printable_line(name: str) -> None:
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
