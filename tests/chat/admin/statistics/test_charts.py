"""The charts of the overview: all models after the fifth share a colour, but each has its own column in the table."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from chat.admin.statistics.charts import build_charts
from chat.admin.statistics.statistics import Overview, UsageTotals

DAY = date(2026, 3, 1)


@pytest.mark.parametrize(("models", "legend"), [("abcdef", tuple("abcdef")), ("abcdefgh", (*"abcde", "others"))])
def test_models_beyond_the_fifth_share_one_series_of_the_chart(models: str, legend: tuple[str, ...]) -> None:
    usage = {(DAY, model): UsageTotals(turns=10 - number, cost=Decimal(1)) for number, model in enumerate(models)}
    overview = Overview((DAY,), datetime.now(UTC), usage, {}, {}, 0, {}, (), (), None)
    turns = build_charts(overview)[0]
    assert turns.columns is not None
    assert turns.legend == legend
    assert [bar.series for bar in turns.columns.bars] == [1, 2, 3, 4, 5, 6]
    assert turns.columns.height == sum(one.turns for one in usage.values())
    assert turns.columns.bars[-1].title == f"1 Mar: {sum(range(10 - len(models) + 1, 6))} {legend[-1]}"
    assert turns.table.head == ("Day", *models, "all models")
