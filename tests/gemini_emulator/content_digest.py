"""A digest of a model content that does not depend on how a faithful client joined, cut or trimmed it.

A digest is a text: texts stand in it as they are and joined, and each other part is a marker between NUL characters,
which texts in a digest cannot contain. Signatures are spans of that text. Thoughts and images are not in the text,
because a client may omit them. This module is pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chat.emulator.generation_request import PART_KINDS, decode_base64
from chat.emulator.wire import WireObject

DUMMY_SIGNATURES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""Gemini's documentation names these values for history that the model did not write."""
CALL_KINDS = ("functionCall", "toolCall", "toolResponse")
"""A client may omit parts of these kinds, or replace each of them by a text."""
REPLACEMENT = "\ufffd"
_NUL_IN_JSON = r"\u0000"
_DATA_IMAGE = "data:image"
_DUMMY_BYTES = frozenset(raw for dummy in DUMMY_SIGNATURES for raw in (dummy.encode(), decode_base64(dummy)))


@dataclass(frozen=True, slots=True)
class SignatureSpan:
    """A signature and the span of its part in the digest's text; `start == end` if the part adds no text."""

    start: int
    end: int
    signature_digest: bytes


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """An image, or a thought with a signature. A client may omit it together with its signature."""

    position: int
    """The length of the digest's text before the part."""
    content_digest: str
    signature_digest: bytes
    """Empty if the part has no signature."""


@dataclass(frozen=True, slots=True)
class OutputDigest:
    """The output of executed code. If it contains images, only the text before the first one is compared."""

    digest: str
    length: int
    has_image: bool

    @classmethod
    def of(cls, output: str) -> OutputDigest:
        """Return the digest of an output as it was sent."""
        head, image, _ = output.partition(_DATA_IMAGE)
        return cls(_digest_text(head), len(head), bool(image))

    def matches(self, output: str) -> bool:
        """Return whether a client's text is this output. The client may have removed the images."""
        return _digest_text(output[: self.length] if self.has_image else output) == self.digest


@dataclass(slots=True)
class ContentDigest:
    """The digest of one content, or of an answer that is still being sent."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    """The length of the text."""
    signatures: list[SignatureSpan] = field(default_factory=list)
    optional_parts: list[OptionalPart] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    """The outputs of executed code, which are not in the text."""

    @property
    def text(self) -> str:
        """The joined pieces."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def is_signed(self) -> bool:
        """Whether any part has a signature."""
        return bool(self.signatures) or any(part.signature_digest for part in self.optional_parts)

    def add(self, part: WireObject) -> None:
        """Add one part, or one increment of a text."""
        signature = signature_digest(part)
        start = self.length
        if part.get("thought") or "inlineData" in part:
            if signature or "inlineData" in part:
                self.optional_parts.append(OptionalPart(start, _digest(_optional_content(part)), signature))
            return
        if "codeExecutionResult" in part:
            self.outputs.append(_storable(part["codeExecutionResult"].get("output") or ""))
        text = text_of_part(part)
        if text:
            self.pieces.append(text)
            self.length += len(text)
        if signature:
            self.signatures.append(SignatureSpan(start, self.length, signature))


def digest_of(parts: Iterable[WireObject]) -> ContentDigest:
    """Return the digest of a content."""
    digest = ContentDigest()
    for part in parts:
        digest.add(part)
    return digest


def fixed_digest_of(parts: Iterable[WireObject]) -> ContentDigest:
    """Return the digest of the fixed parts only."""
    return digest_of(part for part in parts if is_fixed(part))


def is_fixed(part: WireObject) -> bool:
    """Return whether a part stays unchanged if a client replaces calls by texts: no call and no unsigned text."""
    return not is_call(part) and ("text" not in part or "thoughtSignature" in part)


def is_call(part: WireObject) -> bool:
    """Return whether a client may replace a part by a text."""
    return any(name in part for name in CALL_KINDS)


def signature_digest(part: WireObject) -> bytes:
    """Return a digest of a part's signature. It is empty if the part has none or a dummy."""
    if "thoughtSignature" not in part:
        return b""
    signature = _decode(part["thoughtSignature"])
    return b"" if signature in _DUMMY_BYTES or not signature else hashlib.blake2b(signature, digest_size=16).digest()


def has_signature(parts: Iterable[WireObject]) -> bool:
    """Return whether any part has a signature that is not a dummy."""
    return any(signature_digest(part) for part in parts)


def has_dummy_signature(part: WireObject) -> bool:
    """Return whether a part has one of the documented dummy signatures."""
    return "thoughtSignature" in part and _decode(part["thoughtSignature"]) in _DUMMY_BYTES


def ends_with_code(parts: Sequence[WireObject]) -> bool:
    """Return whether the last part with a text in the digest is executed code."""
    visible = [part for part in parts if not part.get("thought") and "inlineData" not in part and text_of_part(part)]
    return bool(visible) and "executableCode" in visible[-1]


def text_of_part(part: WireObject) -> str:
    """Return what a part adds to the digest's text.

    A part of an unknown kind adds nothing, because clients send it back as an empty text.
    """
    if "codeExecutionResult" in part:
        result = part["codeExecutionResult"]
        return _marker("codeExecutionResult", {"outcome": result.get("outcome"), "id": result.get("id")})
    for kind in PART_KINDS - {"text"}:
        if kind in part:
            return _marker(kind, part[kind])
    return _storable(part.get("text") or "")


def _optional_content(part: WireObject) -> bytes:
    if "inlineData" in part:
        return _decode(part["inlineData"].get("data") or "")
    return str(part.get("text")).encode(errors="surrogatepass")


def _decode(value: object) -> bytes:
    """Decode base64. A recording may hold another text in its place, which is used as it is."""
    try:
        return decode_base64(str(value))
    except ValueError:
        return str(value).encode(errors="surrogatepass")


def _marker(kind: str, value: WireObject) -> str:
    # A client may replace NUL by U+FFFD and omit empty fields.
    fields = {key: item for key, item in value.items() if item or item == 0}
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False).replace(_NUL_IN_JSON, REPLACEMENT)
    return f"\0{kind}:{_digest_text(_storable(text))}\0"


def _storable(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD, as clients do whose database cannot store them."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", REPLACEMENT).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _digest_text(text: str) -> str:
    return _digest(text.encode(errors="surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
