"""How much of a long conversation a model can be told: the newest exchanges that fit. Pure.

Tokens are estimated, and rather too high: a provider that refuses what was estimated to fit is asked with less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chat.parts import Content, Part, PartKind, Role

ASCII_PER_TOKEN = 3.5
IMAGE_TOKENS = 1_120
"""What an image costs at most at the default resolution."""
BYTES_PER_TOKEN = 20
"""Of documents such as PDF, whose pages cost tokens and whose bytes are compressed."""
DOCUMENT_TOKENS = 258_000
"""Of a document at most: 1,000 pages are read, at 258 tokens each."""
USED_SHARE = 0.9
"""Of the model's limit; the rest is for the instruction, tools, and what was estimated too low."""


def fitting(
    messages: Sequence[Sequence[Content]],
    context_tokens: int | None,
    share: float = 1.0,
    kept_bytes: Mapping[str, int] | None = None,
) -> list[Sequence[Content]]:
    """The messages, each as its contents, without the oldest exchanges, so that the rest fits.

    The last question always stays. `context_tokens`: what the model reads, None: not known, so all. `share`: of that.
    `kept_bytes`: sizes of files that the provider keeps, by their address.
    """
    sizes = [sum(tokens_of(content, kept_bytes) for content in contents) for contents in messages]
    total = sum(sizes)
    room: float = total if context_tokens is None else context_tokens * USED_SHARE
    if share < 1:
        # The provider has said that it is too much, whatever was estimated.
        room = min(room, total) * share
    start = 0
    for place, contents in enumerate(messages):
        if place and contents and contents[0].role is Role.USER:
            if total <= room:
                break
            total -= sum(sizes[start:place])
            start = place
    return list(messages[start:])


def tokens_of(content: Content, kept_bytes: Mapping[str, int] | None = None) -> int:
    """Estimated tokens of one content."""
    return sum(_part_tokens(part, kept_bytes or {}) for part in content.parts)


def _part_tokens(part: Part, kept_bytes: Mapping[str, int]) -> int:
    if part.kind is PartKind.FILE_DATA:
        return _file_tokens(part.mime_type, kept_bytes.get(str(part.fields.get("fileUri")), 0))
    if part.data is not None:
        if part.mime_type.startswith("text/"):
            return _text_tokens(part.data.decode("utf-8", "replace"))
        return _file_tokens(part.mime_type, len(part.data))
    return _text_tokens(part.text or "") + (_text_tokens(str(part.fields)) if part.fields else 0)


def _file_tokens(mime_type: str, size_bytes: int) -> int:
    if mime_type.startswith("image/"):
        return IMAGE_TOKENS
    if mime_type.startswith("text/"):
        return int(size_bytes / ASCII_PER_TOKEN)
    return min(size_bytes // BYTES_PER_TOKEN, DOCUMENT_TOKENS)


def _text_tokens(text: str) -> int:
    ascii_chars = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return int(ascii_chars / ASCII_PER_TOKEN) + (len(text) - ascii_chars)
