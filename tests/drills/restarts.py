"""Drills in which processes of Plotline are restarted or killed while answers stream."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import requests

from tests.drills.exercise import Outcome, ask, make_outcome, start_answers
from tests.drills.installation import DRAIN_SECONDS, Installation, wait_for_exit
from tests.drills.invariants import check, wait_for_end
from tests.drills.tabs import Tab
from tests.live_server import LiveServer
from tests.polling import wait_until

RESTARTS = 5
KILLS = 3
END_LIMIT_S = DRAIN_SECONDS + 30
READINESS_LIMIT_S = 5.0
GRAPHS = 5
GRAPH_ANSWERS = 8


def rolling_restart(installation: Installation) -> Iterator[Outcome]:
    """Both web processes are restarted one after the other, five times, each under 14 streaming answers."""
    for number in range(1, RESTARTS + 1):
        tabs: list[Tab] = []
        faults: list[str] = []
        longest_s = 0.0
        for server in installation.web:
            tabs += start_answers(installation)
            seconds, fault = _terminate_and_ask(installation, server, tabs)
            longest_s = max(longest_s, seconds)
            faults.append(fault)
            server.start()
        findings = check(installation, tabs)
        interrupted = findings.statuses["interrupted"]
        faults.append(f"{interrupted} answers were interrupted" if interrupted else "")
        yield make_outcome(f"rolling-restart {number}", findings, *faults, longest_end_s=round(longest_s, 1))


def _terminate_and_ask(installation: Installation, server: LiveServer, tabs: list[Tab]) -> tuple[float, str]:
    """Terminate a web process, and ask one more question meanwhile, which adds to `tabs`.

    Return the seconds until the process ended, and a fault of its readiness or an empty text.
    """
    assert server.process
    server.process.send_signal(signal.SIGTERM)
    began_at = time.monotonic()
    try:
        wait_until(lambda: not is_ready(server), READINESS_LIMIT_S)
        fault = ""
    except TimeoutError:
        fault = "a process that was terminated still said that it was ready"
    tabs += ask(installation.visitors[0], "scenario-text")
    wait_for_exit(server, END_LIMIT_S)
    return time.monotonic() - began_at, fault


def is_ready(server: LiveServer) -> bool:
    """Return whether a web process reports that it is ready."""
    try:
        return requests.get(f"{server.url}/readyz", timeout=60).ok
    except requests.ConnectionError:
        return False


def web_killed(installation: Installation) -> Iterator[Outcome]:
    """A web process is killed under 14 streaming answers: nothing that was shown is lost, and the page says so."""
    for number in range(1, KILLS + 1):
        tabs = start_answers(installation)
        server = installation.web[number % len(installation.web)]
        server.kill()
        server.start()
        findings = check(installation, tabs)
        interrupted = findings.statuses["interrupted"]
        said = sum(_says_interrupted(tab) for tab in tabs if tab.question)
        yield make_outcome(
            f"web-killed {number}",
            findings,
            "" if interrupted else "the kill interrupted no answer, so it tested nothing",
            f"{said} pages say that an answer was interrupted" if said != interrupted else "",
            connections=sum(tab.connections for tab in tabs),
        )


def _says_interrupted(tab: Tab) -> bool:
    page = tab.visitor.transcript(tab.conversation_id)
    return 'data-status="interrupted"' in page and 'data-action="continue"' in page


def worker_killed(installation: Installation) -> Iterator[Outcome]:
    """An upload worker is killed three times while graphs are uploaded: each graph is stored once."""
    tabs: list[Tab] = []
    for number in range(KILLS):
        # Wait, because one person may have at most eight live answers.
        wait_for_end(installation.front)
        tabs += start_answers(installation, GRAPH_ANSWERS, f"scenario-images-{GRAPHS}")
        installation.workers[number % len(installation.workers)].kill_and_restart()
    findings = check(installation, tabs, graphs=KILLS * GRAPH_ANSWERS * GRAPHS)
    yield make_outcome("worker-killed", findings, kills=KILLS, graphs_stored=len(installation.storage.names()))
