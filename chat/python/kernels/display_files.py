"""Extracts the bytes of images, sounds and videos from a display, so that they become separate outputs. Pure.

A kernel runs untrusted code, so the types that it gives for bytes are checked.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from itertools import islice

from attachments.validation import RASTER_TYPES
from chat.python.kernels.outputs import FileOutput, ImageOutput
from chat.vocabulary.data_uris import detect_image_type
from chat.vocabulary.display_text import HTML, MARKDOWN
from chat.vocabulary.html_content import count_frames
from chat.vocabulary.html_elements import TAKEN_ADDRESS

FILES_LIMIT = 64
"""Maximum number of data URIs that are extracted from one text. Later ones are not changed."""

# Long payloads may be wrapped over lines, in JavaScript with a backslash. Possessive quantifiers make the time linear.
_WRAP = r"(?:\\?\r?\n[ \t]*+|%0A)"
_URI = (
    r"data:(?P<type>(?:image|audio|video)/[\w.+-]{1,60})(?:;[\w=.+-]{1,60}){0,3};base64,"
    rf"(?P<payload>(?>(?:[A-Za-z0-9+/]{{60,}}+{_WRAP})*)[A-Za-z0-9+/]*+={{0,2}})"
)
_WRAPS = re.compile(_WRAP)
_DATA_URI = re.compile(_URI, re.IGNORECASE | re.ASCII)
_ATTRIBUTE_URI = re.compile(
    rf"\b(?:src|href|poster)\s{{0,9}}=\s{{0,9}}[\"']?\s{{0,9}}(?P<uri>{_URI})", re.IGNORECASE | re.ASCII
)
"""Matches a data URI in an attribute that loads a file. Other URIs in HTML, such as in styles, are not extracted."""
_FIRST_FRAME = 'frames[0] = "'


def first_image(data: Mapping[str, object]) -> ImageOutput | None:
    """Return the first valid image among the MIME forms of an object. Its other images show the same."""
    for mime_type in RASTER_TYPES:
        encoded = data.get(mime_type)
        decoded = _decode(encoded) if isinstance(encoded, str) else b""
        if detect_image_type(decoded[:32]) == mime_type:
            return ImageOutput(mime_type, decoded)
    return None


def take_files(forms: Mapping[str, object]) -> tuple[dict[str, object], list[ImageOutput | FileOutput]]:
    """Return the MIME forms, with `TAKEN_ADDRESS` in place of data URIs in HTML and Markdown, and the files from these.

    An animation that a script plays becomes its first frame.
    """
    rest = dict(forms)
    files: list[ImageOutput | FileOutput] = []
    for mime_type in (HTML, MARKDOWN):
        text = forms.get(mime_type)
        if isinstance(text, str) and ";base64," in text:
            rest[mime_type], found = _take_from_text(text, is_html=mime_type == HTML)
            files += found
    return rest, files


def _take_from_text(text: str, *, is_html: bool) -> tuple[str, list[ImageOutput | FileOutput]]:
    if frames := count_frames(text):
        uri = _DATA_URI.match(text, text.index(_FIRST_FRAME) + len(_FIRST_FRAME))
        frame = _file_of(uri) if uri else None
        return (f'<img src="{TAKEN_ADDRESS}" data-frames="{frames}">', [frame]) if frame else (text, [])
    pieces: list[str] = []
    files: list[ImageOutput | FileOutput] = []
    end = 0
    for uri in islice((_ATTRIBUTE_URI if is_html else _DATA_URI).finditer(text), FILES_LIMIT):
        if file := _file_of(uri):
            files.append(file)
            pieces += (text[end : uri.start("uri") if is_html else uri.start()], TAKEN_ADDRESS)
            end = uri.end()
    return "".join([*pieces, text[end:]]), files


def _file_of(uri: re.Match[str]) -> ImageOutput | FileOutput | None:
    """Return the image, the sound or the video in a data URI; `None` if pages cannot show or offer it."""
    mime_type, data = uri["type"].lower(), _decode(_WRAPS.sub("", uri["payload"]))
    if image_type := detect_image_type(data[:32]):
        return ImageOutput(image_type, data)
    return FileOutput(mime_type, data) if data and not mime_type.startswith("image/") else None


def _decode(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded)
    except (binascii.Error, ValueError):
        return b""
