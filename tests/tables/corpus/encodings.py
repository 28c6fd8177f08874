"""Text files in encodings of regions, with and without a byte order mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.tables.corpus.case import Case, label, text_of
from tests.tables.corpus.values import header_of, rows_of

KIND = "encoding"
# The codec, the languages written in it, and words of which a note on the encoding has one.
REGIONAL = (
    ("cp1252", ("de", "fr", "es"), ("125", "8859", "latin", "encod")),
    ("iso8859-15", ("fr",), ("125", "8859", "latin", "encod")),
    ("cp1250", ("pl", "cs", "hu"), ("1250", "encod")),
    ("iso8859-2", ("pl", "cs"), ("8859-2", "latin", "encod")),
    ("cp1251", ("ru", "uk"), ("1251", "encod")),
    ("koi8-r", ("ru",), ("koi8", "encod")),
    ("cp866", ("ru",), ("866", "encod")),
    ("gb18030", ("zh-cn",), ("gb", "encod")),
    ("big5", ("zh-tw",), ("big5", "950", "encod")),
    ("shift_jis", ("ja",), ("shift", "932", "encod")),
    ("euc-jp", ("ja",), ("euc", "encod")),
    ("euc-kr", ("ko",), ("euc", "949", "encod")),
    ("cp1254", ("tr",), ("1254", "encod")),
    ("cp1253", ("el",), ("1253", "encod")),
)
UNICODE = (
    ("utf-8", "de", b"\xef\xbb\xbf"),
    ("utf-16-le", "fr", b"\xff\xfe"),
    ("utf-16-be", "ru", b"\xfe\xff"),
    ("utf-16-le", "en", b""),
    ("utf-16-be", "de", b""),
    ("utf-16-le", "zh-cn", b""),
    ("utf-32-le", "de", b"\xff\xfe\x00\x00"),
    ("utf-32-be", "en", b"\x00\x00\xfe\xff"),
)


def make_encodings() -> Iterator[Case]:
    """Yield files of each encoding in several languages and lengths."""
    for codec, languages, words in REGIONAL:
        for language in languages:
            for count, delimiter in ((3, ","), (14, ";"), (90, ",")):
                # Three short rows rarely hold enough letters to tell an encoding from its neighbours.
                asks = frozenset({"encoding"} if count == 3 else ())
                case = _case(f"{language}-{codec}-{count}.csv", language, count, delimiter, codec)
                yield replace(case, asks=asks, must_note=words)
    for number, (codec, language, mark) in enumerate(UNICODE):
        for count, delimiter, suffix in ((6, ",", "csv"), (60, "\t", "txt")):
            case = _case(f"export-{codec}-{number}-{count}.{suffix}", language, count, delimiter, codec)
            yield replace(
                case, data=mark + case.data, must_note=() if codec == "utf-8" else ("utf", "unicode", "encod")
            )
    yield from _rare_letters()


def _case(name: str, language: str, count: int, delimiter: str, codec: str) -> Case:
    header, rows = header_of(language, count == 90), rows_of(language, count, count == 90)
    text = text_of(header, rows, delimiter, "\r\n")
    if codec.startswith("iso8859"):
        # These encodings have no curly apostrophe.
        text, rows = (
            text.replace("’", "'"),
            [[c.replace("’", "'") if isinstance(c, str) else c for c in row] for row in rows],
        )
    return label(KIND, name, text.encode(codec), header, rows)


def _rare_letters() -> Iterator[Case]:
    """Yield UTF-8 with one byte of another encoding, and files whose first letter beyond ASCII comes late."""
    for language, count in (("de", 25), ("ru", 120), ("zh-cn", 40), ("ja", 8)):
        case = _case(f"bad-byte-{language}.csv", language, count, ",", "utf-8")
        lines = case.data.split(b"\r\n")
        lines[count // 2] += b"\xe4"
        words = ("byte", "character", "utf-8", "encod", "replac")
        yield replace(case, data=b"\r\n".join(lines), must_note=words)
    for codec, asks in (("cp1252", frozenset({"encoding"})), ("utf-8", frozenset[str]())):
        header, letters = header_of("en"), rows_of("en", 380)
        letters[369][0] = "Café Zürich"
        yield replace(
            label(KIND, f"late-{codec}.csv", text_of(header, letters).encode(codec), header, letters), asks=asks
        )
