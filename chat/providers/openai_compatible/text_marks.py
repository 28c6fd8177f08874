"""Removes marks of a model's template from its text: servers without a parser for the template leave them in. Pure.

    <think>…</think>            reasoning, at the beginning of an answer, perhaps several times (other tags: `THOUGHTS`)
    …</think>                   the opening tag was in the prompt: all text before the closing tag was reasoning
    <answer>…</answer>          the answer after reasoning, or a part of it (`ANSWERS`)
    <|im_start|>assistant…<|im_end|>
                                the borders of a message in other templates (`template_marks`)
    <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…
                                messages of OpenAI's Harmony format

Harmony's channel `analysis` is reasoning. `final` is the answer, and so is `commentary`: it holds what a model tells
people before it calls functions. A header may name the recipient of a function call, whose arguments stay text.

A mark may be divided between chunks. Other tags are text, and so are marks that the answer quotes as code: the model
may be writing about them. In reasoning, marks count in code, too, because an open fence must not hide the answer.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeAlias

from chat.providers.openai_compatible.chunks import TextDelta
from chat.providers.openai_compatible.code_position import CodePosition
from chat.providers.openai_compatible.template_marks import (
    FLAGS,
    TURN,
    LeadingMarks,
    alternatives,
    beginnings,
    start_of_stops,
)
from chat.vocabulary.stream_events import TextBecameThought

_TAG_NAMES = ("think", "thinking", "thought", "reasoning", "seed:think")
THOUGHTS = {f"<{name}>": f"</{name}>" for name in _TAG_NAMES} | {
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
}
"""Opening tag of reasoning -> closing tag, in small letters. Families of models use different tags."""
CLOSES = frozenset(THOUGHTS.values())
ANSWERS = {
    "<answer>": "</answer>",
    "<response>": "</response>",
    "<|start_response|>": "<|end_response|>",
    "<|begin_of_solution|>": "<|end_of_solution|>",
    "<|begin_of_box|>": "<|end_of_box|>",
}
"""Opening tag of an answer -> closing tag. The first two are dropped only directly after reasoning."""
CHANNEL, CONSTRAIN = "<|channel|>", "<|constrain|>"
HEADERS = frozenset({"<|start|>", CHANNEL, CONSTRAIN})
"""Marks that begin a header. Words follow, such as a role or the name of a channel."""
ENDS = frozenset({"<|end|>", "<|return|>", "<|call|>"})
ANSWER_ENDS = frozenset(ANSWERS.values())
TAGS = frozenset({*THOUGHTS, *CLOSES, *ANSWERS, *ANSWER_ENDS})
MARKS = ("<|message|>", *HEADERS, *ENDS, *TAGS)
MARK = re.compile(rf"(?P<turn>{TURN})|{alternatives(MARKS)}", FLAGS)
PARTIAL_MARK = re.compile(rf"(?:{beginnings(MARKS)})\Z", FLAGS)
LONGEST_MARK = max(map(len, MARKS))
HEADER_LIMIT_CHARS = 200
AFTER_WORDS = ("<|message|>", *sorted(HEADERS))
"""The marks that follow the words of a whole header."""
HEADER_WORDS = re.compile(rf"[^<\n]{{0,{HEADER_LIMIT_CHARS}}}")
HEADER_BEGINNING = re.compile(r"\S|$| (?:assistant|analysis|commentary|final|json)\b")
"""How the words of a header begin. Other words after a mark stay as text: the answer writes about marks."""
KNOWN_WORDS = re.compile(r"(?: ?(?:assistant|analysis|commentary|final|json|to=[\w.]+)\b)*")
"""Words that are dropped if a header is not complete."""
LOOKAHEAD_CHARS = 300
"""Number of characters after a mark that are read to see whether it is quoted."""
WHITE_SPACE_LIMIT = 200
"""Number of white space characters at the beginning that are held back, because an opening tag may follow."""

Piece: TypeAlias = TextDelta | TextBecameThought


class _State(Enum):
    START = "nothing but white space so far"
    CLOSED = "nothing but white space since a closing tag"
    UNSURE = "text, which a closing tag would make reasoning"
    TAGGED = "inside the tags"
    SETTLED = "tags are text"


_BLANK = {_State.START: _State.UNSURE, _State.CLOSED: _State.SETTLED}
"""State in which only white space has been read -> state after the first text that is not white space."""


class TextMarks:
    """Divides the text of an answer into reasoning and answer, without marks."""

    def __init__(self, *, is_reasoning: bool = False) -> None:
        """`is_reasoning`: whether the server sends this text in a field for reasoning. Tags are then text."""
        self.has_call = False
        """Whether a header named the recipient of a function call."""
        self._state = _State.SETTLED if is_reasoning else _State.START
        self._is_reasoning = is_reasoning
        self._close = ""
        """The tag that ends the reasoning."""
        self._answer_end = ""
        """The tag that ends the answer, or a part of it."""
        self._leading = LeadingMarks()
        self._held = ""
        """The end of the text so far, which may be the beginning of a mark."""
        self._is_struck = False
        """Whether the answer has `<s>`, which begins struck text."""
        self._blank = ""
        """The white space at the beginning of the answer."""
        self._drops_line_ends = False
        """Whether line ends are dropped until other text arrives, because they follow a mark."""
        self._is_new_message = False
        self._last_kind: bool | None = None
        """Whether the previous text was reasoning; `None` if there was no text."""
        self._code = CodePosition()
        self._pieces: list[Piece] = []

    def settle(self) -> None:
        """Treat tags as text, except at the beginning: reasoning has its own field, but its closing tag may be here."""
        if self._state is not _State.TAGGED:
            self._state = _State.CLOSED if self._state in _BLANK else _State.SETTLED

    def feed(self, text: str) -> list[Piece]:
        """Add text, and return the pieces that later text cannot change."""
        self._held += self._leading.feed(text)
        return self._read(is_end=False)

    def close(self) -> list[Piece]:
        """Return the text that was held back."""
        self._held += self._leading.close()
        pieces = self._read(is_end=True)
        blank, self._blank = self._blank, ""
        return [*pieces, TextDelta(blank)] if blank else pieces

    def _read(self, *, is_end: bool) -> list[Piece]:
        held, start = self._held, 0
        if not held:
            return []
        while match := MARK.search(held, start):
            self._add(held[start : match.start()])
            start = match.start()
            end = self._read_mark(match, is_end=is_end)
            if end is None:
                break
            start = end
        else:
            end = start_of_stops(held, start, is_end=is_end, is_struck=self._is_struck)
            if not is_end:
                end = min(end, _start_of_partial_mark(held, start))
            self._add(held[start:end])
            start = len(held) if is_end else end
        self._held = held[start:]
        pieces, self._pieces = self._pieces, []
        return pieces

    def _read_mark(self, match: re.Match[str], *, is_end: bool) -> int | None:
        """Apply a mark, or add it as text. Return the index of the text after it; `None` if later text decides."""
        mark, rest = match[0].lower(), match.string[match.end() : match.end() + LOOKAHEAD_CHARS]
        is_quoted: bool | None = self._is_text(mark)
        if not is_quoted and not self._is_reasoning and self._state not in _BLANK:
            is_quoted = self._code.quotes_mark(rest, is_whole=is_end or len(rest) == LOOKAHEAD_CHARS)
        if is_quoted is None:
            return None
        if is_quoted:
            self._add(match[0])
        elif match["turn"]:
            self._begin_message("", "")
        elif mark in HEADERS:
            return self._read_header(match, is_end=is_end)
        elif mark in ANSWERS:
            self._answer_end, self._drops_line_ends = ANSWERS[mark], self._drops_line_ends or self._state in _BLANK
        elif mark in THOUGHTS or mark in CLOSES:
            self._apply_tag(match[0], close=THOUGHTS.get(mark, ""))
        elif mark in ENDS and self._is_reasoning and self._state is _State.SETTLED:
            self._change_kind(is_reasoning=False)
        return match.end()

    def _is_text(self, mark: str) -> bool:
        """Return whether a mark is a tag that has no meaning here."""
        if self._state is _State.TAGGED:
            return mark in TAGS and mark != self._close
        if mark in ANSWERS:
            return not mark.startswith("<|") and self._state is not _State.CLOSED
        if mark in ANSWER_ENDS:
            return mark != self._answer_end
        return self._state is _State.SETTLED and mark in TAGS

    def _apply_tag(self, tag: str, *, close: str) -> None:
        """Apply a tag of reasoning. `close`: the closing tag if `tag` is an opening tag; otherwise empty."""
        is_open, self._close = bool(close), close
        is_unsure = self._state is _State.UNSURE
        if is_open and is_unsure:
            # Text precedes the opening tag. The tag is text, and so is its closing tag.
            self._state = _State.SETTLED
            self._add(tag)
            return
        self._state = _State.TAGGED if is_open else _State.CLOSED
        self._blank, self._is_new_message = "", is_open
        if is_unsure:
            self._pieces.append(TextBecameThought())
            self._last_kind = True
        self._change_kind(is_reasoning=self._state is _State.TAGGED)

    def _read_header(self, match: re.Match[str], *, is_end: bool) -> int | None:
        """Drop a mark and its header, such as `<|channel|>analysis`.

        Return the index of the text after it; `None` if the header may continue in the next chunk.
        """
        text, start = match.string, match.end()
        words = HEADER_WORDS.match(text, start)
        assert words is not None
        end = words.end()
        following = text[end : end + LONGEST_MARK].lower()
        is_followed = following.startswith(AFTER_WORDS)
        if not (is_followed or is_end) and any(mark.startswith(following) for mark in AFTER_WORDS):
            return None
        if not is_followed or not HEADER_BEGINNING.match(words[0]):
            words = KNOWN_WORDS.match(text, start, end)
            assert words is not None
        if words.end() == end or words[0]:
            self._begin_message(match[0].lower(), words[0])
        return words.end()

    def _begin_message(self, mark: str, words: str) -> None:
        self.has_call = self.has_call or "to=" in words
        self._state, self._blank, self._is_new_message = _State.SETTLED, "", True
        if mark != CONSTRAIN:
            self._change_kind(is_reasoning=mark == CHANNEL and words.split()[:1] == ["analysis"])

    def _change_kind(self, *, is_reasoning: bool) -> None:
        self._is_reasoning = is_reasoning
        self._drops_line_ends = True
        self._code = CodePosition()

    def _add(self, text: str) -> None:
        if self._drops_line_ends:
            text = text.lstrip("\r\n")
            self._drops_line_ends = not text
        if self._state in _BLANK:
            self._blank += text
            if len(self._blank) < WHITE_SPACE_LIMIT and not self._blank.strip():
                return
            text, self._blank, self._state = self._blank, "", _BLANK[self._state]
        if not text:
            return
        if not self._is_reasoning:
            self._code.feed(text)
            self._is_struck = self._is_struck or "<s>" in text
        if self._is_new_message and self._last_kind is self._is_reasoning:
            text = f"\n\n{text}"
        self._is_new_message, self._last_kind = False, self._is_reasoning
        self._pieces.append(TextDelta(text, is_reasoning=self._is_reasoning))


def _start_of_partial_mark(text: str, start: int) -> int:
    """Return the index at which a mark may have begun at the end of a text; its length if there is none."""
    partial = PARTIAL_MARK.search(text, max(start, len(text) - LONGEST_MARK + 1))
    return partial.start() if partial else len(text)
