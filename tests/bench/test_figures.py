"""Percentiles, medians and ratios, and what counts as keeping up."""

from __future__ import annotations

import pytest

from bench.answers import Answer, Level, Reading
from bench.figures import Observed, figures_of, medians, percentile, ratios


def read_answer(delays_us: list[int], gap_us: int) -> Reading:
    """An answer asked for at 0 whose stamps lie `gap_us` apart, the first at 1,000."""
    reading = Reading()
    for number, delay_us in enumerate(delays_us):
        stamp = 1_000 + number * gap_us
        reading.take(f"⟨{stamp}⟩".encode(), stamp + delay_us)
    return reading


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (1, 1), (50, 50), (99, 99), (100, 100)])
def test_percentile_is_the_nearest_rank(percent: float, expected: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], percent) == expected


def test_99th_percentile_of_few_values_is_the_greatest() -> None:
    assert percentile([3.0, 9.0, 1.0], 99) == 9.0


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_medians_are_taken_figure_by_figure() -> None:
    assert medians([{"a": 1, "b": 7}, {"a": 9}, {"a": 2}]) == {"a": 2, "b": 7}


def test_ratios_leave_out_what_the_base_has_not() -> None:
    assert ratios({"a": 6, "b": 1, "c": 1}, {"a": 3, "b": 0}) == {"a": 2}


def test_figures_of_a_level() -> None:
    observed = Observed(wall_s=2, cpu_s=0.001, commits=2, frames=5, bytes=900, progress_frames=3, progress_bytes=600)
    observed.add(read_answer([2_000, 4_000], gap_us=20_000), expected=2)
    figures = figures_of(Level("1x50", 1, Answer(chunks=2, rate=50)), observed)
    assert figures["first_part_p50_ms 1x50"] == 3
    assert figures["delivery_p50_ms 1x50"] == 2
    assert figures["delivery_p99_ms 1x50"] == 4
    assert figures["offered_per_s 1x50"] == 50
    assert figures["cpu_s_per_1000 1x50"] == 0.5
    assert figures["bytes_per_frame 1x50"] == 200
    assert figures["chunks_per_commit 1x50"] == 1


def test_keeping_up_needs_every_chunk_in_time_at_the_rate_that_was_asked_for() -> None:
    def observed(delay_us: int, *, gap_us: int = 20_000, expected: int = 3) -> Observed:
        level = Observed(asked_per_s=50)
        level.add(read_answer([delay_us] * 3, gap_us), expected)
        return level

    assert observed(250_000).keeps_up
    assert not observed(250_001).keeps_up
    assert not observed(1_000, gap_us=22_000).keeps_up
    assert not observed(1_000, expected=4).keeps_up


def test_an_answer_that_never_came_is_lost() -> None:
    observed = Observed()
    observed.add(Reading(), expected=4)
    assert (observed.lost, observed.first_part_ms) == (4, [])
