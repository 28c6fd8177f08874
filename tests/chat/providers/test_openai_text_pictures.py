"""Files in the text of an answer are taken out of it, wherever the text is cut, and no base64 is passed on."""

from __future__ import annotations

import base64
import random

import pytest

from chat.providers.openai_compatible import text_pictures
from chat.providers.openai_compatible.text_pictures import CODE_LIMIT_CHARS, EmbeddedFile, TextPictures
from tests.attachments.conftest import png

SMALL = base64.b64encode(png(1)).decode()
LONG = base64.b64encode(random.Random(1).randbytes(6_000)).decode()
WRAPPED = "\n".join(LONG[start : start + 76] for start in range(0, len(LONG), 76))
URI = "data:image/png;base64,"
SIZES = (1, 2, 3, 7, 50, 10**6)
PICTURE = object()
"""Replaces a file in the expected pieces."""

DIVIDED: dict[str, tuple[str, list[object]]] = {
    "picture of Markdown": (
        f"Your picture:\n\n![image]({URI}{LONG})\n\nBye!",
        ["Your picture:\n\n", PICTURE, "\n\nBye!"],
    ),
    "with a title": (f'a ![x [y]( <{URI}{LONG}> "A title" ) b', ["a ", PICTURE, " b"]),
    "with space before the base64": (
        f"![image]({URI} \n{WRAPPED})\n<img src='{URI}\n{LONG}'>",
        [PICTURE, "\n", PICTURE],
    ),
    "without its end": (f"![image]({URI}{LONG}\n\nThe text", [PICTURE, "\n\nThe text"]),
    "after a bracket that opens nothing": (f"![ see ![image]({URI}{LONG})", ["![ see ", PICTURE]),
    "with signs that are no base64": (f"![a]({URI}{SMALL}@@!) b", [PICTURE, " b"]),
    "element of HTML": (f'x <img alt="q" src="{URI}{LONG}" width=3> y', ["x ", PICTURE, " y"]),
    "URI alone": (f"see {URI}{LONG}\nHello.", ["see ", PICTURE, "\nHello."]),
    "URI before a full stop": (f"see {URI}{LONG}. Hello", ["see ", PICTURE, ". Hello"]),
    "wrapped URI": (f"{URI}{WRAPPED}\nz is", [PICTURE, "\nz is"]),
    "with parameters": (f"![]({URI.replace(';', ';charset=utf-8;')}{SMALL}) end", [PICTURE, " end"]),
    "two without a space": (f"![a]({URI}{SMALL})![b]({URI}{LONG})", [PICTURE, PICTURE]),
    "picture that never ends": (f"a ![image]({URI}{LONG[:500]}", ["a ", PICTURE]),
    "other text": (
        "![a](https://x.y/z.png) Wow! and <b>d</b> da [data: d",
        ["![a](https://x.y/z.png) Wow! and <b>d</b> da [data: d"],
    ),
    "short base64 in code": (
        f"`{URI}{SMALL}` and\n```\n![a]({URI}{SMALL})\n```\n",
        [f"`{URI}{SMALL}` and\n```\n![a]({URI}{SMALL})\n```\n"],
    ),
    "long base64 in a block of code": (
        f'~~~~html\n<p>`<img src="{URI}{LONG}">\n~~~~\nand\n',
        [f'~~~~html\n<p>`<img src="[image/png, {len(LONG):,} characters of base64]">\n~~~~\n', PICTURE, "and\n"],
    ),
    "long base64 in a span of code": (
        f"See ``{URI}{LONG}`` here\nand",
        [f"See ``[image/png, {len(LONG):,} characters of base64]`` here\n", PICTURE, "and"],
    ),
    "within emphasis": (f"**![a]({URI}{SMALL})** and *<img src='{URI}{LONG}'>*", [PICTURE, " and ", PICTURE]),
    "within emphasis with words": (f"**Figure: ![a]({URI}{SMALL})**\n\nb", ["**Figure: a**\n\n", PICTURE, "b"]),
    "before words with emphasis": (f"__![a]({URI}{SMALL}) b__ c", ["__a b__ c", PICTURE]),
    "in items": (
        f"1. ![a]({URI}{SMALL})\n2. **![b]({URI}{LONG})**\n   c\n\nd",
        ["1. a\n2. **b**\n   c\n\n", PICTURE, PICTURE, "d"],
    ),
    "in a row": (
        f"| a | b |\n|---|---|\n| ![c]({URI}{SMALL}) | d |\n| e | f |\n",
        ["| a | b |\n|---|---|\n| c | d |\n| e | f |\n", PICTURE],
    ),
    "in a link": (f"[![a]({URI}{SMALL})](https://x.example)", ["[a](https://x.example)", PICTURE]),
    "in an element": (
        f'<a href="https://x.example"><img src="{URI}{SMALL}"></a>',
        [
            '<a href="https://x.example">Image</a>',
            PICTURE,
        ],
    ),
    "in a quote and a heading": (
        f"> ![]({URI}{SMALL})\n\n# ![b]({URI}{SMALL})",
        ["> Image\n\n", PICTURE, "# b", PICTURE],
    ),
    "picture after code": (f"```\nx\n```\n`y` ![a]({URI}{SMALL})", ["```\nx\n```\n`y` ", PICTURE]),
}


def divide(text: str, size: int) -> list[str | EmbeddedFile]:
    """Return the pieces of a text that arrives in pieces of this size, with adjoining texts joined."""
    divided, pieces = TextPictures(), list[str | EmbeddedFile]()
    arrived = [piece for start in range(0, len(text), size) for piece in divided.feed(text[start : start + size])]
    for piece in [*arrived, *divided.close()]:
        if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


@pytest.mark.parametrize(("text", "expected"), DIVIDED.values(), ids=DIVIDED)
def test_embedded_files_are_separated_from_the_text_wherever_it_is_cut(text: str, expected: list[object]) -> None:
    whole = divide(text, len(text))
    assert [piece if isinstance(piece, str) else PICTURE for piece in whole] == expected
    assert all(divide(text, size) == whole for size in SIZES)


def test_text_that_cannot_belong_to_a_file_is_yielded_at_once() -> None:
    divided = TextPictures()
    assert list(divided.feed("One ![image](https://example.org) two")) == ["One ![image](https://example.org) two"]
    assert list(divided.feed(" three![ima")) == [" three"]
    assert list(divided.feed("ge](data:text")) == []
    assert list(divided.feed(", more")) == ["![image](data:text, more"]


def test_short_data_uri_outside_an_image_keeps_its_source_text() -> None:
    text = f"Write {URI}iVBOR... here"
    [_, file, _] = divide(text, 3)
    assert isinstance(file, EmbeddedFile)
    assert file.source == f"{URI}iVBOR"
    assert isinstance(divide(f"- {text}", 3)[1], EmbeddedFile)
    [_, file, _] = divide(f"Write ![image]({URI}iVBOR) here", 3)
    assert isinstance(file, EmbeddedFile)
    assert (file.source, file.label) == ("", "image")


def test_base64_above_the_length_limit_is_not_kept_and_only_its_length_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_pictures, "PAYLOAD_LIMIT_CHARS", len(LONG) - 1)
    assert divide(f"![a]({URI}{LONG})", 100) == [EmbeddedFile("image/png", "", len(LONG), "a")]


def test_embedded_file_above_the_limit_of_files_is_described_without_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pictures, "FILES_LIMIT", 1)
    text = f"![a]({URI}{SMALL}) ![b]({URI}{LONG})"
    # Files without base64 are described.
    for size in SIZES:
        assert divide(text, size)[1:] == [" ", EmbeddedFile("image/png", "", len(LONG), "b")]


def test_data_uri_in_code_stays_text_up_to_the_length_limit() -> None:
    payload = LONG[:CODE_LIMIT_CHARS]
    assert divide(f"`{URI}{payload}`", 9) == [f"`{URI}{payload}`"]
