"""Images that code printed as data URIs."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering.data_uris import IMAGES_LIMIT, Extraction, extract_images, restore

BEGINNINGS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBP",
}
PNG = BEGINNINGS["image/png"] + bytes(range(200))


def payload(data: bytes, line_chars: int = 0) -> str:
    text = base64.b64encode(data).decode()
    return "\n".join(text[at : at + line_chars] for at in range(0, len(text), line_chars)) if line_chars else text


def uri(data: bytes = PNG, mime_type: str = "image/png", line_chars: int = 0) -> str:
    return f"data:{mime_type};base64,{payload(data, line_chars)}"


images = st.builds(
    lambda mime_type, rest, line_chars: uri(BEGINNINGS[mime_type] + rest, mime_type, line_chars),
    st.sampled_from(sorted(BEGINNINGS)),
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
def test_output_is_restored_exactly(output: str) -> None:
    extraction = extract_images(output)
    assert restore(extraction.text, extraction.images) == output
    assert sum(len(image.data) for image in extraction.images) <= len(output)


@pytest.mark.parametrize("mime_type", sorted(BEGINNINGS))
def test_image_is_cut_out_and_named_by_its_bytes(mime_type: str) -> None:
    data = BEGINNINGS[mime_type] + b"rest"
    extraction = extract_images(f"before {uri(data, 'image/png')} after {uri(data, 'image/PJPEG')}")
    assert extraction.text == "before  after "
    assert [(image.offset, image.mime_type, image.data) for image in extraction.images] == [
        (7, mime_type, data),
        (14, mime_type, data),
    ]
    assert [image.header for image in extraction.images] == ["data:image/png;base64,", "data:image/PJPEG;base64,"]


@pytest.mark.parametrize("line_chars", [64, 76])
@pytest.mark.parametrize("after", ["", "\n", "\ndone\n", '"/>'])
def test_wrapped_base64_is_an_image_too(line_chars: int, after: str) -> None:
    output = f"see\n{uri(PNG, line_chars=line_chars)}{after}"
    extraction = extract_images(output)
    assert extraction.text == f"see\n{after}"
    assert extraction.images[0].data == PNG
    assert restore(extraction.text, extraction.images) == output


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
        f"data:image/png,{payload(PNG)}",
        "data:image/png;base64,",
    ],
)
def test_what_is_no_image_or_would_not_come_back_exactly_stays_text(output: str) -> None:
    assert extract_images(output) == Extraction(output, ())


def test_only_the_first_images_are_taken() -> None:
    output = f"{uri()}\n" * (IMAGES_LIMIT + 5)
    extraction = extract_images(output)
    assert len(extraction.images) == IMAGES_LIMIT
    assert extraction.text.count("base64") == 5
    assert restore(extraction.text, extraction.images) == output


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
def test_hostile_output_comes_back_whole(output: str) -> None:
    extraction = extract_images(output)
    assert restore(extraction.text, extraction.images) == output
