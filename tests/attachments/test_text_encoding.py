"""Text in the encodings of all regions is read right, and what is guessed, bad or ignored is known."""

from __future__ import annotations

import codecs
import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attachments import piecewise_decoding
from attachments.code_files import as_code_reads
from attachments.encoding_names import encoding_name
from attachments.text_encoding import NotText, TextEncoding, detect_encoding, to_utf8
from tests.time_growth import GROWTH_LIMIT, time_growth

HOSTILE_BYTES = st.binary(max_size=12) | st.lists(st.sampled_from(list(b"\x81\x30\xff\xe3\xa1\xc3\nA\x8e\xf0"))).map(
    bytes
)
CHINESE = "城市,销售额,备注\n北京,1000.5,春季\n上海,1037.5,镕基\n广州,1074.5,生僻字㐂\n"
TAIWANESE = "城市,銷售額,備註\n臺北,1000.5,春季\n高雄,1037.5,缺貨\n"
JAPANESE = "都市,売上,備考\n東京,1000.5,在庫なし\n大阪,1037.5,返品済み\n"
KOREAN = "도시,매출,비고\n서울,1000.5,정상\n부산,1037.5,품절\n"
RUSSIAN = "Город;Продажи;Дата\nКазань;500;01.03.2024\nОмск;509;02.03.2024\n"
UKRAINIAN = "Місто;Продажі;Дата\nКиїв;500;01.03.2024\nЇжаківка;509;02.03.2024\n"
POLISH = "Miasto;Sprzedaż;Uwagi\nŁódź;1,5;źródło\nCzęstochowa;2,5;zwrot\nŻywiec;3,5;święta\n"
CZECH = "Město;Prodej;Poznámka\nPlzeň;1,5;rýže\nTřebíč;2,5;mléko\nŽďár;3,5;kůň\n"
HUNGARIAN = "Település;Összeg;Megjegyzés\nGyőr;338;később fizetve\nKőszeg;1124;első féléves főösszeg\n"
GERMAN = "Artikel;Preis;Größe\n„Müsli“ – fein;3,50 €;groß\nBrötchen;0,40 €;übergroß\n"
GERMAN_OF_DOS = "Artikel;Größe\nMüsli;groß\nBrötchen;übergroß\n"
FRENCH = "Ville;Prénom\nBesançon;Hélène\nSaint-Étienne;François\nNîmes;Noël\n"
TEXTS = [
    *[(CHINESE, codec) for codec in ("gb18030", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")],
    *[(CHINESE, codec) for codec in ("utf-32", "utf-32-le", "utf-32-be")],
    (TAIWANESE, "cp950"),
    *[(JAPANESE, codec) for codec in ("cp932", "euc_jp")],
    (KOREAN, "cp949"),
    *[(RUSSIAN, codec) for codec in ("cp1251", "koi8-r", "cp866", "utf-16-le", "utf-16-be")],
    (UKRAINIAN, "cp1251"),
    (UKRAINIAN, "koi8-u"),
    *[(POLISH, codec) for codec in ("cp1250", "iso8859-2")],
    (CZECH, "cp1250"),
    ("Město;Částka\nPlzeň;120\nTřebíč;80\nŽďár;95\n" * 5, "cp1250"),
    (HUNGARIAN * 9, "cp1250"),
    *[(GERMAN, codec) for codec in ("cp1252", "utf-8", "utf-16-le", "utf-32-be")],
    (FRENCH, "cp1252"),
    ("DateTime,Bid,Ask\n2024-01-01 10:00,1.1,1.2\n", "utf-16-be"),
    ("上海,北京\n1,2\n3,4\n", "utf-16-le"),
    *[(text, "cp850") for text in (GERMAN_OF_DOS, FRENCH, "Población;n\nMálaga;1\nA Coruña;2\n")],
    (POLISH, "cp852"),
    *[(text.replace("\n", "\r"), "mac-roman") for text in (GERMAN_OF_DOS, FRENCH)],
    (FRENCH, "mac-roman"),
]


@pytest.mark.parametrize(("text", "codec"), TEXTS)
def test_encoding_of_texts_in_many_languages_is_detected_correctly(text: str, codec: str) -> None:
    data = text.encode(codec)
    encoding = detect_encoding(data)
    assert (encoding.codec, encoding.bad_count) == (codec, 0)
    assert encoding.is_guess == (not codec.startswith("utf"))
    assert to_utf8(data).decode() == text


@pytest.mark.parametrize(
    "text", ["naïve", "Café", "£ 5", "BÆK", "Nataša", "5 µm", "21 °C", "3 m²", "± 2", "São Paulo", "Ærø"]
)
def test_single_non_ascii_word_or_symbol_in_an_english_table_is_decoded_as_windows_1252(text: str) -> None:
    table = f"name,value\nA,1\n{text},2\nB,3\n"
    assert to_utf8(table.encode("cp1252")).decode() == table


@pytest.mark.parametrize(
    "data",
    [
        array("H", range(40, 250)).tobytes() * 50,
        array("i", range(40, 50_000)).tobytes(),
        codecs.BOM_UTF16_LE + random.Random(1).randbytes(20_000),
    ],
)
def test_arrays_of_binary_numbers_and_random_bytes_are_refused_as_not_text(data: bytes) -> None:
    with pytest.raises(NotText):
        detect_encoding(data)


def test_code_reads_a_csv_file_as_utf_8_and_an_xml_file_unchanged() -> None:
    document = '<?xml version="1.0" encoding="ISO-8859-2"?><a>Łódź</a>'.encode("iso8859-2")
    assert as_code_reads("Sprzedaż.CSV", POLISH.encode("cp1250")).decode() == POLISH
    assert as_code_reads("miasta.xml", document) == document


def test_guessed_encoding_comes_with_a_list_of_other_possible_encodings() -> None:
    encoding = detect_encoding(RUSSIAN.encode("koi8-r"))
    assert [encoding.name, *map(encoding_name, encoding.candidates)] == [
        "KOI8-R",
        "Windows-1251",
        "CP866",
        "ISO 8859-5",
    ]


@pytest.mark.parametrize("text", [CHINESE, GERMAN, RUSSIAN])
def test_one_bad_byte_in_utf_8_changes_one_character(text: str) -> None:
    start, end = text[:30].encode(), text[30:].encode()
    encoding = detect_encoding(start + b"\xe4" + end)
    assert encoding == TextEncoding("utf-8", bad_count=1, first_bad=len(start))
    assert to_utf8(start + b"\xe4" + end).decode() == f"{text[:30]}\ufffd{text[30:]}"


def test_replacement_character_that_the_text_contains_is_not_counted_as_a_bad_byte() -> None:
    assert detect_encoding(f"{GERMAN}\ufffd".encode() + b"\xe4").bad_count == 1


@pytest.mark.parametrize(
    ("data", "read", "encoding"),
    [
        (b"item,qty\nnut,5\n\x1a", "item,qty\nnut,5\n", TextEncoding("utf-8", has_end_mark=True)),
        (b"item,qty\nnut,5\n\x1a\0\0", "item,qty\nnut,5\n", TextEncoding("utf-8", nul_count=2, has_end_mark=True)),
        (b"item,qty\nnut,5\n" + bytes(999), "item,qty\nnut,5\n", TextEncoding("utf-8", nul_count=999)),
        (b"item,qty\nn\0ut,5\n", "item,qty\nnut,5\n", TextEncoding("utf-8", nul_count=1)),
        (b"item,qty\nn\0ut,5\nb\0olt,6\n", "item,qty\nnut,5\nbolt,6\n", TextEncoding("utf-8", nul_count=2)),
        (b"item,qty\r\nnut,5\r\n\x1a\r\n", "item,qty\r\nnut,5\r\n\r\n", TextEncoding("utf-8", has_end_mark=True)),
        (b"item,qty\nn\1ut,5\n", "item,qty\nn\1ut,5\n", TextEncoding("utf-8", control_count=1)),
        (b"nut,5\n" * 9 + "nut,5\n".encode("utf-16-le"), "nut,5\n" * 10, TextEncoding("utf-8", nul_count=6)),
        ("a,ä\n1,2\n\x1a".encode("utf-16"), "a,ä\n1,2\n", TextEncoding("utf-16", has_end_mark=True)),
    ],
)
def test_nul_bytes_and_end_marks_are_removed_and_other_control_characters_counted(
    data: bytes, read: str, encoding: TextEncoding
) -> None:
    assert detect_encoding(data) == encoding
    assert to_utf8(data).decode() == read


@pytest.mark.parametrize(
    ("data", "byte", "offset"),
    [
        (b"GIF89a\x01\0\x01\0", 1, 6),
        (b"a,b\n" * 1000 + b"\0\1" * 9, 0, 4000),
        ("a,b\n\1\2\3\4".encode("utf-16-le"), 1, 8),
        (b"\0\0\0", 0, 0),
    ],
)
def test_error_for_binary_data_has_byte_and_position_of_the_first_control_character(
    data: bytes, byte: int, offset: int
) -> None:
    with pytest.raises(NotText) as refusal:
        detect_encoding(data)
    assert (refusal.value.byte, refusal.value.offset) == (byte, offset)


@pytest.mark.parametrize("piece", [b"\x80", b"\xe4\n", b"\xe4\xb8\xad\xe4", b"\x00a", b"\xd3\xde,"])
def test_time_to_convert_any_bytes_to_utf_8_is_linear(piece: bytes) -> None:
    def read(length: int) -> None:
        to_utf8(piece * (length // len(piece)) + b"\xe4")

    assert time_growth(read, 4_000_000) < GROWTH_LIMIT


@given(st.binary(max_size=200) | st.text(max_size=80).map(lambda text: text.encode("utf-16-le", "replace")))
def test_any_bytes_can_be_converted_to_utf_8(data: bytes) -> None:
    to_utf8(data).decode()


@pytest.mark.parametrize(
    "codec", ["utf-8", "gb18030", "cp932", "cp949", "cp950", "euc_jp", "big5hkscs", "cp1252", "cp874"]
)
@given(data=HOSTILE_BYTES)
def test_text_decoded_in_pieces_equals_the_text_decoded_at_once(codec: str, data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piecewise_decoding, "PIECE_BYTES", 3)
        for errors in ("replace", "ignore"):
            assert piecewise_decoding.decode(data, codec, errors) == data.decode(codec, errors)
