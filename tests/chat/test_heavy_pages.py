"""Many requests for heavy pages at once, and what another person notices. The figures are printed (`-s`)."""

from __future__ import annotations

import io
import json
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.chat.other_person import LONGEST_LIMIT_S, P95_LIMIT_S, Memory, OtherPerson
from tests.live_server import LiveServer, Visitor, running_server

pytestmark = [pytest.mark.drill, pytest.mark.no_rerun, pytest.mark.timeout(900)]

ANSWERS = 20
ROWS = 2_500
ROW = "| {row} | North | 2024-03-{day:02} | **{row}.5** | `code {row}` |\n"
ANONYMOUS, OWN, EXPORTS = 40, 20, 8
MORE_MEMORY_LIMIT_MIB, KEPT_MEMORY_LIMIT_MIB = 400, 250
CALM_S = 10.0
READ_LIMIT_S = 3.0
"""Time limit for reading the heavy page after the requests have ended."""
CLIENT_LIMIT_S = 20.0
"""A client gives up after this time, as a person would."""


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running_server(API_CALLS_PER_MINUTE="100000") as server:
        yield server


def heavy_conversation() -> bytes:
    """Return an export of ChatGPT with one conversation, whose answers are long tables."""
    table = "| n | region | day | sum | code |\n|--:|---|---|--:|---|\n"
    table += "".join(ROW.format(row=row, day=row % 28 + 1) for row in range(ROWS))
    nodes: dict[str, object] = {"0": {"id": "0", "message": None, "parent": None, "children": ["1"]}}
    for number in range(1, 2 * ANSWERS + 1):
        message = {
            "id": str(number),
            "author": {"role": "user" if number % 2 else "assistant"},
            "create_time": 1_700_000_000 + number,
            "content": {"content_type": "text", "parts": [f"Question {number}" if number % 2 else table]},
        }
        children = [str(number + 1)] if number < 2 * ANSWERS else []
        nodes[str(number)] = {"id": str(number), "message": message, "parent": str(number - 1), "children": children}
    conversation = {
        "title": "Heavy",
        "create_time": 1_700_000_000,
        "update_time": 1_700_000_000,
        "conversation_id": str(uuid.uuid4()),
        "current_node": str(2 * ANSWERS),
        "mapping": nodes,
    }
    return json.dumps([conversation]).encode()


def get(http: requests.Session, url: str) -> int:
    """Return the status of a request; 0 if the client has given up."""
    try:
        return http.get(url, timeout=CLIENT_LIMIT_S).status_code
    except requests.RequestException:
        return 0


def test_heavy_pages_and_exports_do_not_delay_another_person(server: LiveServer) -> None:
    owner, other = Visitor(server), OtherPerson(server)
    assert server.process
    memory = Memory(server.process.pid)
    headers = {"X-CSRFToken": owner.http.cookies["csrftoken"] or "", "Referer": server.url}
    file = {"file": ("heavy.json", io.BytesIO(heavy_conversation()), "application/json")}
    imported = owner.http.post(f"{server.url}/api/v1/import/", files=file, headers=headers, timeout=120)
    assert imported.status_code == 201, imported.text
    conversation_id = imported.json()["ids"][0]
    api = f"{server.url}/api/v1/conversations/{conversation_id}"
    shared = server.url + owner.http.post(f"{api}/shares/", headers=headers, timeout=60).json()["url"]
    anonymous = requests.Session()
    began = time.perf_counter()
    assert get(anonymous, shared) == 200
    alone_s, before_mib = time.perf_counter() - began, memory.now()
    own = f"{server.url}/c/{conversation_id}/"
    urls = [shared] * ANONYMOUS + [own] * OWN + [f"{own}export/html/"] * EXPORTS
    names = {shared: "shared", own: "own", f"{own}export/html/": "export"}
    sessions = dict(zip((shared, own, f"{own}export/html/"), (anonymous, owner.http, owner.http), strict=True))
    memory.forget_peak()
    with other.reading(), ThreadPoolExecutor(len(urls)) as threads:
        began = time.perf_counter()
        statuses = list(threads.map(get, map(sessions.get, urls), urls))
        storm_s = time.perf_counter() - began
    waits = other.waits_s
    began = time.perf_counter()
    assert get(anonymous, shared) == 200
    read_s = time.perf_counter() - began
    time.sleep(CALM_S)
    peak_mib, after_mib = memory.peak() - before_mib, memory.now() - before_mib
    counts = Counter(zip(map(names.get, urls), statuses, strict=True))
    print(
        f"\nalone {alone_s:.2f} s; storm {storm_s:.1f} s: {dict(counts)}; another person: {len(waits)} reads, p95"
        f" {other.p95_s:.3f} s, longest {max(waits):.3f} s; the heavy page then {read_s:.2f} s; memory before"
        f" {before_mib:.0f} MiB, at most +{peak_mib:.0f}, {CALM_S:.0f} s later {after_mib:+.0f}"
    )
    assert set(statuses) <= {200, 503}
    assert other.p95_s < P95_LIMIT_S
    assert max(waits) < LONGEST_LIMIT_S
    assert read_s < READ_LIMIT_S
    assert peak_mib < MORE_MEMORY_LIMIT_MIB
    assert after_mib < KEPT_MEMORY_LIMIT_MIB
