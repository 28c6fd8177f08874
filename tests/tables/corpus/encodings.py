"""Text files in encodings of regions, with and without a mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import LANGUAGES, ints, rows_of, table_text

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
    ("utf-8-sig", "de", b""),
    ("utf-16", "en", b""),
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
            for count in (3, 14, 90):
                yield _regional(codec, language, count, words)
    for number, (codec, language, mark) in enumerate(UNICODE):
        for count, delimiter in ((6, ","), (60, "\t")):
            yield _unicode(f"export-{codec}-{number}-{count}", codec, language, mark, count, delimiter)
    yield from _one_bad_byte()
    yield from _late_letters()


def _table(name: str, language: str, count: int, delimiter: str, codec: str, mark: bytes = b"") -> Case:
    rows, header = rows_of(language, count, name), LANGUAGES[language].header
    if codec.startswith("iso8859"):
        rows = [[cell.replace("’", "'") for cell in row] for row in rows]
    suffix = "txt" if delimiter == "\t" else "csv"
    return Case(
        kind="encoding",
        name=f"{name}.{suffix}",
        data=mark + table_text(header, rows, delimiter, "\r\n").encode(codec),
        rows=count,
        names=header,
        types={header[0]: "text", header[1]: "number", header[2]: "text"},
        ranges={header[1]: ints(rows, 1)},
        texts={header[0]: rows[0][0], header[2]: rows[0][2]},
    )


def _regional(codec: str, language: str, count: int, words: tuple[str, ...]) -> Case:
    case = _table(f"{language}-{codec}-{count}", language, count, ";" if count == 14 else ",", codec)
    # Three short rows rarely hold enough letters to tell an encoding from its neighbours.
    asks = frozenset({"encoding"}) if count == 3 else frozenset[str]()
    return replace(case, asks=asks, must_note=words)


def _unicode(name: str, codec: str, language: str, mark: bytes, count: int, delimiter: str) -> Case:
    case = _table(name, language, count, delimiter, codec, mark)
    words = ("utf", "unicode", "encod") if "8" not in codec else ()
    return replace(case, must_note=words)


def _one_bad_byte() -> Iterator[Case]:
    """Yield UTF-8 with a single byte of another encoding: one letter is lost, not the file."""
    for language, count in (("de", 25), ("ru", 120), ("zh-cn", 40), ("ja", 8)):
        case = _table(f"bad-byte-{language}", language, count, ",", "utf-8")
        lines = case.data.split(b"\r\n")
        lines[count // 2] += b"\xe4"
        words = ("byte", "character", "utf-8", "encod", "replac")
        yield replace(case, data=b"\r\n".join(lines), must_note=words)


def _late_letters() -> Iterator[Case]:
    """Yield files whose first letter beyond ASCII stands far behind the start."""
    for codec, language, text in (("cp1252", "en", "Café Zürich"), ("utf-8", "en", "Café Zürich")):
        name = f"late-{codec}"
        case = _table(name, language, 380, ",", "ascii")
        lines = case.data.decode().splitlines()
        lines[370] = f"{text},{lines[370].split(',')[1]},paid in full"
        asks = frozenset({"encoding"}) if codec == "cp1252" else frozenset[str]()
        yield replace(case, data=("\n".join(lines) + "\n").encode(codec), asks=asks)
