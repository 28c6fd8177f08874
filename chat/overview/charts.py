"""Numbers → the charts of the page, each with its table. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal

from chat.overview import shapes
from chat.overview.figures import AGES, Overview, Use
from chat.overview.shapes import Chart, Table

NO_TURNS = "No turns in this period."
ROWS_LIMIT = 10
STATUSES = {"pending": 1, "failed": 2}
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def charts(overview: Overview) -> list[Chart]:
    """In the order of the page."""
    return [
        _by_model(overview, "turns", "turns a day", lambda use: use.turns, short),
        _users(overview),
        _by_model(overview, "tokens", "tokens a day", lambda use: use.tokens, short, "No tokens were counted."),
        _by_model(overview, "cost", "US dollars a day", lambda use: float(use.cost), dollars, "No price is known."),
        _waits(overview),
        _failures(overview),
        _backlog(overview),
    ]


def short(number: float) -> str:
    """In at most three digits, as in `1.25 M`; below a thousand as it is."""
    for size, unit in UNITS:
        # What would be rounded up to the next unit is one of it.
        if abs(number) >= size * 0.9995:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}" if abs(number) < 1000 and number != int(number) else f"{number:.0f}"


def whole(number: float) -> str:
    """With all digits, in groups of three."""
    return f"{number:,.0f}"


def dollars(amount: float | Decimal) -> str:
    """US dollars; small amounts to their first two digits."""
    if amount == 0:
        return "$0"
    if amount >= 0.1:
        return f"${amount:,.2f}".removesuffix(".00")
    return f"${float(amount):.2g}" if amount >= 0.0001 else "under $0.0001"


def seconds(amount: float) -> str:
    """To a hundredth below ten."""
    return f"{amount:,.0f} s" if amount >= 10 or amount == int(amount) else f"{amount:.2f} s"


def size(number: int) -> str:
    """Of bytes."""
    return f"{short(number)}B" if number >= 1000 else f"{number} B"


def _by_model(
    overview: Overview,
    name: str,
    unit: str,
    amount: Callable[[Use], float],
    words: shapes.Words,
    nothing: str = NO_TURNS,
) -> Chart:
    """`nothing`: what it says where there were turns and all their amounts are 0."""
    title = name.capitalize()
    models = list(overview.by_model)
    amounts: dict[date, dict[str, float]] = {day: {} for day in overview.days}
    for (day, model), use in overview.uses.items():
        amounts.setdefault(day, {})[model] = amount(use)
    series = shapes.series_of(models)
    bars, values, names = shapes.stacked(overview.days, amounts, series, words)
    full = dollars if words is dollars else whole
    in_all = full(amount(overview.total))
    body = [
        (f"{day:%Y-%m-%d}", *(full(amounts[day].get(model, 0)) for model in models), full(sum(amounts[day].values())))
        for day in overview.days
    ]
    body.append(("all days", *(full(amount(overview.by_model[model])) for model in models), in_all))
    return Chart(
        name,
        title,
        unit,
        summary=f"{title} by day and model over {len(overview.days)} days: {in_all} in all.",
        empty=nothing if overview.total.turns else NO_TURNS,
        table=Table(("Day", *models, "all models"), tuple(body)),
        legend=shapes.legend_of(series),
        bars=bars,
        values=values,
        names=names,
    )


def _users(overview: Overview) -> Chart:
    amounts = {day: {"users": float(number)} for day, number in overview.users_by_day.items()}
    bars, values, names = shapes.stacked(overview.days, amounts, {"users": 1}, short)
    return Chart(
        "users",
        "Users",
        "people a day who asked something",
        summary=f"People who asked something, by day; {overview.users} different ones in all.",
        empty=NO_TURNS,
        table=Table(
            ("Day", "users"),
            (
                *((f"{day:%Y-%m-%d}", whole(overview.users_by_day.get(day, 0))) for day in overview.days),
                ("different ones in all", whole(overview.users)),
            ),
        ),
        bars=bars,
        values=values,
        names=names,
    )


def _waits(overview: Overview) -> Chart:
    labels = ("p50", "p95")
    amounts = {day: (waited.p50_s, waited.p95_s) for day, waited in overview.waits.items()}
    drawn, dots, values, names = shapes.lines(overview.days, amounts, labels, seconds)
    return Chart(
        "waits",
        "Time to the first part",
        "seconds from the question",
        summary="Seconds to the first part of an answer, by day: half of the turns waited no longer than p50, 19 of 20"
        " no longer than p95.",
        empty="No answer has begun." if overview.total.turns else NO_TURNS,
        table=Table(
            ("Day", *labels),
            tuple((f"{day:%Y-%m-%d}", *map(seconds, amounts[day])) for day in overview.days if day in amounts),
        ),
        legend=tuple(enumerate(labels, 1)),
        lines=drawn,
        dots=dots,
        values=values,
        names=names,
    )


def _failures(overview: Overview) -> Chart:
    amounts: dict[str, Mapping[str, float]] = {
        kind: {"turns": float(turns)} for kind, turns in list(overview.failures.items())[:ROWS_LIMIT]
    }
    body = tuple((kind, whole(turns)) for kind, turns in overview.failures.items())
    empty = "Every answer came to its end." if overview.total.turns else NO_TURNS
    summary = f"Turns that did not come to their end: {whole(sum(overview.failures.values()))} in all."
    return _rows(
        "failures", "Answers cut short", "turns", summary, empty, amounts, {"turns": 1}, Table(("Kind", "turns"), body)
    )


def _backlog(overview: Overview) -> Chart:
    amounts: dict[str, dict[str, float]] = {age: {} for age, _ in AGES} if overview.backlog else {}
    for waiting in overview.backlog:
        amounts[waiting.age][waiting.status] = waiting.files
    body = tuple((row.age, row.status, whole(row.files), size(row.size_bytes)) for row in overview.backlog)
    files = sum(row.files for row in overview.backlog)
    return _rows(
        "backlog",
        "Uploads that wait for storage",
        "files",
        f"Files that storage has not confirmed, by how long they have waited: {whole(files)} in all.",
        "No file waits for storage.",
        amounts,
        STATUSES,
        Table(("Age", "status", "files", "size"), body),
    )


def _rows(
    name: str,
    title: str,
    unit: str,
    summary: str,
    empty: str,
    amounts: Mapping[str, Mapping[str, float]],
    series: Mapping[str, int],
    table: Table,
) -> Chart:
    bars, values, names, height = shapes.rows(amounts, series, short)
    return Chart(
        name,
        title,
        unit,
        summary=summary,
        empty=empty,
        table=table,
        legend=shapes.legend_of(series) if len(series) > 1 else (),
        bars=bars,
        values=values,
        names=names,
        is_rows=True,
        height=height,
        left=shapes.ROW_LEFT,
        right=shapes.WIDTH - shapes.ROW_RIGHT,
        bottom=height - shapes.BOTTOM,
    )
