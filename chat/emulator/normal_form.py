"""A model content in a form that a faithful client cannot leave, however it joined or cut what was sent.

Texts stand as they are and joined, each other part is a word that no text can hold, signatures are marks over places.
Thoughts and images are left out. Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chat.emulator.call import PART_DATA, decode_base64
from chat.emulator.wire import WireObject

DUMMIES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""Documented in place of signatures for history that the model did not write."""
CALLS = ("functionCall", "toolCall", "toolResponse")
"""A client may leave these out of an answer, or put a word in the place of each."""
REPLACEMENT = "\ufffd"
_NUL_IN_JSON = r"\u0000"
_DATA_IMAGE = "data:image"
_DUMMY_BYTES = frozenset(raw for dummy in DUMMIES for raw in (dummy.encode(), decode_base64(dummy)))


@dataclass(frozen=True, slots=True)
class Mark:
    """A signature and the stretch of a form that its part said; `start == end` where it said nothing."""

    start: int
    end: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Loose:
    """An image or a signed thought: a client may leave it out, with its signature."""

    place: int
    """Where in the form it stood."""
    said: str
    """A digest of its bytes or text."""
    digest: bytes
    """Of its signature; empty without one."""


@dataclass(frozen=True, slots=True)
class Output:
    """The output of executed code; of one that holds images only what stands before the first."""

    digest: str
    length: int
    holds_image: bool

    @classmethod
    def of(cls, text: str) -> Output:
        """The output as it was sent."""
        head, image, _ = text.partition(_DATA_IMAGE)
        return cls(_text_digest(head), len(head), bool(image))

    def matches(self, text: str) -> bool:
        """Whether a client's text is this output; images may have been cut out of it."""
        return _text_digest(text[: self.length] if self.holds_image else text) == self.digest


@dataclass(slots=True)
class Form:
    """A content in normal form: texts as they are, each other part as a word that no text can hold."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    signatures: list[Mark] = field(default_factory=list)
    loose: list[Loose] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        """All pieces joined."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def is_signed(self) -> bool:
        """Whether any part bore a signature."""
        return bool(self.signatures) or any(item.digest for item in self.loose)

    def add(self, part: WireObject) -> None:
        """Take in one part, or one increment of a text."""
        signature = signature_of(part)
        start = self.length
        if part.get("thought") or "inlineData" in part:
            if signature or "inlineData" in part:
                self.loose.append(Loose(start, _digest(_loosely_said(part)), signature))
            return
        if "codeExecutionResult" in part:
            self.outputs.append(_clean(part["codeExecutionResult"].get("output") or ""))
        word = word_of(part)
        if word:
            self.pieces.append(word)
            self.length += len(word)
        if signature:
            self.signatures.append(Mark(start, self.length, signature))


def form_of(parts: Iterable[WireObject]) -> Form:
    """The normal form of a content."""
    form = Form()
    for part in parts:
        form.add(part)
    return form


def signature_of(part: WireObject) -> bytes:
    """A digest of a part's signature; empty where it has none or a dummy."""
    if "thoughtSignature" not in part:
        return b""
    signature = _bytes_of(part["thoughtSignature"])
    return b"" if signature in _DUMMY_BYTES or not signature else hashlib.blake2b(signature, digest_size=16).digest()


def has_signature(parts: Iterable[WireObject]) -> bool:
    """Whether any part bears a signature that is no dummy."""
    return any(signature_of(part) for part in parts)


def has_dummy(part: WireObject) -> bool:
    """Whether a part bears one of the documented dummies."""
    return "thoughtSignature" in part and _bytes_of(part["thoughtSignature"]) in _DUMMY_BYTES


def ends_with_code(parts: Sequence[WireObject]) -> bool:
    """Whether executed code is the last that a content says."""
    said = [part for part in parts if not part.get("thought") and "inlineData" not in part and word_of(part)]
    return bool(said) and "executableCode" in said[-1]


def is_call(part: WireObject) -> bool:
    """Whether a client may put a word in a part's place."""
    return any(name in part for name in CALLS)


def is_firm(part: WireObject) -> bool:
    """Whether a part stays as it is where calls are replaced by words: no call, and no unsigned text."""
    return not is_call(part) and ("text" not in part or "thoughtSignature" in part)


def firm_form(parts: Iterable[WireObject]) -> Form:
    """The normal form of the firm parts alone."""
    return form_of(part for part in parts if is_firm(part))


def word_of(part: WireObject) -> str:
    """What a part adds to a form; a kind that no client knows comes back as an empty text, if at all."""
    if "codeExecutionResult" in part:
        result = part["codeExecutionResult"]
        return _escaped("codeExecutionResult", {"outcome": result.get("outcome"), "id": result.get("id")})
    for name in PART_DATA - {"text"}:
        if name in part:
            return _escaped(name, part[name])
    return _clean(part.get("text") or "")


def _loosely_said(part: WireObject) -> bytes:
    if "inlineData" in part:
        return _bytes_of(part["inlineData"].get("data") or "")
    return str(part.get("text")).encode(errors="surrogatepass")


def _bytes_of(value: object) -> bytes:
    """Of base64; what a recording holds in its place is taken as it is."""
    try:
        return decode_base64(str(value))
    except ValueError:
        return str(value).encode(errors="surrogatepass")


def _escaped(name: str, value: WireObject) -> str:
    # NUL may come back as U+FFFD, what is empty may not come back at all.
    said = json.dumps(
        {key: item for key, item in value.items() if item or item == 0}, sort_keys=True, ensure_ascii=False
    )
    return f"\0{name}:{_text_digest(_clean(said.replace(_NUL_IN_JSON, REPLACEMENT)))}\0"


def _clean(text: str) -> str:
    """NUL and halves of surrogate pairs cannot be stored everywhere: a client may send U+FFFD for them."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", REPLACEMENT).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text_digest(text: str) -> str:
    return _digest(text.encode(errors="surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
