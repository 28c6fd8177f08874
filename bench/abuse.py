"""The abuse benchmark: another person's light request while one person misuses the server; `python -m bench abuse`.

The light request is the page of an empty conversation, every 50 ms. Its goal under each abuse: p95 at most 250 ms, and
never more than 1 s. The baseline before each abuse shows how busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import requests
from websockets.exceptions import WebSocketException

from bench import abuses
from bench.abuse_upstream import hostile_upstream
from bench.abuses import Person
from bench.processes import BenchError, PinnedProcess, build_product_environment, find_free_port, select_cores
from bench.product import run_python
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number

PEOPLE = 6
BASELINE_S = 3.0
INTERVAL_S = 0.05
GOAL_P95_MS = 250.0
GOAL_MAX_MS = 1_000.0


@dataclass
class Meter:
    """Times a light request again and again, until it is stopped."""

    person: Person
    times_ms: list[float] = field(default_factory=list)
    error: str = ""
    """Why a light request failed, which ends the measurement."""
    _is_stopped: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure during the block."""
        thread = threading.Thread(target=self._measure, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_stopped.set()
            thread.join(60)
            if thread.is_alive():
                self.error = "a light request did not end within 60 s"

    def _measure(self) -> None:
        while not self._is_stopped.is_set():
            try:
                self.times_ms.append(self.person.page(self.person.conversation_id) * 1000)
            except (requests.RequestException, BenchError) as error:
                self.error = f"a light request failed: {error}"
                return
            self._is_stopped.wait(INTERVAL_S)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values is."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(label: str, victim: Person, abuse: Callable[[], object]) -> dict[str, object]:
    """Return the times of the light request without and with an abuse."""
    baseline = Meter(victim)
    with baseline.running():
        time.sleep(BASELINE_S)
    meter, started_at, error = Meter(victim), time.monotonic(), baseline.error
    with meter.running():
        try:
            abuse()
        except (BenchError, OSError, KeyError, ValueError, WebSocketException) as failure:
            # Others are faults of this program.
            error = f"{type(failure).__name__}: {failure}"
    error = (error or meter.error)[:200]
    if not meter.times_ms or not baseline.times_ms:
        raise BenchError(f"{label}: no light request was answered: {error}")
    figures: dict[str, object] = {
        "label": label,
        "duration_s": time.monotonic() - started_at,
        "requests": len(meter.times_ms),
        "baseline_p95_ms": percentile(baseline.times_ms, 0.95),
        "median_ms": statistics.median(meter.times_ms),
        "p95_ms": percentile(meter.times_ms, 0.95),
        "max_ms": max(meter.times_ms),
        "error": error,
    }
    print(json.dumps(figures), file=sys.stderr, flush=True)
    return figures


def list_abuses(people: Sequence[Person]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield each abuse with its name; what it needs is made before it is yielded."""
    one, two, three = people[:3]
    yield "fences, live", lambda: one.ask("Write fences")
    yield "fences, imported", lambda: abuses.import_fences(one)
    yield "a 4 MB answer", lambda: one.ask("Write long")
    texts = abuses.long_texts()
    imported: list[str] = []
    yield "import of 20,000 messages", lambda: imported.append(one.import_messages(texts))
    yield "page of 20,000 messages", lambda: abuses.read_long_page(one, imported[0])
    yield "20,000 messages by the API", lambda: abuses.read_pages(one, imported[0])
    for person in (two, three):
        person.import_messages(texts[:5_000])
    everything = [lambda person=person: person.call("GET", "export/") for person in (one, two, three)]
    yield "three exports of everything", lambda: abuses.in_parallel(*everything)
    yield "deletion of 20,000 messages", lambda: one.call("DELETE", f"conversations/{imported[0]}/")
    yield "eight endless loops", lambda: abuses.run_loops(people[:4])
    yield "400 frames a second", lambda: abuses.flood(one)
    yield "250 half-sent requests", lambda: abuses.send_halves(one)
    yield "8 large images", lambda: abuses.upload_images(one)


@contextmanager
def running_product(folder: Path, upstream_url: str) -> Iterator[list[Person]]:
    """Run the server on one core and the service for Python sessions, and yield its people."""
    port = find_free_port()
    kernels = folder / "kernels"
    variables = build_product_environment(
        DEBUG="0",
        HTTPS="0",
        SECRET_KEY=secrets.token_urlsafe(60),
        GEMINI_API_KEY="bench",
        GEMINI_MODEL="bench",
        GOOGLE_GEMINI_BASE_URL=upstream_url,
        KERNEL_SERVICE_DIR=str(kernels),
        API_CALLS_PER_MINUTE="100000",
        API_WRITES_PER_MINUTE="100000",
        PLOTLINE_VAR_DIR=str(folder),
    )
    run_python(variables, "manage.py", "migrate", "--verbosity=0")
    run_python(variables, "manage.py", "collectstatic", "--noinput", "--verbosity=0")
    seeded = json.loads(run_python(variables, "-m", "bench.with_django", "bench.abuse_seed", str(PEOPLE)))
    service = subprocess.Popen(
        [sys.executable, "-m", "chat.python.kernels.service", "--directory", str(kernels)], stdout=subprocess.DEVNULL
    )
    arguments = ["-m", "config.serve", "--bind", "127.0.0.1", "--port", str(port)]
    try:
        with PinnedProcess(
            arguments, core=select_cores()[0], variables=variables, log_path=folder / "server.log"
        ) as process:
            process.wait_for_port(port)
            yield [Person(f"http://127.0.0.1:{port}", *row) for row in seeded]
    finally:
        service.terminate()
        service.wait(30)


def main(argv: Sequence[str]) -> None:
    """Measure, write the result and print a table. Raise BenchError if a goal is missed, or nothing was measured."""
    parser = argparse.ArgumentParser(prog="python -m bench abuse", description=__doc__)
    parser.add_argument("--only", metavar="WORDS", help="only abuses whose name has these words")
    parser.add_argument("--messages", type=int, default=abuses.MESSAGES, help="messages of the long conversation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default var/bench/<date>-abuse.json)")
    options = parser.parse_args(argv)
    abuses.MESSAGES = options.messages
    with (
        TemporaryDirectory(prefix="abuse-", ignore_cleanup_errors=True) as folder,
        hostile_upstream() as upstream_url,
        running_product(Path(folder), upstream_url) as people,
    ):
        results = [
            measure(label, people[-1], abuse)
            for label, abuse in list_abuses(people)
            if not options.only or options.only in label
        ]
    path = write_result("abuse", describe_environment() | {"abuses": results}, options.json)
    print(format_abuse_table(results))
    print(f"\nWritten to {path}", file=sys.stderr)
    check_results(results)


def is_met(result: Mapping[str, object]) -> bool:
    """Return whether the light request stayed within its goals, and the abuse could be carried out."""
    p95_ms, max_ms = float(str(result["p95_ms"])), float(str(result["max_ms"]))
    return p95_ms <= GOAL_P95_MS and max_ms <= GOAL_MAX_MS and not result["error"]


def check_results(results: Sequence[Mapping[str, object]]) -> None:
    """Raise BenchError with the abuses that miss a goal, or if there are no results."""
    if not results:
        raise BenchError("no abuse has these words in its name")
    if missed := [str(result["label"]) for result in results if not is_met(result)]:
        raise BenchError(f"goals were missed: {', '.join(missed)}")


def format_abuse_table(results: Sequence[dict[str, object]]) -> str:
    """Return a Markdown table with a row for each abuse."""
    names = ("duration_s", "requests", "baseline_p95_ms", "median_ms", "p95_ms", "max_ms")
    rows: list[tuple[str, ...]] = [
        ("abuse", "s", "requests", "p95 before, ms", "median, ms", "p95, ms", "max, ms", "goal")
    ]
    for result in results:
        numbers = [float(str(result[name])) for name in names]
        cells = [format_number(number, 0) for number in numbers]
        rows.append((str(result["label"]), *cells, str(result["error"]) or ("met" if is_met(result) else "missed")))
    return format_markdown_table(rows)
