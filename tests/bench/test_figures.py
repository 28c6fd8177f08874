"""Tests of percentiles, medians, ratios and the figures of a level."""

from __future__ import annotations

import pytest

from bench.answers import Answer, AnswerTimings, Level
from bench.figures import (
    LevelResult,
    compute_figures,
    compute_medians,
    compute_percentile,
    compute_ratios,
    describe_rate_limit,
)


def make_timings(delays_us: list[int], gap_us: int) -> AnswerTimings:
    """Return an answer that was requested at 0, with stamps every `gap_us` from 1,000."""
    timings = AnswerTimings()
    for number, delay_us in enumerate(delays_us):
        stamp_us = 1_000 + number * gap_us
        timings.record_stamps(f"⟨{stamp_us}⟩".encode(), stamp_us + delay_us)
    return timings


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (1, 1), (50, 50), (99, 99), (100, 100)])
def test_percentile_is_the_nearest_rank(percent: float, expected: float) -> None:
    assert compute_percentile([float(number) for number in range(100, 0, -1)], percent) == expected


def test_99th_percentile_of_few_values_is_the_greatest() -> None:
    assert compute_percentile([3.0, 9.0, 1.0], 99) == 9.0


def test_percentile_of_no_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        compute_percentile([], 50)


def test_median_of_a_figure_ignores_runs_that_lack_this_figure() -> None:
    assert compute_medians([{"a": 1, "b": 7}, {"a": 9}, {"a": 2}]) == {"a": 2, "b": 7}


def test_ratio_is_left_out_if_the_base_figure_is_missing_or_zero() -> None:
    assert compute_ratios({"a": 6, "b": 1, "c": 1}, {"a": 3, "b": 0}) == {"a": 2}


def test_figures_of_a_load_level_are_computed_from_its_measured_result() -> None:
    result = LevelResult(wall_s=2, cpu_s=0.001, commits=2, frames=5, bytes=900, progress_frames=3, progress_bytes=600)
    result.add_answer(make_timings([2_000, 4_000], gap_us=20_000), expected_stamps=2)
    figures = compute_figures(Level("1x50", 1, Answer(chunks=2, rate=50)), result)
    assert figures["first_part_p50_ms 1x50"] == 3
    assert figures["delivery_p50_ms 1x50"] == 2
    assert figures["delivery_p99_ms 1x50"] == 4
    assert figures["offered_per_s 1x50"] == 50
    assert figures["cpu_s_per_1000 1x50"] == 0.5
    assert figures["bytes_per_frame 1x50"] == 200
    assert figures["chunks_per_commit 1x50"] == 1


def make_result(delay_us: int, *, gap_us: int = 20_000, expected_stamps: int = 3) -> LevelResult:
    """Return the result of one answer with three stamps at 50 requested chunks/s."""
    result = LevelResult(requested_per_s=50)
    result.add_answer(make_timings([delay_us] * 3, gap_us), expected_stamps)
    return result


def test_load_level_is_sustained_if_delays_do_not_exceed_the_limit() -> None:
    assert make_result(250_000).is_sustained
    assert not make_result(250_001).is_sustained


def test_load_level_is_not_sustained_if_the_upstream_sends_too_slowly() -> None:
    assert not make_result(1_000, gap_us=22_000).is_sustained


def test_load_level_is_not_sustained_if_a_chunk_is_lost() -> None:
    assert not make_result(1_000, expected_stamps=4).is_sustained


def test_chunks_of_an_answer_that_never_arrives_are_counted_as_lost() -> None:
    result = LevelResult()
    result.add_answer(AnswerTimings(), expected_stamps=4)
    assert (result.lost_chunks, result.first_part_ms) == (4, [])


@pytest.mark.parametrize(
    ("server", "harness", "expected"),
    [(0.97, 0.40, "the server was the limit"), (0.97, 0.95, "the harness was saturated"), (0.5, 0.4, "neither")],
)
def test_report_says_whether_the_cpu_of_server_or_harness_limited_the_rate(
    server: float, harness: float, expected: str
) -> None:
    figures = {"failed_rate_per_s": 4500.0, "failed_server_share": server, "failed_harness_share": harness}
    assert expected in describe_rate_limit(figures)


def test_report_says_that_the_maximum_rate_is_higher_if_every_load_level_was_sustained() -> None:
    assert "its limit is higher" in describe_rate_limit({})
