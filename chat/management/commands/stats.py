"""`manage.py stats`: prints the statistics of the overview as text or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.admin.statistics.queries import read_overview
from chat.admin.statistics.statistics import Overview, UsageTotals
from chat.people.account.number_format import format_bytes, format_dollars, format_integer, format_seconds
from chat.vocabulary.log_lines import escape_line

DAYS_LIMIT = 3660


class Command(BaseCommand):
    """Prints statistics; it changes nothing."""

    help = (
        "Tells how Plotline was used and how it is: turns, users, tokens and cost, waiting times, failures, uploads."
        " Days are UTC's; what was imported or has been deleted does not count."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=30, help="How many, today included; %(default)s by default.")
        parser.add_argument("--json", action="store_true", dest="is_json", help="As one JSON object, for programs.")

    def handle(self, *args: object, days: int, is_json: bool, **options: object) -> None:
        """Print the statistics. Raise CommandError for an invalid number of days."""
        if not 1 <= days <= DAYS_LIMIT:
            raise CommandError(f"--days must be between 1 and {DAYS_LIMIT}.")
        overview = read_overview(days, timezone.now())
        if is_json:
            # `dumps` escapes control characters, so that those in the name of a model do not reach the terminal.
            self.stdout.write(json.dumps(build_json(overview), indent=2))
        else:
            self.stdout.writelines(f"{escape_line(line)}\n" for line in format_lines(overview))


def build_json(overview: Overview) -> dict[str, object]:
    """Return the statistics as a JSON object.

    Costs are decimal strings, so that they stay exact. The wait percentiles of a day without answers are null.
    """
    waits = overview.waits_by_day
    return {
        "at": overview.measured_at.isoformat(),
        "first_day": overview.days[0].isoformat(),
        "days": len(overview.days),
        **_usage_json(overview.total_usage),
        "users": overview.users,
        "by_day": [
            {
                "day": day.isoformat(),
                **_usage_json(usage),
                "users": overview.users_by_day.get(day, 0),
                "first_part_p50_s": round(waits[day].p50_s, 3) if day in waits else None,
                "first_part_p95_s": round(waits[day].p95_s, 3) if day in waits else None,
            }
            for day, usage in overview.usage_by_day.items()
        ],
        "by_model": [{"model": model, **_usage_json(usage)} for model, usage in overview.usage_by_model.items()],
        "by_day_and_model": [
            {"day": day.isoformat(), "model": model, **_usage_json(usage)}
            for (day, model), usage in sorted(overview.usage_by_day_and_model.items())
        ],
        "cut_short": dict(overview.failures),
        "uploads": [asdict(uploads) for uploads in overview.backlog],
        "live_turns": [
            {
                "process": live.process,
                "turns": live.turns,
                "silent": live.expired_leases,
                "oldest_at": live.oldest_at.isoformat(),
            }
            for live in overview.live_turns
        ],
    }


def _usage_json(usage: UsageTotals) -> dict[str, object]:
    return {
        "turns": usage.turns,
        "tokens": usage.tokens,
        "cost": f"{usage.cost:.8f}",
        "unpriced_turns": usage.unpriced_turns,
        "uncounted_turns": usage.uncounted_turns,
        "estimated_tokens": usage.estimated_tokens,
    }


def format_lines(overview: Overview) -> Iterator[str]:
    """Yield the statistics as lines of text tables."""
    total = overview.total_usage
    yield f"{overview.days[0]} to {overview.days[-1]}, UTC"
    turns, users, tokens = map(format_integer, (total.turns, overview.users, total.tokens))
    yield f"{turns} turns of {users} users: {tokens} tokens,"
    yield f"{format_dollars(total.cost)}, and {format_integer(total.unpriced_turns)} turns without a known price"
    if total.uncounted_turns:
        uncounted, estimated = format_integer(total.uncounted_turns), format_integer(total.estimated_tokens)
        yield f"{uncounted} turns whose tokens are not known: about {estimated} by estimate"
    rows = []
    for day, usage in overview.usage_by_day.items():
        wait = overview.waits_by_day.get(day)
        waits = (format_seconds(wait.p50_s), format_seconds(wait.p95_s)) if wait else ("-", "-")
        rows.append((str(day), *_usage_cells(usage, overview.users_by_day.get(day, 0)), *waits))
    yield from _format_table("By day", ("day", "turns", "users", "tokens", "cost", "first part p50", "p95"), rows)
    rows = [(model, *_usage_cells(usage)) for model, usage in overview.usage_by_model.items()]
    yield from _format_table("By model", ("model", "turns", "tokens", "cost"), rows)
    rows = [(reason, format_integer(turns)) for reason, turns in overview.failures.items()]
    yield from _format_table("Answers cut short", ("kind", "turns"), rows)
    rows = [
        (uploads.age, uploads.status, format_integer(uploads.files), format_bytes(uploads.size_bytes))
        for uploads in overview.backlog
    ]
    yield from _format_table("Uploads that wait for storage", ("age", "status", "files", "size"), rows)
    rows = [
        (
            live.process or "not begun",
            format_integer(live.turns),
            format_integer(live.expired_leases),
            f"{live.oldest_at:%Y-%m-%d %H:%M:%S}",
        )
        for live in overview.live_turns
    ]
    yield from _format_table("Live turns", ("process", "turns", "silent", "oldest"), rows)


def _usage_cells(usage: UsageTotals, *users: int) -> tuple[str, ...]:
    """Return turns, users if they are given, tokens and cost."""
    return (
        format_integer(usage.turns),
        *map(format_integer, users),
        format_integer(usage.tokens),
        format_dollars(usage.cost),
    )


def _format_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: the first column is aligned to the left, the others to the right."""
    yield ""
    if not rows:
        yield f"{title}: none"
        return
    yield title
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(["  " + row[0].ljust(widths[0]), *cells])
