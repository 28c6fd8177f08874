"""Data that are no picture are described, and number and size of pictures are limited."""

from __future__ import annotations

import base64
import zlib

import pytest

from chat.providers.openai_compatible import pictures as pictures_module
from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.chunks import TextDelta
from chat.providers.openai_compatible.pictures import Pictures, decode
from chat.providers.openai_compatible.text_pictures import EmbeddedFile
from chat.vocabulary.parts import InlineData, Part, Text
from chat.vocabulary.stream_events import PartReceived
from tests.attachments.conftest import png

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

HEADER = b"IHDR" + (30_000).to_bytes(4, "big") * 2 + png(1)[24:29]
TOO_LARGE = png(1)[:12] + HEADER + zlib.crc32(HEADER).to_bytes(4, "big") + png(1)[33:]
"""A PNG whose header gives 30,000 pixels for each side."""


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def file(data: bytes, mime_type: str = "image/png", label: str = "", source: str = "") -> EmbeddedFile:
    payload = encoded(data)
    return EmbeddedFile(mime_type, payload, len(payload), label, source)


def part_of(one: EmbeddedFile) -> Part:
    [part] = Pictures().parts_of_file(one)
    return part


def test_mime_type_of_an_image_comes_from_its_bytes_and_its_name_from_the_description() -> None:
    assert part_of(file(png(1), "image/webp", "A / red\nfox")) == InlineData("image/png", "A - red fox.png", png(1))
    assert part_of(file(png(1), "", "Image")) == InlineData("image/png", "", png(1))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (file(b"\x89PNG\r\n\x1a\nbroken"), "(An image that cannot be shown: image/png, 14 bytes)"),
        (file(png(1)[:-20]), f"(An image that cannot be shown: image/png, {len(png(1)) - 20} bytes)"),
        (file(TOO_LARGE), f"(An image that cannot be shown: image/png, {len(TOO_LARGE)} bytes)"),
        (file(b"%PDF-1.7", "application/pdf"), "(A file that cannot be shown: application/pdf, 8 bytes)"),
        (EmbeddedFile("image/png", "not=base64", 10), "(An image that cannot be shown: image/png, 7 bytes)"),
        (file(b"short", source="data:image/png;base64,c2hvcnQ="), "data:image/png;base64,c2hvcnQ="),
        (file(SVG, "image/svg+xml"), f"\n\n```svg\n{SVG.decode()}\n```\n\n"),
        (file(b"<svg>\n```</svg>", "image/svg+xml"), "(An image that cannot be shown: image/svg+xml, 15 bytes)"),
    ],
    ids=["broken", "cut", "too many pixels", "other type", "no base64", "short text", "svg", "svg that ends its block"],
)
def test_embedded_data_that_cannot_be_shown_as_an_image_is_described_with_type_and_size(
    one: EmbeddedFile, words: str
) -> None:
    part = part_of(one)
    assert part == Text(words)


def test_number_and_size_of_images_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures_module, "PICTURES_LIMIT", 2)
    some = Pictures()
    kinds = [type(part) for colour in (1, 2, 3) for part in some.parts_of_file(file(png(colour)))]
    assert kinds == [InlineData, InlineData, Text]
    monkeypatch.setattr(pictures_module, "DATA_LIMIT_BYTES", 10)
    assert [type(part) for part in Pictures().parts_of_file(file(png(1)))] == [Text]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "http://[", "data:image/svg+xml,<svg>", "ftp://a/b"]
)
def test_image_with_a_url_that_is_not_http_is_described_and_not_linked(url: str) -> None:
    [part] = Pictures().parts_of(url)
    assert isinstance(part, Text)
    assert part.text.startswith("(An image that cannot be shown: image/")


def test_standard_and_url_safe_base64_are_decoded() -> None:
    for payload in ("_-__", "/+//", "aGVsbG8", "aGVs\nbG8=", "aGVsbG8%3D"):
        assert decode(payload) in (b"\xff\xef\xff", b"hello")


def test_image_in_an_answer_is_found_after_an_unclosed_backtick_in_the_thought() -> None:
    accumulator = Accumulator(has_functions=False)
    text = f"Use `x here</think>\n\nHere: ![x](data:image/png;base64,{encoded(png(1))})"
    events = [*accumulator.add(TextDelta(text)), *accumulator.close(is_done=True)]
    shown = [event.part for event in events if isinstance(event, PartReceived)]
    assert [type(part) for part in shown] == [Text, Text, InlineData]
