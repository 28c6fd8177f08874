"""Test of the export benchmark with a short conversation."""

from __future__ import annotations

import pytest

from bench import exports

pytestmark = pytest.mark.drill


def test_export_benchmark_prints_a_row_for_each_format(capsys: pytest.CaptureFixture[str]) -> None:
    exports.main(["md", "zip", "--messages", "4", "--graphs", "1"])
    title, _, _, _, *rows = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert title == "4 messages, 1 graphs of 60 KB"
    assert [name for name, *_ in cells] == ["md", "zip"]
    assert all(float(size_mb) > 0 for _, size_mb, *_ in cells)
