"""Decodes text with the encoding that its owner chose, in place of the detected one. Pure."""

from __future__ import annotations

import codecs

from attachments.encoding_names import encoding_name
from attachments.piecewise_decoding import decode
from attachments.text_encoding import CODECS_OF_MARKS, TextEncoding, detect_encoding, find_bad_bytes

#: The encodings that can be chosen, by Python's names. Only encodings of text: Python's codecs also unpack archives.
_CODECS = (
    *("utf-8", "utf-16", "utf-32", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("cp1258", "iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7"),
    *("iso8859-8", "iso8859-9", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16"),
    *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "mac-latin2", "cp437", "cp850", "cp852", "cp855", "cp857"),
    *("cp862", "cp866", "cp874", "gb18030", "cp950", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949"),
)
#: Codecs that are replaced by another one, which decodes more: a person who names `gbk` gets `gb18030`.
_EQUIVALENTS = {
    "ascii": "utf-8",
    "big5": "cp950",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "utf-8-sig": "utf-8",
    **dict.fromkeys(("utf-16-le", "utf-16-be"), "utf-16"),
    **dict.fromkeys(("utf-32-le", "utf-32-be"), "utf-32"),
}
_NAME_LIMIT_CHARACTERS = 40

ENCODINGS = {encoding_name(codec): codec for codec in _CODECS}
"""Python's name of each encoding, by its name for people. The most common encodings come first."""
_BY_LOWER_NAME = {name.lower(): codec for name, codec in ENCODINGS.items()}


def find_encoding(name: str) -> str | None:
    """Return the name for people of a text encoding; None if it is unknown. `name`: this name, or one of Python's."""
    codec = _BY_LOWER_NAME.get(name.strip().lower())
    if codec is None and len(name) <= _NAME_LIMIT_CHARACTERS and name.isascii() and name.isprintable():
        try:
            found = codecs.lookup(name.strip()).name
        except LookupError:
            return None
        found = _EQUIVALENTS.get(found, found)
        codec = found if found in _CODECS else None
    return None if codec is None else encoding_name(codec)


def encoding_of(data: bytes, chosen: str) -> TextEncoding:
    """Return the encoding of the data.

    `chosen`: a name that `find_encoding` returns; if it is empty, detect the encoding.

    Raise NotText if nothing is chosen and the data is not text.
    """
    if not chosen:
        return detect_encoding(data)
    codec = _exact_codec(data, ENCODINGS[chosen])
    bad_count, first_bad = find_bad_bytes(data, codec)
    text = decode(data, codec, "replace")
    return TextEncoding(
        codec=codec,
        bad_count=bad_count,
        first_bad=first_bad,
        nul_count=text.count("\0"),
        has_end_mark="\x1a" in text[len(text.rstrip("\0\x1a\r\n")) :],
    )


def _exact_codec(data: bytes, codec: str) -> str:
    """Return the codec with the byte order of the data: that of its byte order mark, or that of its zero bytes."""
    if codec not in ("utf-8", "utf-16", "utf-32"):
        return codec
    if marked := next((one for mark, one in CODECS_OF_MARKS.items() if data.startswith(mark) and codec in one), None):
        return marked
    if codec == "utf-8":
        return codec
    # ASCII characters have zero bytes, whose positions show the byte order.
    is_big_endian = data[::2].count(0) > data[1::2].count(0) if codec == "utf-16" else data[:1] == b"\0"
    return f"{codec}-be" if is_big_endian else f"{codec}-le"
