"""Drills in which the database, Redis or the storage is away for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.drills.exercise import Outcome, ask, make_outcome, sleep_until, start_answers, wait_for_text
from tests.drills.installation import PASSWORD, USERS, Installation
from tests.drills.invariants import PENDING, check, wait_for_end
from tests.drills.tabs import Tab, measure_lag_s
from tests.live_server import Visitor

DATABASE_AWAY_S = (2, 9, 28)
AWAY_S = 30.0
LAG_LIMIT_S = 2.0
LINES_LIMIT = 60
"""Maximum number of lines that all processes log in an outage. If each attempt were logged, it would be hundreds."""
LAG_CONVERSATIONS = 4
GRAPH_ANSWERS = 6
GRAPHS = 5


def database_away(installation: Installation) -> Iterator[Outcome]:
    """The database hangs, or crashes and recovers, for 2, 9 and 28 s: no answer is interrupted."""
    database = installation.database
    ways: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
        "stopped": (database.stop_immediately, database.start),
        "paused": (database.pause, database.resume),
    }
    for way, (go_away, come_back) in ways.items():
        for seconds in DATABASE_AWAY_S:
            tabs = start_answers(installation)
            lines = installation.log_lines()
            began_at = time.monotonic()
            go_away()
            sleep_until(began_at + seconds)
            come_back()
            findings = check(installation, tabs)
            interrupted = findings.statuses.total() - findings.statuses["done"]
            logged = installation.log_lines() - lines
            yield make_outcome(
                f"database-away, {way} for {seconds} s",
                findings,
                f"{interrupted} answers did not end as done" if interrupted else "",
                f"{logged} lines were logged" if logged > LINES_LIMIT else "",
                log_lines=logged,
            )


def redis_away(installation: Installation) -> Iterator[Outcome]:
    """Redis is away for 30 s: pages on the other web process lag by at most 2 s."""
    first, second = [Visitor(server, USERS[0], PASSWORD) for server in installation.web]
    pairs = [ask(first, "scenario-endless-10", watchers=[second]) for _ in range(LAG_CONVERSATIONS)]
    tabs = [tab for pair in pairs for tab in pair]
    wait_for_text(tabs)
    usual_s = _measure_during(installation, pairs, lambda: None, 5.0)
    lines = installation.log_lines()
    installation.redis.crash()
    away_s = _measure_during(installation, pairs, installation.redis.start, AWAY_S)
    for leader, _ in pairs:
        leader.stop_answer()
    findings = check(installation, tabs)
    yield make_outcome(
        "redis-away",
        findings,
        f"a page lagged by {away_s:.1f} s" if away_s > LAG_LIMIT_S else "",
        lag_before_s=round(usual_s, 2),
        lag_s=round(away_s, 2),
        log_lines=installation.log_lines() - lines,
    )


def _measure_during(
    installation: Installation, pairs: list[list[Tab]], end: Callable[[], None], length_s: float
) -> float:
    """Wait, call `end`, and return the longest lag of a page on the other process in that time."""
    began_at = time.monotonic()
    sleep_until(began_at + length_s)
    longest_s = max(measure_lag_s(leader, follower, began_at, began_at + length_s) for leader, follower in pairs)
    end()
    return longest_s


def storage_away(installation: Installation) -> Iterator[Outcome]:
    """The storage is away for 30 s while graphs are drawn: all are shown, and are uploaded once afterwards."""
    installation.storage.go_away()
    began_at = time.monotonic()
    tabs = start_answers(installation, GRAPH_ANSWERS, f"scenario-images-{GRAPHS}")
    wait_for_end(installation.front)
    [(pending,)] = installation.front.rows(PENDING)
    shown = sum(tab.visitor.transcript(tab.conversation_id).count("<img ") for tab in tabs if tab.question)
    sleep_until(began_at + AWAY_S)
    installation.storage.come_back()
    came_back_at = time.monotonic()
    findings = check(installation, tabs, graphs=GRAPH_ANSWERS * GRAPHS)
    missing = GRAPH_ANSWERS * GRAPHS - shown
    yield make_outcome(
        "storage-away",
        findings,
        f"{missing} graphs were not shown meanwhile" if missing else "",
        graphs_drawn=shown,
        pending_meanwhile=pending,
        checked_after_s=round(time.monotonic() - came_back_at, 1),
    )
