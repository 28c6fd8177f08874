"""Finds the files that a model's text holds as base64 `data:` URIs, while the text arrives. Pure.

Gateways write pictures as `![image](data:image/png;base64,…)`, as an `<img>` tag, or as the URI alone. The file is cut
out of the text with its Markdown or HTML and the signs of emphasis around it; all other text stays. Text that may be
the beginning of a file is held back until more has arrived, so that no base64 is ever shown.

A picture in a list, a table, a quote, a heading, a link or a longer emphasis would cut that in two. Its description
replaces it, and the file follows the block.

Inside code, the text stays as its author wrote it if its base64 has at most `CODE_LIMIT_CHARS`. Longer base64 is
replaced by words, and the file follows the code.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from django.utils.translation import gettext

from chat.providers.openai_compatible.code_position import CodePosition
from chat.providers.openai_compatible.line_position import LinePosition
from chat.vocabulary.data_uris import SHORT_URI_CHARS, words_for

CODE_LIMIT_CHARS = 4_096
"""Maximum length of base64 that stays in code, such as an icon in a page that the model writes."""
PAYLOAD_LIMIT_CHARS = 32 * 1024 * 1024
"""Maximum length of base64 that is kept. Of longer base64, only the length is kept."""
FILES_LIMIT = 100
"""Maximum number of `data:` URIs of one response that are read. Later ones are replaced by words."""
WRAPPED_CHARS = frozenset({60, 64, 72, 76, 80, 100, 120, 128})
"""Lengths of the lines of base64 that is wrapped. A line of another length is the last one."""

_HEADER = (
    r"(?P<header>data:(?P<type>[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80})?"
    r"(?>(?:;[a-z0-9._-]{1,40}=[^;,\s\"'()<>]{0,80}){0,4});base64,)"
)
_MARKDOWN = r"!\[(?P<label>(?>(?:[^\]\\\n!]|!(?!\[)|\\.){0,300}))\]\(\s{0,20}+<?"
_HTML = r"<img\b[^<>]{0,300}?\bsrc\s{0,5}+=\s{0,5}+[\"']?"
_EMPHASIS = r"[*_~]{1,3}"
OPENING = re.compile(rf"(?P<emphasis>{_EMPHASIS})?(?:{_MARKDOWN}|(?P<html>{_HTML}))?{_HEADER}", re.IGNORECASE)
"""Matches the text before the base64, from the emphasis to the comma."""
_OPEN_HEADER = r"d(?:a(?:t(?:a(?::[^,\s\"'()<>]{0,500}+)?)?)?)?"
OPEN_END = re.compile(
    rf"(?:{_EMPHASIS})?(?:"
    r"!(?:\[(?>(?:[^\]\\\n!]|!(?!\[)|\\.){0,300})(?:!|\\|\](?:\(\s{0,20}+<?"
    rf"(?:{_OPEN_HEADER})?)?)?)?"
    r"|<(?:i(?:m(?:g(?:\s[^<>]{0,900}+)?)?)?)?"
    rf"|{_OPEN_HEADER}|(?<=[*_~]))\Z",
    re.IGNORECASE,
)
"""Matches the end of a text that may be the beginning of an opening."""
BASE64 = re.compile(r"[A-Za-z0-9+/%_-]*+")
PADDING = re.compile(r"=*+")
SPACE = re.compile(r"\s*+")
LINE_END = re.compile(r"\r?\n")
_NO_BASE64 = r"""[^\s()<>"']{0,200}+"""
MARKDOWN_END = re.compile(_NO_BASE64 + r"""\s{0,20}+>?\s{0,20}+(?:"[^"\n]{0,300}+"|'[^'\n]{0,300}+')?\s{0,20}+\)""")
OPEN_MARKDOWN_END = re.compile(
    _NO_BASE64 + r"""\s{0,20}+>?\s{0,20}+(?:"[^"\n]{0,300}+"?|'[^'\n]{0,300}+'?)?\s{0,20}+\Z"""
)
HTML_END = re.compile(r"[^<>]{0,300}+>")
OPEN_HTML_END = re.compile(r"[^<>]{0,300}+\Z")


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file that was in a text."""

    mime_type: str
    """The type that the text names; empty if it names none."""
    payload: str
    """The base64, perhaps wrapped or with `%` escapes. Empty if longer than `PAYLOAD_LIMIT_CHARS`."""
    chars: int
    """Length of the base64."""
    label: str = ""
    """The description that the text gives to a picture."""
    source: str = ""
    """The text as written, which stays if the file is no picture. Empty if it must not stay."""
    is_from_code: bool = False
    """Whether the file was in code, where words have replaced it."""
    follows_block: bool = False
    """Whether the file was within a block, where its description has replaced it."""


Piece: TypeAlias = str | EmbeddedFile


@dataclass(slots=True)
class _OpenFile:
    """A file whose end has not arrived."""

    opening: str
    header: str
    """The end of the opening, from `data:` to the comma."""
    mime_type: str
    label: str
    is_html: bool
    emphasis: str
    """The signs of emphasis directly before the file. They are dropped if the same signs follow it directly."""
    is_in_code: bool
    is_within: bool
    """Whether the file is in a block that a picture would cut in two."""
    is_kept: bool
    """Whether the base64 of the file is kept."""
    pieces: list[str] = field(default_factory=list)
    chars: int = 0
    line_chars: int = 0
    """Length of the last line of the base64."""
    is_padded: bool = False

    def read(self, text: str, start: int) -> int:
        """Read the base64 that begins at `start`, and return the index of its end."""
        if not self.chars and not self.is_bare:
            start = _end_of(SPACE, text, start)
        end = start if self.is_padded else _end_of(BASE64, text, start)
        padded_end = _end_of(PADDING, text, end)
        self.is_padded = self.is_padded or padded_end > end
        self.line_chars += padded_end - start
        self._keep(text[start:padded_end])
        return padded_end

    def begin_line(self, line_end: str) -> None:
        """Begin the next line of wrapped base64."""
        self.line_chars = 0
        self._keep(line_end)

    def _keep(self, piece: str) -> None:
        self.chars += len(piece)
        if self.chars > PAYLOAD_LIMIT_CHARS or not self.is_kept:
            self.pieces.clear()
        elif piece:
            self.pieces.append(piece)

    @property
    def may_wrap(self) -> bool:
        """Whether the base64 may continue after a line end."""
        return not self.is_padded and self.line_chars in WRAPPED_CHARS

    @property
    def is_bare(self) -> bool:
        """Whether the URI is written alone, without Markdown or HTML."""
        return self.opening == self.emphasis + self.header

    @property
    def is_short(self) -> bool:
        """Whether the URI may stay in the text."""
        return self.is_bare and self.chars < SHORT_URI_CHARS

    def file(self, *, end: str = "", follows_block: bool = False) -> EmbeddedFile:
        """Return the file. `end`: text after the base64 that belongs to the file."""
        payload = "".join(self.pieces)
        source = f"{self.opening}{payload}{end}" if self.is_short else ""
        return EmbeddedFile(self.mime_type, payload, self.chars, self.label, source, self.is_in_code, follows_block)


class TextPictures:
    """Divides text that arrives in pieces into text and embedded files."""

    def __init__(self) -> None:
        self._code = CodePosition()
        self._held = ""
        """The end of the text so far, which may belong to a file."""
        self._open: _OpenFile | None = None
        self._after_code: list[EmbeddedFile] = []
        """Files that words have replaced in code that has not ended."""
        self._after_block: list[EmbeddedFile] = []
        """Files that descriptions have replaced in a block that has not ended."""
        self._position = LinePosition()
        self._is_closed = False
        self._count = 0

    def feed(self, text: str) -> Iterator[Piece]:
        """Add text, and yield the pieces that later text cannot change."""
        text, self._held = self._held + text, ""
        position = 0
        while position < len(text):
            if self._open is not None:
                position = yield from self._read_file(self._open, text, position)
            else:
                position = yield from self._read_text(text, position)

    def close(self) -> Iterator[Piece]:
        """Yield the rest: the text that was held back, and a file that has no end."""
        self._is_closed = True
        yield from self.feed("")
        if self._open is not None:
            yield from self._end_file(self._open)
        held, self._held = self._held, ""
        yield from self._emit(held)
        yield from self._end_code()
        yield from self._end_block()
        self._is_closed = False

    def _read_text(self, text: str, start: int) -> Generator[Piece, None, int]:
        """Yield the text up to the next file, and return the index of its base64."""
        opening = OPENING.search(text, start)
        if opening is None:
            open_end = OPEN_END.search(text, start)
            end = open_end.start() if open_end else len(text)
            yield from self._emit(text[start:end])
            self._held = text[end:]
            return len(text)
        yield from self._emit(text[start : opening.start()])
        self._count += 1
        self._open = _OpenFile(
            opening[0],
            opening["header"],
            (opening["type"] or "").lower(),
            opening["label"] or "",
            is_html=opening["html"] is not None,
            emphasis=opening["emphasis"] or "",
            is_in_code=self._code.is_in_code,
            is_within=self._position.is_within,
            is_kept=self._count <= FILES_LIMIT,
        )
        return opening.end()

    def _read_file(self, file: _OpenFile, text: str, start: int) -> Generator[Piece, None, int]:
        """Read the base64 of a file and the text that belongs to it. Return the index of the text after it."""
        position = file.read(text, start)
        while file.may_wrap and (line_end := LINE_END.match(text, position)):
            if line_end.end() == len(text):
                self._held = text[position:]
                return len(text)
            if _end_of(BASE64, text, line_end.end()) == line_end.end():
                break
            file.begin_line(line_end[0])
            position = file.read(text, line_end.end())
        if not self._is_closed and (position == len(text) or (file.may_wrap and text[position:] == "\r")):
            self._held = text[position:]
            return len(text)
        end = position
        if not file.is_bare:
            whole, partial = (HTML_END, OPEN_HTML_END) if file.is_html else (MARKDOWN_END, OPEN_MARKDOWN_END)
            end = _end_of(whole, text, position)
            if end == position and partial.match(text, position) and not self._is_closed:
                self._held = text[position:]
                return len(text)
        after = text[end : end + len(file.emphasis)]
        if len(after) < len(file.emphasis) and file.emphasis.startswith(after) and not self._is_closed:
            self._held = text[position:]
            return len(text)
        yield from self._end_file(file, text[position:end], after)
        return end + (len(after) if after == file.emphasis and not file.is_in_code else 0)

    def _end_file(self, file: _OpenFile, end: str = "", after: str = "") -> Iterator[Piece]:
        """Yield a file or its replacement. `after`: as many characters after it as the emphasis before it has."""
        self._open = None
        if file.is_in_code:
            yield from self._end_file_in_code(file, end)
        elif after == file.emphasis and (not file.is_within or file.is_short):
            yield file.file(end=end + after)
        else:
            self._after_block.append(file.file(follows_block=True))
            marks = after if after == file.emphasis else ""
            yield from self._emit(f"{file.emphasis}{file.label or gettext('Image')}{marks}")

    def _end_file_in_code(self, file: _OpenFile, end: str) -> Iterator[Piece]:
        if file.chars <= CODE_LIMIT_CHARS:
            yield from self._emit(f"{file.opening}{''.join(file.pieces)}{end}")
        else:
            words = words_for(file.mime_type, file.chars)
            self._after_code.append(file.file())
            yield from self._emit(f"{file.opening.removesuffix(file.header)}{words}{end}")

    def _emit(self, text: str) -> Iterator[Piece]:
        """Yield a text, files of code after the line in which the code ends, and files of a block after the block."""
        while text and (self._after_code or self._after_block):
            line, line_end, text = text.partition("\n")
            yield line + line_end
            self._read(line + line_end)
            if line_end and not self._code.is_in_code:
                yield from self._end_code()
                if self._position.is_after_blank:
                    yield from self._end_block()
        if text:
            self._read(text)
            yield text

    def _read(self, text: str) -> None:
        self._code.feed(text)
        self._position.feed(text)

    def _end_block(self) -> Iterator[Piece]:
        files, self._after_block = self._after_block, []
        yield from files

    def _end_code(self) -> Iterator[Piece]:
        files, self._after_code = self._after_code, []
        yield from files


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of the match that begins at `start`; `start` if there is none."""
    match = pattern.match(text, start)
    return match.end() if match else start
