"""Tests of the table of figures."""

from __future__ import annotations

from bench.figures import Figures
from bench.report import DETAIL_MEASURES, MAIN_MEASURES, format_figures_table


def read_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_table_has_a_column_for_each_target_and_for_the_ratio() -> None:
    name = "cpu_s_per_1000 50x20"
    results = {"relay": {name: 0.2}, "plotline-openai": {}, "plotline": {name: 0.3}}
    header, _, row = format_figures_table(MAIN_MEASURES, results, {}).splitlines()
    assert read_cells(header) == ["measure", "bare relay", "Plotline, chat completions", "Plotline", "of bare relay"]
    assert read_cells(row) == ["CPU per 1,000 chunks, s; 50x20", "0.200", "-", "0.300", "1.50"]


def test_browser_figures_are_shown_in_plotlines_column() -> None:
    results: dict[str, Figures] = {"relay": {}, "plotline": {}}
    *_, row = format_figures_table(DETAIL_MEASURES, results, {"browser_cpu_s": 1.44}).splitlines()
    assert read_cells(row) == ["browser: CPU of the main thread, s", "-", "1.44", "-"]
