"""`manage.py stats`: the numbers of the overview, for a terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.overview.charts import dollars, seconds, size, whole
from chat.overview.figures import Overview, Use
from chat.overview.reading import read_overview

DAYS_LIMIT = 3660


class Command(BaseCommand):
    """Reads, and changes nothing."""

    help = (
        "Tells how Plotline was used and how it is: turns, users, tokens and cost, waiting times, failures, uploads."
        " Days are UTC's; what was imported or has been deleted does not count."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Of which time, and in which form."""
        parser.add_argument("--days", type=int, default=30, help="How many, today included; %(default)s by default.")
        parser.add_argument("--json", action="store_true", help="As one JSON object, for programs.")

    def handle(self, *args: object, days: int, json: bool, **options: object) -> None:
        """Raises CommandError for a number of days that is none."""
        if not 1 <= days <= DAYS_LIMIT:
            raise CommandError(f"--days must be between 1 and {DAYS_LIMIT}.")
        overview = read_overview(days, timezone.now())
        if json:
            self.stdout.write(_dumped(as_json(overview)))
        else:
            self.stdout.writelines(f"{line}\n" for line in as_lines(overview))


def _dumped(said: dict[str, Any]) -> str:
    return json.dumps(said, indent=2, ensure_ascii=False)


def as_json(overview: Overview) -> dict[str, Any]:
    """The numbers; costs are strings, so that no digit is lost, and waits are null on days without a first part."""
    waits = overview.waits
    return {
        "at": overview.at.isoformat(),
        "first_day": overview.days[0].isoformat(),
        "days": len(overview.days),
        **_use(overview.total),
        "users": overview.users,
        "by_day": [
            {
                "day": day.isoformat(),
                **_use(use),
                "users": overview.users_by_day.get(day, 0),
                "first_part_p50_s": round(waits[day].p50_s, 3) if day in waits else None,
                "first_part_p95_s": round(waits[day].p95_s, 3) if day in waits else None,
            }
            for day, use in overview.by_day.items()
        ],
        "by_model": [{"model": model, **_use(use)} for model, use in overview.by_model.items()],
        "by_day_and_model": [
            {"day": day.isoformat(), "model": model, **_use(use)} for (day, model), use in sorted(overview.uses.items())
        ],
        "cut_short": dict(overview.failures),
        "uploads": [
            {"age": row.age, "status": row.status, "files": row.files, "size_bytes": row.size_bytes}
            for row in overview.backlog
        ],
        "live_turns": [
            {
                "process": row.process,
                "turns": row.turns,
                "silent": row.silent,
                "oldest_at": row.oldest_at.isoformat(),
            }
            for row in overview.live
        ],
    }


def _use(use: Use) -> dict[str, Any]:
    return {"turns": use.turns, "tokens": use.tokens, "cost": f"{use.cost:.8f}", "unpriced_turns": use.unpriced}


def as_lines(overview: Overview) -> Iterator[str]:
    """The numbers as tables."""
    total = overview.total
    yield f"{overview.days[0]} to {overview.days[-1]}, UTC"
    yield f"{whole(total.turns)} turns of {whole(overview.users)} users: {whole(total.tokens)} tokens,"
    yield f"{dollars(total.cost)}, and {whole(total.unpriced)} turns without a known price"
    rows = []
    for day, use in overview.by_day.items():
        waited = overview.waits.get(day)
        waits = (seconds(waited.p50_s), seconds(waited.p95_s)) if waited else ("-", "-")
        rows.append((str(day), *_cells(use, overview.users_by_day.get(day, 0)), *waits))
    yield from _table("By day", ("day", "turns", "users", "tokens", "cost", "first part p50", "p95"), rows)
    rows = [(model, *_cells(use)) for model, use in overview.by_model.items()]
    yield from _table("By model", ("model", "turns", "tokens", "cost"), rows)
    rows = [(kind, whole(turns)) for kind, turns in overview.failures.items()]
    yield from _table("Answers cut short", ("kind", "turns"), rows)
    rows = [(row.age, row.status, whole(row.files), size(row.size_bytes)) for row in overview.backlog]
    yield from _table("Uploads that wait for storage", ("age", "status", "files", "size"), rows)
    rows = [
        (row.process or "not begun", whole(row.turns), whole(row.silent), f"{row.oldest_at:%Y-%m-%d %H:%M:%S}")
        for row in overview.live
    ]
    yield from _table("Live turns", ("process", "turns", "silent", "oldest"), rows)


def _cells(use: Use, *users: int) -> tuple[str, ...]:
    return (whole(use.turns), *map(whole, users), whole(use.tokens), dollars(use.cost))


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first column to the left, all others to the right."""
    yield ""
    if not rows:
        yield f"{title}: none"
        return
    yield title
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(["  " + row[0].ljust(widths[0]), *cells])
