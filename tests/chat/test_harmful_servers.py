"""One person's answer comes from a hostile server: other people notice nothing, and the answer ends.

The product runs as a whole, and the harmful server is its configured endpoint. While a harm runs, another person reads
their own conversation again and again. The test prints a table of all harms (`-s`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.chat.library.imports.documents import MINIMAL
from tests.chat.other_person import LONGEST_LIMIT_S, MEMORY_LIMIT_MIB, P95_LIMIT_S, Memory, OtherPerson
from tests.child_processes import terminate
from tests.harmful_server import event_harms as event_harms
from tests.harmful_server import http_harms as http_harms
from tests.harmful_server.connection import CANARY, HARMS
from tests.live_server import ROOT, LiveServer, Visitor, running_server, send
from tests.parsed_html import ParsedHtml
from tests.polling import wait_until

pytestmark = [pytest.mark.drill, pytest.mark.no_rerun]

HONEST = "honest"
QUESTION = "What did I write in my secret-notebook?"
FILE_BYTES = 4_000_000
LARGE = "hundred-megabytes-at-once"
PAGE_LIMIT_BYTES = 48 * 1024 * 1024
LIMITS = {
    "SETTING_PROVIDER_ATTEMPTS": "2",
    "SETTING_PROVIDER_RETRY_LIMIT_S": "2",
    "SETTING_PROVIDER_IDLE_LIMIT_S": "3",
    "SETTING_PROVIDER_FIRST_BYTE_LIMIT_S": "4",
    "SETTING_TURN_LIMIT_S": "15",
    "API_CALLS_PER_MINUTE": "1000000",
    "API_WRITES_PER_MINUTE": "1000000",
}
"""Settings that shorten time limits: harms last for seconds here, and for minutes in a new installation."""


@dataclass
class Harmful:
    """The harmful server."""

    port: int
    log: Path

    @property
    def was_asked_inside(self) -> bool:
        """Whether Plotline has followed a redirect to an inner address."""
        return "inside" in self.log.read_text()


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harmful]:
    log = tmp_path_factory.mktemp("harmful") / "log"
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-m", "tests.harmful_server"], cwd=ROOT, stdout=file)
    try:
        yield Harmful(int(wait_until(lambda: log.read_text().partition("\n")[0])), log)
    finally:
        terminate(process, 10)


@pytest.fixture(scope="module")
def server(harmful: Harmful) -> Iterator[LiveServer]:
    with running_server(
        OPENAI_BASE_URL=f"http://127.0.0.1:{harmful.port}/v1", OPENAI_MODELS=",".join([HONEST, *HARMS]), **LIMITS
    ) as running:
        yield running


@pytest.fixture(scope="module")
def attacked(server: LiveServer) -> Visitor:
    return Visitor(server)


@pytest.fixture(scope="module")
def reader(server: LiveServer) -> OtherPerson:
    return OtherPerson(server)


@dataclass(frozen=True)
class Row:
    """The figures of one harm."""

    name: str
    status: str
    end: str
    p95_s: float
    longest_s: float
    growth_mib: float
    took_s: float
    page_bytes: int
    page_s: float

    def __str__(self) -> str:
        waits = f"{self.p95_s * 1000:5.0f} {self.longest_s * 1000:6.0f}"
        page = f"{self.page_bytes / 1024:8.0f} {self.page_s:6.2f}"
        return f"{self.name:32} {waits} {self.growth_mib:6.0f} {self.took_s:6.1f} {page}  {self.status}: {self.end}"


HEAD = f"{'harm':32} {'p95ms':>5} {'max ms':>6} {'+MiB':>6} {'took s':>6} {'page KiB':>8} {'load s':>6}  end"


@pytest.fixture(scope="module")
def table(server: LiveServer) -> Iterator[list[Row]]:
    rows: list[Row] = []
    yield rows
    print("", HEAD, *rows, sep="\n", flush=True)


@dataclass
class OpenTab:
    """A page of the answer that reads and acknowledges each frame."""

    socket: ClientConnection

    def follow(self) -> None:
        """Read until the connection is closed."""
        try:
            for message in self.socket:
                frame = json.loads(message)
                if "seq" in frame:
                    self.socket.send(json.dumps({"action": "ack", "turn": frame["turn"], "seq": frame["seq"]}))
        except ConnectionClosed:
            pass


@contextmanager
def asked(visitor: Visitor, conversation_id: str, model: str) -> Iterator[None]:
    """Ask a question, and follow the answer until the end of the block."""
    visitor.post(f"/c/{conversation_id}/settings/", model=model, code_execution="on")
    with visitor.socket(conversation_id, ping_interval_s=None) as socket:
        send(socket, QUESTION)
        thread = threading.Thread(target=OpenTab(socket).follow)
        thread.start()
        yield
    thread.join()


def turn_of(server: LiveServer, conversation_id: str, number: int) -> tuple[str, str] | None:
    """Return the status and the error code of a turn that has ended; the oldest has number 0."""
    rows = server.rows(
        "SELECT status, error_code FROM chat_turn WHERE conversation_id = ? ORDER BY created_at",
        conversation_id.replace("-", ""),
    )
    return rows[number] if len(rows) > number and rows[number][0] not in ("queued", "running") else None


def end_of(html: str) -> str:
    """Return the notice of the last answer of a page; without one, the beginning of its text."""
    article = ParsedHtml(html).select("article")[-1]
    notices = article.select("div", class_="notice")
    texts = notices[0].select("p")[0].texts if notices else article.texts
    return " ".join(" ".join(texts).split())[:160]


def measure(visitor: Visitor, reader: OtherPerson, model: str) -> tuple[Row, str]:
    """Ask a model once; return what happened, and the conversation."""
    server = visitor.server
    assert server.process
    memory = Memory(server.process.pid)
    conversation_id = visitor.new_conversation()
    before = memory.now()
    memory.forget_peak()
    with reader.reading():
        began = time.perf_counter()
        with asked(visitor, conversation_id, model):
            ended = wait_until(lambda: turn_of(server, conversation_id, 0))
        took_s = time.perf_counter() - began
        assert ended
        status, code = ended
        began = time.perf_counter()
        page = visitor.http.get(f"{server.url}/c/{conversation_id}/", timeout=120)
        page_s = time.perf_counter() - began
    row = Row(
        model,
        f"{status} {code}".strip(),
        end_of(page.text),
        reader.p95_s,
        max(reader.waits_s),
        memory.peak() - before,
        took_s,
        len(page.content),
        page_s,
    )
    return row, conversation_id


@pytest.fixture(scope="module")
def baseline(attacked: Visitor, reader: OtherPerson, table: list[Row]) -> Row:
    """The figures of an honest answer. The second answer is measured, because the first one imports modules."""
    measure(attacked, reader, HONEST)
    row, _ = measure(attacked, reader, HONEST)
    table.append(row)
    return row


@pytest.mark.parametrize("model", HARMS)
def test_answer_of_a_harmful_server_ends_and_does_not_delay_another_person(
    attacked: Visitor, reader: OtherPerson, harmful: Harmful, baseline: Row, table: list[Row], model: str
) -> None:
    server = attacked.server
    logged = len(server.log())
    row, conversation_id = measure(attacked, reader, model)
    table.append(row)
    print(f"\n{row}", flush=True)
    with asked(attacked, conversation_id, HONEST):
        assert wait_until(lambda: turn_of(server, conversation_id, 1)) == ("done", ""), "the next question"
    log = server.log()[logged:]
    assert "Traceback" not in log, log[-3000:]
    assert CANARY not in log, log[-3000:]
    assert "secret-notebook" not in log, log[-3000:]
    assert not harmful.was_asked_inside
    assert row.end
    assert "internal" not in row.status
    assert row.growth_mib <= MEMORY_LIMIT_MIB
    assert row.page_bytes <= PAGE_LIMIT_BYTES
    assert row.p95_s <= P95_LIMIT_S + baseline.p95_s
    assert row.longest_s <= LONGEST_LIMIT_S + baseline.longest_s


@pytest.mark.parametrize("acknowledges", [True, False], ids=["slow", "silent"])
def test_memory_is_limited_while_a_page_does_not_read_an_answer_of_100_megabytes(
    attacked: Visitor, reader: OtherPerson, baseline: Row, acknowledges: bool
) -> None:
    server = attacked.server
    assert server.process
    memory = Memory(server.process.pid)
    conversation_id = attacked.new_conversation()
    attacked.post(f"/c/{conversation_id}/settings/", model=LARGE)
    before = memory.now()
    memory.forget_peak()
    over_time = [before]
    with (
        reader.reading(),
        attacked.socket(conversation_id, max_queue=1, ping_interval_s=None) as asleep,
        asked(attacked, conversation_id, LARGE),
    ):
        frame = json.loads(asleep.recv(timeout=60))
        if acknowledges:
            asleep.send(json.dumps({"action": "ack", "turn": frame["turn"], "seq": frame["seq"]}))
        while (ended := turn_of(server, conversation_id, 0)) is None:
            over_time.append(memory.now())
            time.sleep(0.5)  # This is the interval between samples of the memory.
    print(f"\n{ended}: {end_of(attacked.page(conversation_id))}")
    print("MiB over time:", *(f"{one:.0f}" for one in over_time), f"peak {memory.peak():.0f}")
    print(f"other person: p95 {reader.p95_s * 1000:.0f} ms, longest {max(reader.waits_s) * 1000:.0f} ms")
    assert ended == ("failed", "limit")
    assert memory.peak() - before <= MEMORY_LIMIT_MIB
    assert reader.p95_s <= P95_LIMIT_S + baseline.p95_s
    assert max(reader.waits_s) <= LONGEST_LIMIT_S + baseline.longest_s


def nested(depth: int) -> object:
    """Return an object with this depth of nesting."""
    value: object = CANARY
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("calls_per_message", [1, 20_000], ids=["many-messages", "one-message"])
def test_size_of_a_page_with_imported_nested_calls_is_limited(
    attacked: Visitor, reader: OtherPerson, baseline: Row, calls_per_message: int
) -> None:
    server = attacked.server
    call = {"kind": "function_call", "name": "f", "arguments": nested(50)}
    total = FILE_BYTES // (len(json.dumps(call)) + 20)
    document = deepcopy(MINIMAL)
    [message] = document["messages"]
    document["conversation"]["title"] = f"nested {calls_per_message}"
    document["messages"] = [
        {
            **message,
            "id": str(number),
            "parent": str(number - 1) if number else None,
            "index": number,
            "text": "",
            "parts": [{"index": index, **call} for index in range(min(calls_per_message, total))],
        }
        for number in range(max(1, total // calls_per_message))
    ]
    data = json.dumps(document).encode()
    with reader.reading():
        began = time.perf_counter()
        response = attacked.http.post(
            f"{server.url}/api/v1/import/",
            files={"file": ("nested.json", data)},
            headers={"X-CSRFToken": attacked.http.cookies["csrftoken"] or "", "Referer": server.url},
            timeout=120,
        )
        import_s = time.perf_counter() - began
    assert response.status_code in (201, 400), response.text[:1000]
    print(f"\n{len(data):,} bytes, status {response.status_code} after {import_s:.2f} s", response.text[:300])
    print(f"other person: p95 {reader.p95_s * 1000:.0f} ms, longest {max(reader.waits_s) * 1000:.0f} ms")
    if response.status_code == 201:
        [conversation_id] = response.json()["ids"]
        with reader.reading():
            began = time.perf_counter()
            page = attacked.page(conversation_id)
            page_s = time.perf_counter() - began
        print(f"page: {len(page):,} characters in {page_s:.2f} s; longest {max(reader.waits_s) * 1000:.0f} ms")
        assert len(page) <= PAGE_LIMIT_BYTES
        assert max(reader.waits_s) <= LONGEST_LIMIT_S + baseline.longest_s


def test_server_is_ready_and_has_no_live_turn_after_all_attacks_of_harmful_servers(
    attacked: Visitor, baseline: Row
) -> None:
    server = attacked.server
    assert requests.get(f"{server.url}/readyz", timeout=60).ok
    assert not server.rows("SELECT id FROM chat_turn WHERE status IN ('queued', 'running')")
