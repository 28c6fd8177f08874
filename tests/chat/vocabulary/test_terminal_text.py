"""What a terminal shows of a text that moves its cursor."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.vocabulary.terminal_text import LINES_LIMIT, Terminal, has_controls, terminal_text
from tests.time_growth import GROWTH_LIMIT, time_growth

BAR = "".join(f"\rtraining: {step:3d}% |{'#' * (step // 5):<20}| {step}/100" for step in range(1, 101))
NESTED = "".join(f"\router {outer}/2\n\rinner {inner}/3\x1b[A" for outer in (1, 2) for inner in (1, 2, 3))
KERAS = "".join("\b" * 20 + "\r" + f"{step}/3 [{'=' * step:.<3}]" for step in (1, 2, 3))
PIP = "\r\x1b[2K   \x1b[90m━━━━\x1b[0m 1/4 kB\r\x1b[2K   \x1b[32m━━━━\x1b[0m 4/4 kB\n"
RICH = "first 10%\nsecond 5%\r\x1b[2K\x1b[1A\x1b[2Kfirst 100%\nsecond 100%\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\n", "a\nb\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        (f"{BAR}\nloss 0.25\n", "training: 100% |####################| 100/100\nloss 0.25\n"),
        (f"{NESTED}\n\n", "outer 2/2\ninner 3/3\n"),
        (KERAS, "3/3 [===]"),
        (PIP, "   ━━━━ 4/4 kB\n"),
        (RICH, "first 100%\nsecond 100%\n"),
        ("longer\rAB", "ABnger"),
        ("abc\b\bX", "aXc"),
        ("abc\r\x1b[Kd", "d"),
        ("abc\x1b[2D\x1b[K", "a"),
        ("abcd\x1b[1K", "    "),
        ("a\nb\nc\x1b[2F\x1b[Jd", "d"),
        ("a\nb\x1b[Ec", "a\nc"),
        ("abc\x1b[2Gx\x1b[2Cy", "axc y"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("open\x1b[3", "open\x1b[3"),
    ],
)
def test_terminal_text_equals_what_a_terminal_shows(text: str, shown: str) -> None:
    assert terminal_text(text) == shown


def test_cursor_codes_can_change_only_the_last_lines() -> None:
    text = "".join(f"{number}\n" for number in range(2 * LINES_LIMIT))
    lines = terminal_text(f"{text}\x1b[999Ax").splitlines()
    assert [line for line in lines if "x" in line] == ["x1"]
    assert len(lines) == 2 * LINES_LIMIT


PIECES = st.sampled_from(
    [
        "a",
        "line\n",
        "\n",
        "\r",
        "\b",
        "\r\n",
        "\x1b[A",
        "\x1b[2K",
        "\x1b[K",
        "\x1b[J",
        "\x1b",
        "[3C",
        "\x1b[31m",
        "\x1b[5G",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.data())
def test_text_written_in_pieces_is_shown_like_the_whole_text(text: str, data: st.DataObject) -> None:
    terminal = Terminal()
    shown = ""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    for start, end in pairwise([0, *cuts, len(text)]):
        appended = terminal.write(text[start:end])
        shown = terminal.text if appended is None else shown + appended
        assert shown == terminal.text
    assert shown + terminal.open_code == terminal_text(text)
    assert has_controls(text) or shown == text


@pytest.mark.parametrize(
    "unit",
    ["a line\n", ".", "50 %\r", "a\b", "\x1b[200Cx", "\x1b[2Kx", "\x1b[1K", "\x1b[A\n\n", "\x1b]", "\x1b[A\x1b[Jx\n\n"],
)
def test_time_is_linear_in_the_length_of_the_text(unit: str) -> None:
    assert time_growth(lambda length: terminal_text(unit * (length // len(unit))), 400_000) < GROWTH_LIMIT
    assert len(terminal_text(unit * 20_000)) < 300_000
