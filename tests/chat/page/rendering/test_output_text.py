"""Streamed output of code: the HTML does not depend on the pieces in which the output arrives."""

from __future__ import annotations

from html import unescape
from itertools import pairwise

import pytest
from django.utils.html import escape
from django.utils.safestring import SafeString
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.page.rendering.output_text import OutputStream, split_output
from chat.page.rendering.stream import TextUpdate
from chat.vocabulary.escape_codes import CODE_LIMIT_CHARS
from chat.vocabulary.terminal_text import has_controls, terminal_text
from tests.time_growth import GROWTH_LIMIT, time_growth

PIECES = [
    *("a", "line\n", "\n", "\r", "\r\n", " ", "\t", "50 %\r", "<b>", "&amp;", "\u2028", "é", "😀"),
    *(
        "\x1b",
        "\x1b[",
        "\x1b[3",
        "1m",
        "m",
        "\x1b[0m",
        "\x9b",
        "\x1b]",
        "\x1b]8;;",
        "\x07",
        "\\",
        "\x1b(",
        "\x1b M",
        "0;",
    ),
]
outputs = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@st.composite
def outputs_with_cuts(draw: st.DrawFn) -> tuple[str, list[int]]:
    output = draw(outputs)
    return output, draw(st.lists(st.integers(0, len(output)), max_size=12))


def shown(output: str) -> str:
    """Return an output as a page shows it; empty if no element shows it."""
    text = terminal_text(output)
    return text if text.strip() else ""


def assert_streams_like_whole(output: str, cuts: list[int]) -> None:
    """Check that a page that applies each update shows what a page shows that is loaded after it."""
    stream = OutputStream()
    closed = tail = ""
    for start, end in pairwise([0, *sorted(cuts), len(output)]):
        stream.append(output[start:end])
        update = stream.update()
        closed = update.closed_html if update.is_reset else closed + update.closed_html
        tail = update.tail_html
        assert (closed, tail) == split_output(output[:end]) == stream.closed_and_tail
        assert closed + tail == escape(shown(output[:end]))


@settings(max_examples=500)
@given(outputs_with_cuts())
def test_any_output_in_any_pieces_equals_the_output_rendered_at_once(case: tuple[str, list[int]]) -> None:
    assert_streams_like_whole(*case)


@settings(max_examples=200)
@given(outputs)
def test_output_that_is_cut_at_every_character_equals_the_output_rendered_at_once(output: str) -> None:
    assert_streams_like_whole(output, [*range(len(output))])


@given(st.lists(st.tuples(st.integers(0, 60), outputs.filter(lambda text: not has_controls(text))), max_size=8))
def test_output_that_is_shortened_and_extended_equals_the_output_rendered_at_once(cuts: list[tuple[int, str]]) -> None:
    output = "".join(f"line {number}\n" for number in range(8))
    stream = OutputStream()
    stream.append(output)
    update = stream.update()
    closed = update.closed_html
    for length, text in cuts:
        stream.cut(min(length, len(output)))
        output = output[:length] + text
        stream.append(text)
        update = stream.update()
        closed = update.closed_html if update.is_reset else closed + update.closed_html
        assert (closed, update.tail_html) == split_output(output)


def test_progress_bar_after_a_long_output_sends_only_the_last_lines_again() -> None:
    stream, output = OutputStream(), "line\n" * 1000
    stream.append(output)
    stream.update()
    for percent in range(100):
        stream.cut(len(output))
        stream.append(f"{percent} %")
        assert stream.update() == TextUpdate(False, SafeString(""), SafeString(f"line\nline\n{percent} %"))


def test_tail_of_an_output_is_its_last_lines_or_the_end_of_a_long_line() -> None:
    assert split_output("1\n2\n3\n4") == ("1\n", "2\n3\n4")
    assert split_output("." * 2500) == ("." * 1000, "." * 1500)


def test_unfinished_escape_code_stays_at_the_end_of_the_tail() -> None:
    assert split_output("a\n\x1b[31mb\x1b[3") == ("", "a\nb\x1b[3")


@pytest.mark.parametrize("start", ["\x1b]", "\x1b[", "\x1b "])
def test_escape_code_without_an_end_becomes_text(start: str) -> None:
    filler = "0" if start == "\x1b[" else " "
    longest, longer = start + filler * (CODE_LIMIT_CHARS - 1), start + filler * (CODE_LIMIT_CHARS + 1)
    assert split_output(f"a{longest}") == ("", f"a{longest}")
    assert unescape("".join(split_output(f"a{longer}b"))) == f"a{longer}b"


def test_carriage_return_and_its_line_feed_are_one_line_break_wherever_they_are_cut() -> None:
    assert_streams_like_whole("a\r\x1b[0m\nb\r\rc\r\n\nd", [*range(16)])
    assert split_output("a\r\nb\rc\n") == ("", "a\nc\n")


@pytest.mark.parametrize(
    "unit", ["a line of output\n", ".", "\x1b[31mred\x1b[0m\n", "50 %\r", "\x1b]", "\x1b", "   \n"]
)
def test_time_to_render_a_streamed_output_is_linear(unit: str) -> None:
    def stream(pieces: int) -> None:
        output = OutputStream()
        for _ in range(pieces):
            output.append(unit * 20)
            output.update()

    assert time_growth(stream, 3200) < GROWTH_LIMIT
