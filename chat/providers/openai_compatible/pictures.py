"""Converts pictures that a model made to parts of its answer. Pure.

A PNG, JPEG, WebP or GIF becomes `InlineData`, as a picture of Gemini's does. The source of an SVG becomes a block of
code. An address in the web becomes a link, and is never fetched. Everything else is replaced by a sentence with its
type and size, so that nothing is lost without notice.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote, unquote, urlsplit

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext

from attachments.validation import UnreadableImage, inspect_image
from chat.providers.openai_compatible.text_pictures import PAYLOAD_LIMIT_CHARS, EmbeddedFile
from chat.vocabulary.data_uris import without_data_uris
from chat.vocabulary.parts import InlineData, Part, Text

PICTURES_LIMIT = 32
"""Maximum number of pictures of one response that are stored."""
DATA_LIMIT_BYTES = 48 * 1024 * 1024
"""Maximum number of bytes of all pictures of one response. `ANSWER_DATA_LIMIT_BYTES` limits a whole answer."""
SVG = "image/svg+xml"
SVG_LIMIT_CHARS = 20_000
"""Maximum length of the source of an SVG, in characters; a longer one is not shown."""
ADDRESS_LIMIT_CHARS = 8_000
"""Maximum length of the address of a picture, in characters. Addresses with a signature are long."""
LABEL_LIMIT_CHARS = 80
PLAIN_LABELS = frozenset({"", "image", "img", "picture"})
"""Descriptions that say no more than that there is a picture."""

DATA_URI = re.compile(r"data:([a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80})?(?:;[^,;]{0,80}){0,4};base64,", re.IGNORECASE)
FENCE = re.compile(r"^\s*`{3,}", re.MULTILINE)
UNSAFE_IN_ADDRESS = re.compile(r"[\s<>\\\x00-\x1f\x7f]")
URL_SAFE = str.maketrans("-_", "+/")


class Pictures:
    """Makes parts of the pictures of one response, within its limits."""

    def __init__(self) -> None:
        self._count = 0
        self._data_bytes = 0
        self._seen: set[bytes] = set()
        """Hashes of the addresses so far, because some servers repeat the pictures in their last chunk."""

    def parts_of(self, url: str) -> Iterator[Part]:
        """Yield the part of a picture that the server sent beside the text, unless it has sent it before."""
        digest = hashlib.sha256(url.encode("utf-8", "replace")).digest()
        if digest in self._seen:
            return
        self._seen.add(digest)
        if url[:5].lower() == "data:":
            header = DATA_URI.match(url)
            if header is None:
                # The URI has text in place of base64, for example an SVG.
                yield Text(describe(url[5:85].partition(",")[0].partition(";")[0], len(url)))
                return
            payload = url[header.end() :]
            yield from self.parts_of_file(EmbeddedFile(header[1] or "", payload, len(payload)))
        elif address := web_address(url):
            yield Text(f"\n\n[{gettext('Image')}](<{address}>)\n\n")
        else:
            # Some servers send the base64 alone.
            yield from self.parts_of_file(EmbeddedFile("image/png", url, len(url)))

    def parts_of_file(self, file: EmbeddedFile) -> Iterator[Part]:
        """Yield a picture, or words for any other file; no words for a file from code, which has them already."""
        data = decode(file.payload) if file.chars <= PAYLOAD_LIMIT_CHARS else b""
        try:
            mime_type = inspect_image(data).mime_type
        except UnreadableImage:
            source = svg_source(data) if file.mime_type.lower() == SVG else file.source
            words = source or describe(file.mime_type, len(data) or file.chars * 3 // 4)
        else:
            words = describe(mime_type, len(data))
            if self._count < PICTURES_LIMIT and self._data_bytes + len(data) <= DATA_LIMIT_BYTES:
                self._count += 1
                self._data_bytes += len(data)
                yield InlineData(mime_type, file_name(file.label, mime_type), data)
                return
        if not file.is_from_code:
            yield Text(f"\n\n{words}\n\n" if file.follows_block else words)


def describe(mime_type: str, size_bytes: int) -> str:
    """Return the sentence that replaces a file that cannot be shown."""
    kind = re.sub(r"[^a-z0-9.+/-]", "", mime_type.lower())
    size = filesizeformat(size_bytes).replace("\xa0", " ")
    if kind and not kind.startswith("image/"):
        return gettext("(A file that cannot be shown: %(type)s, %(size)s)") % {"type": kind, "size": size}
    return gettext("(An image that cannot be shown: %(type)s, %(size)s)") % {"type": kind or "image", "size": size}


def decode(payload: str) -> bytes:
    """Return the bytes of base64, in either alphabet, perhaps wrapped or with `%` escapes; empty for other text."""
    with suppress(ValueError):
        # This decodes nearly every picture. The steps below take ten times as long.
        return binascii.a2b_base64(payload, strict_mode=True)
    bare = "".join(unquote(payload).split()).translate(URL_SAFE).rstrip("=")
    try:
        return binascii.a2b_base64(bare + "=" * (-len(bare) % 4), strict_mode=True)
    except ValueError:
        return b""


def svg_source(data: bytes) -> str:
    """Return the source of an SVG as a block of code; empty if it is too long, or no text."""
    try:
        source = without_data_uris(data[: SVG_LIMIT_CHARS * 8].decode())
    except UnicodeDecodeError:
        return ""
    if not source.strip() or len(source) > SVG_LIMIT_CHARS or FENCE.search(source):
        return ""
    return f"\n\n```svg\n{source.strip()}\n```\n\n"


def web_address(url: str) -> str:
    """Return an address for a link; empty for what is no address of a web page."""
    url = url.strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc or len(url) > ADDRESS_LIMIT_CHARS:
        return ""
    return UNSAFE_IN_ADDRESS.sub(lambda match: quote(match[0]), url)


def file_name(label: str, mime_type: str) -> str:
    """Return a name for a picture with this description; empty if the description says nothing."""
    words = " ".join(re.sub(r"[/\\]", "-", label).split())[:LABEL_LIMIT_CHARS]
    return "" if words.lower() in PLAIN_LABELS else f"{words}.{mime_type.removeprefix('image/').replace('jpeg', 'jpg')}"
