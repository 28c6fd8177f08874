"""Finds marks of chat templates around a message in the text of an answer, such as `<|im_start|>assistant`. Pure.

A server whose template does not fit its model does not remove them. They are dropped at the beginning of an answer
(`LeadingMarks`), at its end and where a new message begins (`text_marks`). Elsewhere they are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

STOPS = (
    *("<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|endoftext|>", "<|end_of_text|>"),
    *("<|END_OF_TURN_TOKEN|>", "<|user|>", "<end_of_turn>", "<start_of_turn>", "<eos>", "<pad>"),
    *("</s>", "[/INST]", "[EOS]", "[|endofturn|]", "<｜end▁of▁sentence｜>"),
)
"""Marks that are dropped at the end of an answer."""
STRIKE_END = "</s>"
"""The mark ends a message, or in HTML a text that is struck out."""
_ROLES = ("assistant", "user", "system", "model", "tool")
_HEADERS = (
    *("<|start_header_id|>assistant<|end_header_id|>", "<|header_start|>assistant<|header_end|>"),
    "<|start_of_role|>assistant<|end_of_role|>",
)
TURNS = tuple(
    turn.format(role)
    for role in _ROLES
    for turn in ("<|im_start|>{}", "<start_of_turn>{}", *(header.replace("assistant", "{}") for header in _HEADERS))
)
"""Marks that begin a message, each with a role."""
FLAGS = re.IGNORECASE | re.ASCII


def alternatives(texts: Iterable[str]) -> str:
    """Return a regular expression that matches the longest of the texts."""
    return "|".join(map(re.escape, sorted(set(texts), key=len, reverse=True)))


def beginnings(texts: Iterable[str]) -> str:
    """Return a regular expression that matches the longest beginning of one of the texts."""
    return alternatives(text[:length] for text in texts for length in range(1, len(text) + 1))


STOP = rf"(?:{alternatives((*STOPS, *TURNS))})"
TURN = rf"(?:(?:{alternatives(STOPS)})\s{{0,9}}+)?(?:{alternatives(TURNS)})(?=[\r\n])"
"""Matches the border of two messages. The role is the last word of its line."""
STOPS_AT_END = re.compile(rf"{STOP}(?>(?:{STOP}|\s)*)\Z", FLAGS)
OPEN_STOPS_AT_END = re.compile(
    rf"(?:{STOP}(?>(?:{STOP}|\s)*))?(?:{beginnings((*STOPS, *TURNS))}|(?<=>)(?:{beginnings(_ROLES)}))?\Z", FLAGS
)
STOPS_LIMIT_CHARS = 200
"""Maximum number of characters at the end of a text that are held back, because they may be marks of a template."""

_FIRST = (
    *("<|im_start|>assistant", "<|im_start|>model", *_HEADERS),
    *("<start_of_turn>model", "<|assistant|>", "<|begin_of_text|>", "<|startoftext|>", "<s>", "<bos>", "[/INST]"),
    *("<｜Assistant｜>", "<｜begin▁of▁sentence｜>"),
)
_LINE_END = r"(?=[ \t]*+(?:[\r\n]|<|\Z))"
_FIRST_MARK = (
    rf"(?:(?:<\|im_start\|>(?:assistant|model)?|<start_of_turn>(?:model)?){_LINE_END}"
    rf"|{alternatives(_HEADERS)}|<\|(?:assistant|begin_of_text|startoftext)\|>(?! \w)"
    r"|<(?:s|bos)>(?=[\s<\[]|\Z)|\[/INST\]|<｜(?:Assistant|begin▁of▁sentence)｜>)"
)
_RUN = re.compile(rf"(?>(?:\s{{0,50}}+{_FIRST_MARK})+)\s*+", FLAGS)
_OPEN_RUN = re.compile(rf"(?>(?:\s{{0,50}}+{_FIRST_MARK})*)\s*+(?:{beginnings(_FIRST)})?[ \t]*+\Z", FLAGS)


class LeadingMarks:
    """Drops the marks at the beginning of a text that arrives in pieces."""

    def __init__(self) -> None:
        self._held: str | None = ""
        """The beginning of the text while it may be marks; `None` after it was passed on."""

    def feed(self, text: str) -> str:
        """Add text, and return what is certainly not a mark."""
        if self._held is None:
            return text
        self._held += text
        is_open = len(self._held) < STOPS_LIMIT_CHARS and _OPEN_RUN.match(self._held)
        return "" if is_open else self.close()

    def close(self) -> str:
        """Return the text that was held back."""
        if not self._held:
            return ""
        held, self._held = self._held, None
        run = _RUN.match(held)
        return held[run.end() :] if run else held


def start_of_stops(text: str, start: int, *, is_end: bool, is_struck: bool) -> int:
    """Return the index of the marks at the end of a text, or of what may become such marks; its length without any.

    `is_struck`: whether the text has `<s>`, so that `</s>` may be its closing tag.
    """
    pattern = STOPS_AT_END if is_end else OPEN_STOPS_AT_END
    for first in re.finditer(r"[<\[]", text[(position := max(start, len(text) - STOPS_LIMIT_CHARS)) :]):
        match = pattern.match(text, position + first.start())
        if match and not (is_end and is_struck and STRIKE_END in match[0].lower()):
            return match.start()
    return len(text)
