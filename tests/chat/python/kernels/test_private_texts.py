"""Texts from a kernel lose the cells of private files before a model gets them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from chat.python.kernels.client import JupyterClient
from chat.python.kernels.in_kernel.private_filter import PrivateFilter
from chat.python.kernels.in_kernel.private_texts import WITHHELD
from chat.python.kernels.kernel_contents import parse_filtered
from tests.chat.python.kernels.cells import chunks
from tests.chat.python.kernels.private_tables import make_canaries
from tests.kernel_service import shared_service

ROWS = [
    f"{name}{number},{region},{30 + number * 7 % 50},{31_000 + number * 1_337},{1950 + number}-0{number % 9 + 1}-17"
    for number, (name, region) in enumerate([("Åsa Müller-Lüdens", "North"), ("Иван Щукин", "M")] * 20)
]
TABLE = "\n".join(["client,region,age,salary,born", *ROWS])
"""40 rows. The first: `Åsa Müller-Lüdens0,North,30,31000,1950-01-17`; the fourth has the salary 35011."""


@pytest.fixture
def without_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that filters a text of code about the table."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(TABLE)
    cells = PrivateFilter()
    cells.add("a.csv", "1")

    def filtered(text: str, known: str = "") -> str:
        return cells.without_cells([text], known, ["a.csv/1"])[0]

    return filtered


@pytest.mark.parametrize(
    ("text", "filtered"),
    [
        ("KeyError: 'Åsa Müller-Lüdens0'", "KeyError: '[text 1]'"),
        ("åsa müller-l...", "[text 1]..."),
        (r'{"client": "\u00c5sa M\u00fcller-L\u00fcdens0"}', '{"client": "[text 1]"}'),
        ("region\nNorth    20\nM        20\ndtype: int64", "region\n[text 1]    20\n[text 2]        20\ndtype: int64"),
        ("M 41.5, and a model of 5 MB", "[text 1] 41.5, and a model of 5 MB"),
        ("the highest salary is 35,011.00 or 3.5011e+04", "the highest salary is [number] or [number]"),
        ("Timestamp('1953-04-17 00:00:00'), 17.04.1953", "Timestamp('[date 1]'), [date 1]"),
        ("April 17, 1953 datetime.date(1953, 4, 17)", "[date 1] [date 1])"),
        ("mean 57070.5, n = 40, 48.2 %, p = 0.031, age 41", "mean 57070.5, n = 40, 48.2 %, p = 0.031, age 41"),
        (
            "0    30\n1    37\n2    44\n3    51\nName: age",
            "0    [number]\n1    [number]\n2    [number]\n3    [number]\nName: age",
        ),
        ("[30, 37, 44, 51, 58]", "[[5 numbers]]"),
        ("\n".join(ROWS[:5]), "[5 lines with rows are shown to the user only]"),
        ("File a.py, line 31000\n31000", "File a.py, line 31000\n[number]"),
    ],
)
def test_private_cells_are_hidden_and_computed_results_are_not(
    without_cells: Callable[..., str], text: str, filtered: str
) -> None:
    assert without_cells(text) == filtered


def test_words_and_numbers_that_also_occur_in_the_code_are_not_hidden(without_cells: Callable[..., str]) -> None:
    assert without_cells("North: 35011", "df[(df.region == 'North') & (df.salary > 35011)]") == "North: 35011"


def test_text_beyond_the_length_limit_is_withheld(without_cells: Callable[..., str]) -> None:
    filtered = without_cells("word\n" * 20_000)
    assert len(filtered) < 66_000
    assert filtered.endswith("[withheld: the rest is too long to be checked for cells]")


@pytest.mark.parametrize("data", [b"%PDF-1.7\n\xff\xfe", b"PK\x03\x04", b"\x00\xff"])
def test_all_texts_are_withheld_if_the_private_file_cannot_be_read(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.bin").write_bytes(data)
    cells = PrivateFilter()
    cells.add("a.bin", "1")
    sentence = "[withheld: the cells of “a.bin” cannot be told from other texts]"
    assert cells.without_cells(["7", ""], "", ["a.bin/1"]) == [sentence, ""]


@pytest.mark.parametrize("answer", [{}, {"texts": "ab"}, {"texts": ["a"]}, {"texts": ["a", "b", "c"]}])
def test_texts_are_withheld_if_the_kernel_returns_a_wrong_number_of_texts(answer: dict[str, object]) -> None:
    assert parse_filtered(answer, 2) == [WITHHELD, WITHHELD]


def test_filtered_texts_keep_their_order_and_invalid_ones_are_withheld() -> None:
    assert parse_filtered({"texts": ["a", 7]}, 2) == ["a", WITHHELD]


async def test_private_cells_are_hidden_even_if_code_has_emptied_their_file() -> None:
    """The filter uses the bytes that were written into the kernel first, not the file as code has changed it."""
    canaries = make_canaries(1)
    client = JupyterClient(shared_service())
    async with client.new_kernel() as kernel:
        await kernel.write_file("c.csv", chunks(canaries.text.encode()))
        assert await kernel.without_cells([], {"c.csv": "1"}) == []
        await kernel.execute("open('c.csv', 'w').close()")
        [filtered, other] = await kernel.without_cells([canaries.text, "0.25"], {"c.csv": "1"})
        assert await kernel.without_cells(["0.25"], {"d.csv": "1"}) == [
            "[withheld: the cells of “d.csv” cannot be told from other texts]"
        ]
    await client.aclose()
    assert len(canaries.leaks(canaries.text)) == canaries.count
    assert (canaries.leaks(filtered), other) == ([], "0.25")


@pytest.mark.parametrize(("width", "gap", "empty_rows"), [(2, [";", ""], 1), (1, [""], 0)])
def test_rows_after_empty_rows_and_blank_lines_are_found_by_their_index(
    width: int, gap: list[str], empty_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pandas counts rows of empty cells, but not blank lines."""
    monkeypatch.chdir(tmp_path)
    chance = Random(1)
    rows = [(f"{chance.randint(20, 80)}", f"{chance.randint(1, 9)}")[:width] for _ in range(60)]
    names, *lines = map(";".join, [("age", "visits")[:width], *rows])
    Path("a.csv").write_text("\n".join([names, *lines[:10], *gap, *lines[10:]]))
    cells = PrivateFilter()
    cells.add("a.csv", "1")
    printed = "\n".join(f"{at + empty_rows}  {'  '.join(rows[at])}" for at in (49, 11, 46, 32, 57, 20, 39, 28))
    assert cells.without_cells([printed], "", ["a.csv/1"]) == ["[8 lines with rows are shown to the user only]"]
