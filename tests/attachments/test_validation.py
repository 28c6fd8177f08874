"""What a file is, by its content."""

from __future__ import annotations

import contextlib
import io
import struct
import unicodedata
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pytest_django import Settings

from attachments.validation import (
    ImageInfo,
    RefusedUpload,
    TooLarge,
    UnreadableImage,
    inspect_image,
    inspect_upload,
    safe_mime_type,
    safe_name,
)

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


def picture(kind: str, size: tuple[int, int] = (40, 30)) -> bytes:
    """A picture that is not of one colour, so that it has some bytes."""
    file = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(file, kind)
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG of any claimed size in 60 bytes."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize(("kind", "mime_type"), FORMATS.items())
def test_type_and_size_come_from_the_content(kind: str, mime_type: str) -> None:
    assert inspect_image(picture(kind)) == ImageInfo(mime_type, 40, 30)


@pytest.mark.parametrize("kind", FORMATS)
def test_image_cut_anywhere_is_refused(kind: str) -> None:
    whole = picture(kind)
    for length in range(0, len(whole) - 1, max(1, len(whole) // 60)):
        with pytest.raises(UnreadableImage):
            inspect_image(whole[:length])


def test_jpeg_of_a_phone_with_bytes_after_its_end_is_accepted() -> None:
    assert inspect_image(picture("JPEG") + b"trailer" * 1000).width == 40


def test_jpeg_cut_after_an_embedded_preview_is_refused() -> None:
    whole = picture("JPEG")
    preview = b"Exif\0\0" + whole
    with_preview = whole[:2] + b"\xff\xe1" + struct.pack(">H", len(preview) + 2) + preview + whole[2:]
    assert inspect_image(with_preview).width == 40
    with pytest.raises(UnreadableImage):
        inspect_image(with_preview[: len(preview) + len(whole) - 200])


@pytest.mark.parametrize("size", [(30_000, 30_000), (10_000, 10_000), (50_001, 1_000), (2**31 - 1, 2**31 - 1)])
def test_pixel_bomb_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(UnreadableImage, match=r"too many pixels|broken"):
        inspect_image(png_header(*size))


def test_refused_image_is_named_with_the_limit() -> None:
    with pytest.raises(
        UnreadableImage, match=r"^“sky.png” has too many pixels, 9000 × 9000: an image may have 50 million"
    ):
        inspect_upload("sky.png", png_header(9000, 9000))
    with pytest.raises(UnreadableImage, match=r"^“strip.png” has 1 × 70000 pixels: each side may have 65535\.$"):
        inspect_upload("strip.png", png_header(1, 70_000))
    with pytest.raises(UnreadableImage, match=r"^“cut.png” is a PNG image that ends too early\.$"):
        inspect_upload("cut.png", picture("PNG")[:-20])


def test_frame_that_is_larger_than_its_gif_counts() -> None:
    whole = picture("GIF", (10, 10))
    at = whole.index(b"\x2c\0\0\0\0") + 5
    with pytest.raises(UnreadableImage, match="too many pixels"):
        inspect_image(whole[:at] + struct.pack("<HH", 12_000, 12_000) + whole[at + 4 :])


def test_image_of_no_pixels_is_refused() -> None:
    with pytest.raises(UnreadableImage):
        inspect_image(png_header(0, 10))


@given(st.binary(max_size=300), st.sampled_from(list(FORMATS)))
def test_broken_image_is_never_more_than_refused(noise: bytes, kind: str) -> None:
    start = picture(kind, (4, 4))[:40]
    with contextlib.suppress(UnreadableImage):
        assert inspect_image(start + noise).width > 0


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
    ],
)
def test_upload_is_what_its_content_is(name: str, data: bytes, mime_type: str) -> None:
    assert inspect_upload(name, data).mime_type == mime_type


def test_image_under_a_wrong_name_is_an_image() -> None:
    info = inspect_upload("table.csv", picture("PNG"))
    assert (info.mime_type, info.width, info.height) == ("image/png", 40, 30)


def test_unknown_binary_is_refused_with_what_is_allowed() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.csv", "a,b")
    hostile = [
        archive.getvalue(),
        zlib.compress(bytes(1000)),
        b"\x7fELF\x02\x01",
        b"text\0text",
        "a,b".encode("utf-16"),
    ]
    for data in hostile:
        with pytest.raises(RefusedUpload, match=r"“data.csv” cannot be attached: allowed are PNG, .*CSV"):
            inspect_upload("data.csv", data)


def test_empty_and_large_files_are_refused_by_name_and_limit(settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 3 * 1024 * 1024
    with pytest.raises(RefusedUpload, match="empty"):
        inspect_upload("a.csv", b"")
    with pytest.raises(TooLarge, match=r"“a.csv” is too large: a file may have 3 MB\."):
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
    ("said", "kept"),
    [
        ("image/png", "image/png"),
        ("Text/HTML; charset=utf-8", "text/html"),
        ("text/html\r\nX: y", "application/octet-stream"),
        ("a/" + "b" * 200, "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_what_is_no_type_becomes_octet_stream(said: str, kept: str) -> None:
    assert safe_mime_type(said) == kept


def jpeg_head(filling: bytes) -> bytes:
    """A real JPEG with this before its scan."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG")
    data = buffer.getvalue()
    scan = data.index(b"\xff\xda")
    return data[:scan] + filling + data[scan:]


@pytest.mark.parametrize(
    "data",
    [
        jpeg_head(b"\xff" * 2_000_000),
        jpeg_head(b"\xff\xfe\x00\x02" * 500_000),
        b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\x00teXt\x00\x00\x00\x00" * 100_000,
        b"GIF89a\x08\x00\x08\x00\x00\x00\x00" + b"!\xfe\x01a\x00" * 400_000 + b";",
    ],
    ids=["jpeg fill", "jpeg segments", "png chunks", "gif comments"],
)
def test_image_that_is_nothing_but_pieces_is_refused_before_any_parser_walks_it(data: bytes) -> None:
    with pytest.raises(UnreadableImage, match="in too many pieces"):
        inspect_image(data)


def test_image_with_some_fill_and_segments_is_taken() -> None:
    assert inspect_image(jpeg_head(b"\xff" * 8 + b"\xff\xfe\x00\x02" * 50)).width == 8
