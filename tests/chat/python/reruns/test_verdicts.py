"""Comparing two runs of the same code."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from chat.python.reruns.verdicts import (
    HASH_LIMIT_BITS,
    RunOutput,
    Verdict,
    compare,
    difference_hash,
    image_difference,
    text_difference,
)
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, OUTCOME_OK

PLOT = """
import sys, numpy as np
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt
x = np.linspace(0, 6.3, 200)
plt.figure(dpi={dpi})
plt.plot(x, np.{function}(x))
plt.title("A curve")
plt.savefig(sys.stdout.buffer, format="png")
"""


def plot(function: str, dpi: int) -> bytes:
    code = PLOT.format(function=function, dpi=dpi)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "a"),
        ("mean: 0.3333333333", "mean: 0.33333334"),
        ("1.5e-07", "1.5000001e-7"),
        ("sin(pi) = 0.0", "sin(pi) = 1e-17"),
        ("[0.0, 1.5]", "[-1.2e-16, 1.5]"),
        ("-1e-17", "0"),
        ("<A object at 0x7f3a2c1d0e50>", "<A object at 0x7fffdeadbeef>"),
        ("", "\n"),
    ],
)
def test_rounding_differences_and_memory_addresses_are_not_differences(before: str, after: str) -> None:
    assert text_difference(before, after) == ""


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("1000000", "1000001", "Line 1 was “1000000” and is now “1000001”."),
        ("a\nb", "a", "Line 2 is missing: “b”."),
        ("a", "a\nb", "Line 2 is new: “b”."),
        ("x = 1.0", "x = 1.1", "Line 1 was “x = 1.0” and is now “x = 1.1”."),
        ("x  1", "x 1", "Line 1 was “x  1” and is now “x 1”."),
        ("1.5", "-1.5", "Line 1 was “1.5” and is now “-1.5”."),
        ("1e-10", "2e-10", "Line 1 was “1e-10” and is now “2e-10”."),
        ("5", "-5", "Line 1 was “5” and is now “-5”."),
        ("2", "2.0000001", ""),
    ],
)
def test_verdict_describes_the_first_line_that_differs(before: str, after: str, sentence: str) -> None:
    assert text_difference(before, after) == sentence


@given(st.text(max_size=60))
def test_text_does_not_differ_from_itself(text: str) -> None:
    assert text_difference(text, text) == ""


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_whole_numbers_are_compared_exactly(first: int, second: int) -> None:
    assert (text_difference(f"n={first}.", f"n={second}.") == "") == (first == second)


def test_the_same_plot_in_another_size_looks_alike_and_another_curve_does_not() -> None:
    sine, large_sine, cosine = plot("sin", 100), plot("sin", 160), plot("cos", 100)
    assert image_difference([sine], [large_sine]) == ""
    assert image_difference([sine], [cosine]).startswith("Graph 1 looks different: ")
    assert (difference_hash(sine) ^ difference_hash(cosine)).bit_count() > 2 * HASH_LIMIT_BITS


def test_verdict_reports_a_missing_graph() -> None:
    sentence = "There was 1 graph before, and there are 0 graphs now."
    assert image_difference([b"a"], []) == sentence


def png(width: int, height: int) -> bytes:
    """Return the smallest PNG of this size: one color, without a palette."""
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "png")
    return file.getvalue()


@pytest.mark.parametrize(
    "make_hostile",
    [
        lambda: b"\x89PNG\r\n\x1a\n",
        lambda: png(8, 8)[:-20],
        lambda: png(8, 8).replace(b"IDAT", b"IDAX"),
        lambda: png(5_000, 5_000),
        lambda: png(20_000, 20_000),
    ],
    ids=["header-only", "truncated", "no-pixels", "large", "bomb"],
)
def test_broken_or_huge_images_are_reported_as_different_if_their_bytes_differ(
    make_hostile: Callable[[], bytes],
) -> None:
    hostile = make_hostile()
    sentence = "Graph 1 has other bytes, and it is broken or too large to be compared by its look."
    assert image_difference([png(8, 8)], [hostile]) == sentence
    assert image_difference([hostile], [hostile]) == ""


def test_transparent_background_of_an_image_equals_a_white_one() -> None:
    images = []
    for mode, color in (("RGBA", (255, 255, 255, 0)), ("RGB", (255, 255, 255))):
        image = Image.new(mode, (64, 64), color)
        image.paste((0, 0, 0), (10, 20, 30, 40))
        file = io.BytesIO()
        image.save(file, "png")
        images.append(file.getvalue())
    assert image_difference(images[:1], images[1:]) == ""


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((OUTCOME_OK, "1"), (OUTCOME_OK, "1"), Verdict.REPRODUCED),
        ((OUTCOME_OK, "1"), (OUTCOME_OK, "2"), Verdict.DIFFERS),
        ((OUTCOME_OK, "1"), (OUTCOME_FAILED, "Traceback\nKeyError: 1"), Verdict.FAILED),
        ((OUTCOME_FAILED, "a\nKeyError: 1"), (OUTCOME_FAILED, "b\nKeyError: 1"), Verdict.REPRODUCED),
        ((OUTCOME_FAILED, "KeyError: 1"), (OUTCOME_FAILED, "NameError: x"), Verdict.DIFFERS),
        ((OUTCOME_FAILED, "KeyError: 1"), (OUTCOME_OK, "1"), Verdict.DIFFERS),
        ((OUTCOME_DEADLINE_EXCEEDED, ""), (OUTCOME_FAILED, "KeyError: 1"), Verdict.FAILED),
        ((OUTCOME_OK, "1"), (OUTCOME_DEADLINE_EXCEEDED, "1"), Verdict.FAILED),
        ((OUTCOME_DEADLINE_EXCEEDED, "1"), (OUTCOME_DEADLINE_EXCEEDED, "2"), Verdict.REPRODUCED),
        # The status of the first run is unknown, so only the output is compared.
        (("OUTCOME_OF_TOMORROW", "1"), (OUTCOME_OK, "1"), Verdict.REPRODUCED),
        (("OUTCOME_OF_TOMORROW", "1"), (OUTCOME_OK, "2"), Verdict.DIFFERS),
        (("OUTCOME_OF_TOMORROW", "KeyError: 1"), (OUTCOME_FAILED, "KeyError: 1"), Verdict.FAILED),
    ],
)
def test_verdict_depends_on_outcomes_outputs_and_errors_of_both_runs(
    before: tuple[str, str], after: tuple[str, str], verdict: Verdict
) -> None:
    assert compare(RunOutput(*before), RunOutput(*after)).verdict is verdict


def test_comparison_of_errors_ignores_the_sentence_about_an_exceeded_limit() -> None:
    error = "Traceback (most recent call last)\nMemoryError: no room\n"
    before = RunOutput(OUTCOME_FAILED, error, ())
    for sentence in ("MemoryLimit: each process may have 2,048 MiB.\n", "MemoryLimit: The code asked for more.\n"):
        assert compare(before, RunOutput(OUTCOME_FAILED, error + sentence, ())).verdict is Verdict.REPRODUCED
    other = error.replace("no room", "another") + "MemoryLimit: each process may have 2,048 MiB.\n"
    assert compare(before, RunOutput(OUTCOME_FAILED, other, ())).verdict is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("outcome", "after", "verdict"),
    [
        (OUTCOME_OK, "a\nbc\nd", Verdict.REPRODUCED),
        (OUTCOME_OK, "a\nc\nd", Verdict.DIFFERS),
        (OUTCOME_OK, "a", Verdict.DIFFERS),
        (OUTCOME_FAILED, "a\nbc\nValueError: bad", Verdict.REPRODUCED),
    ],
)
def test_verdict_ignores_output_after_the_point_where_the_first_output_was_cut(
    outcome: str, after: str, verdict: Verdict
) -> None:
    before = RunOutput(outcome, "a\nb", (b"1",), is_cut=True)
    assert compare(before, RunOutput(outcome, after, (b"1", b"2"))).verdict == verdict
