"""The abuse benchmark fails where an abuse could not be carried out, and where a goal is missed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench import abuse, abuses
from bench.abuses import Person
from bench.processes import BenchError


class Refusing(BaseHTTPRequestHandler):
    """Refuses each request."""

    def do_GET(self) -> None:
        """Answer with the status 429."""
        self.send_response(429)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


@pytest.fixture
def refused() -> Iterator[Person]:
    """A person whose requests are refused."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Person(f"http://127.0.0.1:{server.server_port}", "", "", "")
        server.shutdown()


def result(**changes: object) -> dict[str, object]:
    """The figures of an abuse that delays nobody."""
    return {"label": "loops", "p95_ms": 20.0, "max_ms": 30.0, "error": ""} | changes


def test_refused_call_is_an_error(refused: Person) -> None:
    with pytest.raises(BenchError, match="export/: 429"):
        refused.call("GET", "export/")
    assert refused.call("GET", "export/", refusals=[429]).status_code == 429


def test_error_in_a_thread_is_raised(refused: Person) -> None:
    with pytest.raises(BenchError, match="429"):
        abuses.in_parallel(lambda: None, lambda: refused.call("GET", "export/"))


def test_call_that_hangs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abuses, "TIMEOUT_S", 0.05)
    may_end = threading.Event()
    with pytest.raises(BenchError, match="did not end"):
        abuses.in_parallel(may_end.wait)
    may_end.set()


def test_answer_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch, refused: Person) -> None:
    class Answer:
        def json(self) -> dict[str, str]:
            return {"id": "1", "status": "failed"}

    monkeypatch.setattr(Person, "call", lambda *_, **__: Answer())
    monkeypatch.setattr(Person, "socket", lambda *_: threading.Lock())
    with pytest.raises(BenchError, match="ended as failed"):
        refused.ask("Write fences")


def test_light_requests_that_fail_end_the_measurement(refused: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abuse, "BASELINE_S", 0.0)
    with pytest.raises(BenchError, match="429"):
        abuse.measure("nothing", refused, lambda: None)


def test_goals_that_are_kept_pass() -> None:
    abuse.check_results([result(p95_ms=250.0, max_ms=1_000.0)])


@pytest.mark.parametrize("missed", [{"p95_ms": 250.1}, {"max_ms": 1_000.1}, {"error": "BenchError: refused"}])
def test_missed_goal_fails_and_is_named(missed: dict[str, object]) -> None:
    with pytest.raises(BenchError, match="missed: loops"):
        abuse.check_results([result(label="others"), result(**missed)])


def test_no_result_is_a_failure() -> None:
    with pytest.raises(BenchError, match="no abuse"):
        abuse.check_results([])
