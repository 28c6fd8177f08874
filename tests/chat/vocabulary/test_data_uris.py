"""Extraction of images that code printed as data URIs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.vocabulary.data_uris import (
    IMAGES_LIMIT,
    SHORT_URI_CHARS,
    Extraction,
    extract_images,
    without_data_uris,
)
from tests.printed_images import as_base64, restore_images

SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBP",
}
PNG = SIGNATURES["image/png"] + bytes(range(200))


def uri(data: bytes = PNG, mime_type: str = "image/png", line_chars: int = 0) -> str:
    return f"data:{mime_type};base64,{as_base64(data, line_chars)}"


images = st.builds(
    lambda mime_type, body, line_chars: uri(SIGNATURES[mime_type] + body, mime_type, line_chars),
    st.sampled_from(sorted(SIGNATURES)),
    st.binary(max_size=150),
    st.sampled_from([0, 0, 64, 76, 60]),
)
pieces = st.one_of(
    images,
    images.map(lambda text: text[:-3]),
    st.text(max_size=10),
    st.sampled_from(
        ["data:", "data:image/png;base64,", "iVBORw0KGgo", "=", "\n", "A" * 76, "/9j/", ";base64,", "abcd"]
    ),
)


@settings(max_examples=500)
@given(st.lists(pieces, max_size=8).map("".join))
def test_output_is_equal_after_images_are_extracted_and_restored(output: str) -> None:
    extraction = extract_images(output)
    assert restore_images(extraction.text, extraction.images) == output
    assert sum(len(image.data) for image in extraction.images) <= len(output)


@pytest.mark.parametrize("mime_type", sorted(SIGNATURES))
def test_image_is_extracted_with_the_mime_type_of_its_bytes(mime_type: str) -> None:
    data = SIGNATURES[mime_type] + b"body"
    extraction = extract_images(f"before {uri(data, 'image/png')} after {uri(data, 'image/PJPEG')}")
    assert extraction.text == "before  after "
    assert [(image.offset, image.mime_type, image.data) for image in extraction.images] == [
        (7, mime_type, data),
        (14, mime_type, data),
    ]
    assert [image.header for image in extraction.images] == ["data:image/png;base64,", "data:image/PJPEG;base64,"]


@pytest.mark.parametrize("line_chars", [64, 76])
@pytest.mark.parametrize("after", ["", "\n", "\ndone\n", '"/>'])
def test_image_in_line_wrapped_base64_is_extracted(line_chars: int, after: str) -> None:
    output = f"see\n{uri(PNG, line_chars=line_chars)}{after}"
    extraction = extract_images(output)
    assert extraction.text == f"see\n{after}"
    assert extraction.images[0].data == PNG
    assert restore_images(extraction.text, extraction.images) == output


@pytest.mark.parametrize(
    "output",
    [
        uri(b"<svg onload=alert(1)>" * 3, "image/svg+xml"),
        uri(PNG, "image/svg+xml"),
        uri(PNG, "text/html"),
        uri(b"<html>" * 20, "image/png"),
        uri(PNG)[:-1],
        uri(PNG + b"x").removesuffix("="),
        "data:image/png;base64,iVBORw0KGgp=",
        f"data:image/png,{as_base64(PNG)}",
        "data:image/png;base64,",
    ],
)
def test_data_uri_stays_in_the_text_if_it_is_no_image_or_could_not_be_restored_exactly(output: str) -> None:
    assert extract_images(output) == Extraction(output, ())


def test_data_uris_above_the_limit_of_images_stay_in_the_text() -> None:
    output = f"{uri()}\n" * (IMAGES_LIMIT + 5)
    extraction = extract_images(output)
    assert len(extraction.images) == IMAGES_LIMIT
    assert extraction.text.count("base64") == 5
    assert restore_images(extraction.text, extraction.images) == output


@pytest.mark.parametrize(
    "output",
    [
        "data:image/png;base64," * 100_000,
        "data:image/" * 200_000,
        "data:image/png" + ";a=b" * 500_000,
        "data:image/png;base64,iVBORw0KGgo" * 60_000,
        "data:image/png;base64,iVBORw0KGgo" + "A" * 2_000_000 + "!",
        "data:image/png;base64,iVBORw0KGgo" + ("A" * 65 + "\n" + "A" * 11 + "\n") * 20_000,
    ],
)
def test_hostile_output_is_equal_after_images_are_extracted_and_restored(output: str) -> None:
    extraction = extract_images(output)
    assert restore_images(extraction.text, extraction.images) == output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a;base64,b", "a;base64,b"),
        (f"a {uri()} b", f"a [image/png, {len(as_base64(PNG))} characters of base64] b"),
        (f"({uri(PNG, 'application/pdf')})", f"([application/pdf, {len(as_base64(PNG))} characters of base64])"),
        (uri(PNG[:60]), uri(PNG[:60])),
        (
            f"{uri(PNG, 'image/svg+xml;charset=utf-8')}\nend",
            f"[image/svg+xml, {len(as_base64(PNG))} characters of base64]\nend",
        ),
        (f"data:;base64,{'A' * SHORT_URI_CHARS}", f"[data, {SHORT_URI_CHARS} characters of base64]"),
    ],
)
def test_long_data_uri_is_replaced_by_its_type_and_length_in_words(text: str, expected: str) -> None:
    assert without_data_uris(text) == expected


@pytest.mark.parametrize("line_chars", [60, 64, 76])
def test_line_wrapped_data_uri_is_replaced_by_its_type_and_length_in_words(line_chars: int) -> None:
    words = without_data_uris(f"a {uri(PNG, 'image/tiff', line_chars)}")
    assert words.startswith("a [image/tiff, ")
    assert len(words) < 2 * line_chars
