"""Builds chunks as Gemini 2.5 sends them."""

from __future__ import annotations

from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.wire import WireObject


class Gemini25ChunkBuilder(ChunkBuilder):
    """Builds chunks without ids and signatures, and with an index and all token counts in every chunk."""

    def new_id(self) -> str:
        """Return an empty text: code parts have no id."""
        return ""

    def new_signature(self) -> str:
        """Return an empty text: parts have no signature."""
        return ""

    def is_bare_result(self, parts: list[WireObject]) -> bool:
        """Return False: chunks with a result have the index and all counts."""
        return False

    def usage(self, *, is_last: bool) -> WireObject:
        """Return all token counts."""
        return super().usage(is_last=True)
