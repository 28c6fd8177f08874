"""Builds the charts of the overview page from its statistics, each with a table of the same numbers. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import date

from chat.admin.statistics.statistics import Overview, UsageTotals
from chat.people.account.chart import Chart, Row, Table, draw_columns
from chat.people.account.number_format import format_bytes, format_dollars, format_integer, format_seconds, format_short

NO_TURNS = "No turns in this period."
SERIES_LIMIT = 6
"""Maximum number of series in a chart, because there are six colours."""
OTHERS = "others"
"""Name of the last series, which sums the other models if there are more models than colours."""


def build_charts(overview: Overview) -> list[Chart]:
    """Return all charts in the order of the page."""
    no_cost = "No price is known."
    return [
        _usage_chart(overview, "turns", "turns a day", NO_TURNS, lambda usage: usage.turns),
        _users_chart(overview),
        _usage_chart(overview, "tokens", "tokens a day", "No tokens were counted.", lambda usage: usage.tokens),
        _usage_chart(overview, "cost", "US dollars a day", no_cost, lambda usage: float(usage.cost), format_dollars),
        _waits_chart(overview),
        _failures_chart(overview),
        _backlog_chart(overview),
    ]


def _usage_chart(
    overview: Overview,
    name: str,
    unit: str,
    empty_text: str,
    amount_of: Callable[[UsageTotals], float],
    format_amount: Callable[[float], str] | None = None,
) -> Chart:
    """Return columns by day, stacked by model. `empty_text` is shown if there are turns whose amounts are all 0."""
    title, format_cell = name.capitalize(), format_amount or format_integer
    models = list(overview.usage_by_model)
    own = models if len(models) <= SERIES_LIMIT else models[: SERIES_LIMIT - 1]
    series = own if own == models else [*own, OTHERS]
    amounts: dict[date, defaultdict[str, float]] = {day: defaultdict(float) for day in overview.days}
    rows = []
    for day, by_series in amounts.items():
        cells = [amount_of(overview.usage_by_day_and_model.get((day, model), UsageTotals())) for model in models]
        for model, amount in zip(models, cells, strict=True):
            by_series[model if model in own else OTHERS] += amount
        rows.append(Row((_iso_day(day), *map(format_cell, cells), format_cell(sum(cells)))))
    totals = [amount_of(usage) for usage in overview.usage_by_model.values()]
    total = format_cell(amount_of(overview.total_usage))
    return Chart(
        name,
        title,
        unit,
        summary=f"{title} by day and model over {len(overview.days)} days: {total} in all.",
        empty_text=empty_text if overview.total_usage.turns else NO_TURNS,
        table=Table(("Day", *models, "all models"), (*rows, Row(("all days", *map(format_cell, totals), total)))),
        columns=draw_columns(overview.days, amounts, series, format_amount or format_short),
        legend=tuple(series),
    )


def _users_chart(overview: Overview) -> Chart:
    amounts = {day: {"users": float(users)} for day, users in overview.users_by_day.items()}
    rows = [Row((_iso_day(day), format_integer(overview.users_by_day.get(day, 0)))) for day in overview.days]
    return Chart(
        "users",
        "Users",
        "people a day who asked something",
        summary=f"People who asked something, by day; {overview.users} different ones in all.",
        empty_text=NO_TURNS,
        table=Table(("Day", "users"), (*rows, Row(("different ones in all", format_integer(overview.users))))),
        columns=draw_columns(overview.days, amounts, ["users"], format_short),
    )


def _waits_chart(overview: Overview) -> Chart:
    labels = ("p95", "p50")
    amounts = {day: {"p95": wait.p95_s, "p50": wait.p50_s} for day, wait in overview.waits_by_day.items()}
    rows = tuple(
        Row((_iso_day(day), *(format_seconds(amounts[day][label]) for label in labels)))
        for day in overview.days
        if day in amounts
    )
    return Chart(
        "waits",
        "Time to the first part",
        "seconds from the question",
        summary="Seconds to the first part of an answer, by day: half of the turns waited no longer than p50, 19 of 20"
        " no longer than p95.",
        empty_text="No answer has begun." if overview.total_usage.turns else NO_TURNS,
        table=Table(("Day", *labels), rows),
        # The column of p95 is at least as high as that of p50, so p50 is drawn in front of it.
        columns=draw_columns(overview.days, amounts, labels, format_seconds, is_stacked=False),
        legend=labels,
    )


def _failures_chart(overview: Overview) -> Chart:
    rows = tuple(Row((reason, format_integer(turns)), turns) for reason, turns in overview.failures.items())
    total = format_integer(sum(overview.failures.values()))
    return Chart(
        "failures",
        "Answers cut short",
        "turns",
        summary=f"Turns that did not come to their end: {total} in all.",
        empty_text="Every answer came to its end." if overview.total_usage.turns else NO_TURNS,
        table=Table(("Kind", "turns"), rows),
    )


def _backlog_chart(overview: Overview) -> Chart:
    rows = tuple(
        Row(
            (uploads.age, uploads.status, format_integer(uploads.files), format_bytes(uploads.size_bytes)),
            uploads.files,
        )
        for uploads in overview.backlog
    )
    total = format_integer(sum(uploads.files for uploads in overview.backlog))
    return Chart(
        "backlog",
        "Uploads that wait for storage",
        "files",
        summary=f"Files that storage has not confirmed, by how long they have waited: {total} in all.",
        empty_text="No file waits for storage.",
        table=Table(("Age", "status", "files", "size"), rows),
    )


def _iso_day(day: date) -> str:
    return f"{day:%Y-%m-%d}"
