"""Builds the charts of the overview page from its statistics, each with a table of the same numbers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date

from chat.admin.statistics.statistics import UPLOAD_AGES, Overview, UsageTotals
from chat.people.account.chart import Chart, Table
from chat.people.account.chart_layout import (
    FormatNumber,
    assign_series,
    build_legend,
    layout_columns,
    layout_lines,
    layout_rows,
)
from chat.people.account.number_format import format_bytes, format_dollars, format_integer, format_seconds, format_short

NO_TURNS = "No turns in this period."
FAILURES_LIMIT = 10
"""Number of failure reasons that are drawn; the table lists all of them."""
UPLOAD_SERIES = {"pending": 1, "failed": 2}


def build_charts(overview: Overview) -> list[Chart]:
    """Return all charts in the order of the page."""
    return [
        _usage_chart(overview, "turns", "turns a day", NO_TURNS, lambda usage: usage.turns),
        _users_chart(overview),
        _usage_chart(overview, "tokens", "tokens a day", "No tokens were counted.", lambda usage: usage.tokens),
        _usage_chart(
            overview,
            "cost",
            "US dollars a day",
            "No price is known.",
            lambda usage: float(usage.cost),
            format_axis=format_dollars,
            format_table=format_dollars,
        ),
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
    format_axis: FormatNumber = format_short,
    format_table: FormatNumber = format_integer,
) -> Chart:
    """Return columns by day, stacked by model. `empty_text` is used if there are turns whose amounts are all 0."""
    title = name.capitalize()
    total = format_table(amount_of(overview.total_usage))
    amounts: dict[date, dict[str, float]] = {day: {} for day in overview.days}
    for (day, model), usage in overview.usage_by_day_and_model.items():
        amounts[day][model] = amount_of(usage)
    models = list(overview.usage_by_model)
    series = assign_series(models)

    def table_rows() -> Iterator[tuple[str, ...]]:
        for day, by_model in amounts.items():
            cells = [by_model.get(model, 0) for model in models]
            yield (_iso_day(day), *map(format_table, cells), format_table(sum(cells)))
        totals = (amount_of(usage) for usage in overview.usage_by_model.values())
        yield ("all days", *map(format_table, totals), total)

    return Chart(
        name,
        title,
        unit,
        summary=f"{title} by day and model over {len(overview.days)} days: {total} in all.",
        empty_text=empty_text if overview.total_usage.turns else NO_TURNS,
        plot=layout_columns(overview.days, amounts, series, format_axis),
        table=Table(("Day", *models, "all models"), tuple(table_rows())),
        legend=build_legend(series),
    )


def _users_chart(overview: Overview) -> Chart:
    amounts = {day: {"users": float(users)} for day, users in overview.users_by_day.items()}
    rows = [(_iso_day(day), format_integer(overview.users_by_day.get(day, 0))) for day in overview.days]
    return Chart(
        "users",
        "Users",
        "people a day who asked something",
        summary=f"People who asked something, by day; {overview.users} different ones in all.",
        empty_text=NO_TURNS,
        plot=layout_columns(overview.days, amounts, {"users": 1}, format_short),
        table=Table(("Day", "users"), (*rows, ("different ones in all", format_integer(overview.users)))),
    )


def _waits_chart(overview: Overview) -> Chart:
    labels = ("p50", "p95")
    amounts = {day: (wait.p50_s, wait.p95_s) for day, wait in overview.waits_by_day.items()}
    rows = tuple((_iso_day(day), *map(format_seconds, amounts[day])) for day in overview.days if day in amounts)
    return Chart(
        "waits",
        "Time to the first part",
        "seconds from the question",
        summary="Seconds to the first part of an answer, by day: half of the turns waited no longer than p50, 19 of 20"
        " no longer than p95.",
        empty_text="No answer has begun." if overview.total_usage.turns else NO_TURNS,
        plot=layout_lines(overview.days, amounts, labels, format_seconds),
        table=Table(("Day", *labels), rows),
        legend=tuple(enumerate(labels, 1)),
    )


def _failures_chart(overview: Overview) -> Chart:
    most_frequent = list(overview.failures.items())[:FAILURES_LIMIT]
    amounts: dict[str, Mapping[str, float]] = {reason: {"turns": float(turns)} for reason, turns in most_frequent}
    rows = tuple((reason, format_integer(turns)) for reason, turns in overview.failures.items())
    total = format_integer(sum(overview.failures.values()))
    return Chart(
        "failures",
        "Answers cut short",
        "turns",
        summary=f"Turns that did not come to their end: {total} in all.",
        empty_text="Every answer came to its end." if overview.total_usage.turns else NO_TURNS,
        plot=layout_rows(amounts, {"turns": 1}, format_short),
        table=Table(("Kind", "turns"), rows),
    )


def _backlog_chart(overview: Overview) -> Chart:
    # All age ranges get a row, so that a gap between them can be seen.
    amounts: dict[str, dict[str, float]] = {age: {} for age, _ in UPLOAD_AGES} if overview.backlog else {}
    for uploads in overview.backlog:
        amounts[uploads.age][uploads.status] = uploads.files
    rows = tuple(
        (uploads.age, uploads.status, format_integer(uploads.files), format_bytes(uploads.size_bytes))
        for uploads in overview.backlog
    )
    total = format_integer(sum(uploads.files for uploads in overview.backlog))
    return Chart(
        "backlog",
        "Uploads that wait for storage",
        "files",
        summary=f"Files that storage has not confirmed, by how long they have waited: {total} in all.",
        empty_text="No file waits for storage.",
        plot=layout_rows(amounts, UPLOAD_SERIES, format_short),
        table=Table(("Age", "status", "files", "size"), rows),
        legend=build_legend(UPLOAD_SERIES),
    )


def _iso_day(day: date) -> str:
    return f"{day:%Y-%m-%d}"
