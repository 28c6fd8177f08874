"""Determines the encoding of a text file, and converts text to UTF-8. Pure.

Models read only UTF-8, and the same code should read a file wherever it runs. So the request to a model, the files of
the Python session, the exported notebook and the preview all use `to_utf8`.

Unicode is recognized by its structure. Any other encoding can only be guessed from the frequencies of characters. The
guess is that of Firefox's detector, which was the most accurate for short tables; see decision 28.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from chardetng_py import EncodingDetector

from attachments.encoding_letters import find_older, is_central_european, is_told_by_symbols, read_strictly
from attachments.encoding_names import encoding_name
from attachments.piecewise_decoding import decode

SAMPLE_BYTES = 64 * 1024
"""Approximate number of bytes from which the encoding is guessed."""
LINE_BYTES = 200
"""Maximum number of bytes of a line that the guess reads before the line's first byte above 127."""
CHARACTERS_PER_BAD = 3
"""Minimum number of valid characters above 127 for each bad byte; with fewer, the text is not UTF-8."""
WIDE_CHARACTERS_PER_BAD = 100
"""`CHARACTERS_PER_BAD` of UTF-16 and UTF-32. It is larger, because most pairs of bytes are a valid character."""
ASCII_SHARE = 0.05
"""Minimum share of ASCII (digits, delimiters, line ends) in a text in UTF-16 or UTF-32 without a byte order mark."""
HEAD_BYTES = 512
"""Length of a file's head. Text has at most one control character there, or fewer than lines; binary data has more."""
BYTES_PER_CONTROL = 1_000
"""Text has at most one control character for each so many bytes, plus one."""
SHORT_BYTES = 16
"""Text with fewer bytes than this must have fewer control characters than lines."""
CANDIDATES_LIMIT = 3
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_END_MARKS = b"\0\x1a\r\n"
_FILLING = {0: None, 0x1A: None}
_HIGH_BYTES = bytes(range(128, 256))
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
#: A control character that does not occur in text, or a run of NULs. Text may hold backspace, tab, line ends, form
#: feed, and escape, which begins the colour codes of a terminal.
_CONTROL_CHARACTERS = re.compile(rb"\x00++|[\x01-\x07\x0e-\x1a\x1c-\x1f]")
#: Codecs by byte order mark. UTF-32 comes before UTF-16, because the mark of UTF-32-LE begins with that of UTF-16-LE.
CODECS_OF_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WIDTHS = {"utf-16": 2, "utf-16-le": 2, "utf-16-be": 2, "utf-32": 4, "utf-32-le": 4, "utf-32-be": 4}
"""Bytes of an ASCII character, in the encodings in which it has more than one."""
#: Codecs for labels of the detector that Python does not know, or for which its own codec decodes less.
_CODECS = {
    "Big5": "cp950",
    "EUC-KR": "cp949",
    "GBK": "gb18030",
    # Tables hardly ever have this encoding. The detector reports it for single words such as “naïve”.
    "ISO-8859-4": "cp1252",
    "ISO-8859-8-I": "iso8859-8",
    "Shift_JIS": "cp932",
    "windows-874": "cp874",
}
#: Groups of encodings that are easily confused. In each, the most common encodings come first.
_RIVALS = (
    ("cp1252", "cp1250", "iso8859-2", "cp1254", "cp1257"),
    ("cp1251", "koi8-r", "cp866", "iso8859-5", "koi8-u"),
    ("gb18030", "cp950", "cp932", "cp949", "euc_jp", "big5hkscs"),
    ("cp1253", "iso8859-7"),
    ("cp1255", "iso8859-8", "cp1251"),
    ("cp1256", "iso8859-6"),
    ("cp850", "cp852", "mac-roman", "cp1252"),
)


class NotText(Exception):
    """The data is not text, because it has too many control characters."""

    def __init__(self, byte: int, offset: int) -> None:
        """`byte`: the control character. `offset`: its position in the data, in bytes."""
        super().__init__(f"byte {byte} at {offset:,}")
        self.byte = byte
        self.offset = offset


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """The encoding of a file's text, and the places that it cannot decode."""

    codec: str
    """The encoding, by Python's name."""
    is_guess: bool = False
    """Whether the encoding was guessed, so that another one may be right."""
    candidates: tuple[str, ...] = ()
    """Other codecs that may be right if the codec is a guess, at most `CANDIDATES_LIMIT`. Each reads another text."""
    bad_count: int = 0
    """Number of places whose bytes are invalid in the encoding. Each becomes one `REPLACEMENT`."""
    first_bad: int | None = None
    """Offset in bytes of the first invalid place; None if there is none."""
    nul_count: int = 0
    """Number of NUL characters, with which devices fill up files. They are removed."""
    has_end_mark: bool = False
    """Whether the text ends with Ctrl-Z, which ends a file in DOS. It is removed."""
    control_count: int = 0
    """Number of other control characters that do not occur in text. They are kept."""

    @property
    def name(self) -> str:
        """The name of the encoding for people."""
        return encoding_name(self.codec)

    def to_utf8(self, data: bytes) -> bytes:
        """Return the text of the data, which has this encoding, as UTF-8 without a byte order mark."""
        if self.codec == "utf-8" and not (self.bad_count or self.nul_count or self.has_end_mark):
            return data
        text = decode(data, self.codec, "replace")
        if self.nul_count or self.has_end_mark:
            end = len(text.rstrip(_END_MARKS.decode()))
            text = (text[:end] + text[end:].translate(_FILLING)).replace("\0", "")
        return text.encode()


def to_utf8(data: bytes) -> bytes:
    """Return the text as UTF-8. Line ends and delimiters stay as they are.

    The fields of `TextEncoding` say which characters are removed or replaced. Data that is not text is decoded as
    UTF-8, with replacement characters for invalid bytes.
    """
    try:
        return detect_encoding(data).to_utf8(data)
    except NotText:
        return data.decode(errors="replace").encode()


def detect_encoding(data: bytes) -> TextEncoding:
    """Return the encoding of the data. Raise NotText if it is binary.

    15 MB take less than a second, and 15 MB of hostile bytes about three.
    """
    codec = _marked_codec(data) or _unmarked_wide_codec(data)
    # In `narrow`, each control character is one byte.
    narrow = decode(data, codec, "replace").encode("ascii", "replace") if codec in _WIDTHS and codec else data
    nul_count, control_count = _count_controls(narrow, _WIDTHS.get(codec or "", 1))
    candidates: tuple[str, ...] = ()
    is_guess = codec is None and not _is_unicode(data, "utf-8")
    if is_guess:
        sample = _sample(data)
        codec = _guess_codec(sample)
        candidates = _find_candidates(sample, codec)
    codec = codec or "utf-8"
    bad_count, first_bad = find_bad_bytes(data, codec)
    return TextEncoding(
        codec=codec,
        is_guess=is_guess,
        candidates=candidates,
        bad_count=bad_count,
        first_bad=first_bad,
        nul_count=nul_count,
        has_end_mark=b"\x1a" in narrow[len(narrow.rstrip(_END_MARKS)) :],
        control_count=control_count,
    )


def _marked_codec(data: bytes) -> str | None:
    """Return the codec of a byte order mark, or None if there is none or the data is not valid in this encoding."""
    for mark, codec in CODECS_OF_MARKS.items():
        if data.startswith(mark) and (codec == "utf-8-sig" or _is_unicode(data, codec)):
            return codec
    return None


def _unmarked_wide_codec(data: bytes) -> str | None:
    """Return the codec of UTF-16 or UTF-32 without a byte order mark, or None. The NULs of ASCII characters show it."""
    head = data[:SAMPLE_BYTES].rstrip(b"\0")
    line, _, rest = head.partition(b"\n")
    if b"\0" not in head or (len(line) > 2 and b"\0" not in line + rest[:1] and read_strictly(line, "utf-8")):
        # The first line is not UTF-16: PowerShell adds lines in UTF-16 to files in other encodings.
        return None
    units = data[: len(head) // 4 * 4]
    if len(units) >= SHORT_BYTES:
        for codec in ("utf-32-le", "utf-32-be"):
            if _has_lines(read_strictly(units, codec) or ""):
                return codec
    at_even, at_odd = head[::2].count(0), head[1::2].count(0)
    fewer, more = sorted((at_even, at_odd))
    if more < max(3, len(head) // 40) or fewer * 10 > more:
        return None
    codec = "utf-16-le" if at_odd > at_even else "utf-16-be"
    return codec if _is_unicode(data, codec) and _has_lines(head.decode(codec, "ignore")) else None


def _has_lines(text: str) -> bool:
    """Return whether the text has line ends and ASCII.

    Binary data, such as numbers of two or four bytes, has hardly any.
    """
    return "\n" in text and len(text.encode("ascii", "ignore")) >= ASCII_SHARE * len(text)


def _is_unicode(data: bytes, codec: str) -> bool:
    """Return whether the data is text in an encoding of Unicode, perhaps with a few bad bytes.

    In text of other encodings, few bytes look like UTF-8 by chance.
    """
    bad_count, _ = find_bad_bytes(data, codec)
    if not bad_count:
        return True
    characters = len(decode(data, codec, "ignore"))
    if codec == "utf-8":
        characters -= len(data.translate(None, _HIGH_BYTES))  # ASCII is valid in all encodings
        return characters >= CHARACTERS_PER_BAD * bad_count
    return characters > max(bad_count, WIDE_CHARACTERS_PER_BAD * (bad_count - 1))  # the data may end within a character


def find_bad_bytes(data: bytes, codec: str) -> tuple[int, int | None]:
    """Return the number of places whose bytes are invalid in the encoding, and the offset of the first."""
    try:
        data.decode(codec)
    except UnicodeDecodeError as error:
        # Do not count replacement characters that the text itself contains.
        own_count = decode(data, codec, "ignore").count(REPLACEMENT)
        mark_bytes = len(codecs.BOM_UTF8) if codec == "utf-8-sig" else 0
        return decode(data, codec, "replace").count(REPLACEMENT) - own_count, error.start + mark_bytes
    return 0, None


def _count_controls(data: bytes, width: int) -> tuple[int, int]:
    """Return the number of NULs, and of other control characters that do not occur in text.

    Raise NotText if there are too many (`HEAD_BYTES`, `BYTES_PER_CONTROL`). NULs and Ctrl-Z at the end of the data are
    not limited. `width`: bytes of a character.
    """
    end = len(data.rstrip(_END_MARKS)) or len(data)
    limit = 0 if end < SHORT_BYTES else 1 + end // BYTES_PER_CONTROL
    first: re.Match[bytes] | None = None
    control_count = 0
    lines = data.count(b"\n", 0, HEAD_BYTES)
    for number, match in enumerate(_CONTROL_CHARACTERS.finditer(data, 0, end), 1):
        first = first or match
        is_in_head = match.start() < HEAD_BYTES
        if number >= lines if is_in_head and (number > 1 or not limit) else number > limit:
            raise NotText(first[0][0], first.start() * width)
        control_count += match[0][0] != 0
    return data.count(0), control_count


def _sample(data: bytes) -> bytes:
    """Return about `SAMPLE_BYTES` of lines with bytes above 127, because only these bytes differ between encodings."""
    lines: list[bytes] = []
    size = end = 0
    while size < SAMPLE_BYTES and (match := _HIGH_BYTE.search(data, end)):
        high = match.start()
        # The sample may begin here: on this line, all bytes before `high` are ASCII, so no character is cut.
        begin = max(end, high - LINE_BYTES)
        begin = max(begin, data.rfind(b"\n", begin, high) + 1)
        end = data.find(b"\n", high, high + SAMPLE_BYTES) + 1 or min(len(data), high + SAMPLE_BYTES)
        lines.append(data[begin:end])
        size += end - begin
    return b"".join(lines)


def _guess_codec(sample: bytes) -> str:
    """Return the most probable codec of text that is not Unicode."""
    detector = EncodingDetector()
    detector.feed(sample, last=False)
    label = detector.guess(tld=None, allow_utf8=False)
    codec = codecs.lookup(_CODECS.get(label, label)).name
    if codec == "cp1252" and is_central_european(sample):
        return "cp1250"
    if codec in _RIVALS[0] and (older := find_older(sample)):
        return older
    if is_told_by_symbols(sample, codec):
        return "cp1252"
    if codec == "koi8-u" and read_strictly(sample, codec) == read_strictly(sample, "koi8-r"):
        return "koi8-r"
    if codec == "cp950" and read_strictly(sample, codec) is None and read_strictly(sample, "big5hkscs") is not None:
        return "big5hkscs"
    return codec


def _find_candidates(sample: bytes, codec: str) -> tuple[str, ...]:
    """Return the codecs easily confused with `codec` that read another text from the sample."""
    texts = {read_strictly(sample, codec), None}
    candidates: list[str] = []
    for rival in next((rivals for rivals in _RIVALS if codec in rivals), ()):
        text = read_strictly(sample, rival)
        if text not in texts:
            texts.add(text)
            candidates.append(rival)
    return tuple(candidates[:CANDIDATES_LIMIT])
