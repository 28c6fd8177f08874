"""The drill of re-runs: every program of the demo model runs again in the Python session; `python -m bench reruns`.

It starts Plotline as `make run` does, asks the demo model each of its examples, and runs each block of code of the
answers again, from the start of the conversation. It prints the stored verdicts.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from bench.processes import ROOT, BenchError, build_product_environment, find_free_port
from bench.product import DATABASE, run_python
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table
from chat.emulator.demo.answers import TEXTS

TABLE = b"day,city,sales\n2026-01-01,Rome,3.5\n2026-01-02,Oslo,4.25\n2026-01-03,Rome,5\n"
START_LIMIT_S = 180.0
ANSWER_LIMIT_S = 90.0
RUN_LIMIT_S = 150.0
GOAL = 0.95
"""Share of the programs that give the same again."""

Row = tuple[str, str, str, str]
"""Prompt, index of the part, verdict, and the sentence that explains it."""


class Client:
    """A client of the REST API."""

    def __init__(self, url: str, token: str) -> None:
        """Send this token with each call. `url`: of the site, without a slash at its end."""
        self.url = url
        self._url = f"{url}/api/v1/"
        self._http = requests.Session()
        self._http.headers["Authorization"] = f"Bearer {token}"
        self._http.trust_env = False

    def call(
        self, method: str, path: str, body: Mapping[str, object] | None = None, limit_s: float = 30.0
    ) -> Mapping[str, object]:
        """Return the JSON of an answer; raises BenchError if it is an error."""
        data, headers = (json.dumps(body), {"Content-Type": "application/json"}) if body is not None else (None, {})
        response = self._http.request(method, self._url + path, data=data, headers=headers, timeout=limit_s)
        if not response.ok:
            raise BenchError(f"{method} {path}: {response.status_code} {response.text[:300]}")
        answer: Mapping[str, object] = response.json()
        return answer

    def upload(self, name: str, data: bytes) -> str:
        """Upload a file and return its id."""
        response = self._http.post(f"{self._url}attachments/", files={"file": (name, data, "text/csv")}, timeout=30)
        if not response.ok:
            raise BenchError(f"upload: {response.status_code} {response.text[:300]}")
        return str(response.json()["id"])


def main(argv: Sequence[str]) -> None:
    """Run the drill, print a table, and write it as JSON. Raises BenchError if too few programs are reproduced."""
    with TemporaryDirectory(prefix="plotline-reruns-", dir="/tmp") as name:
        folder = Path(name)
        with run_plotline(folder) as client:
            rows = [row for example in examples() for row in ask_and_rerun(client, folder, *example)]
    counts = Counter(verdict for _, _, verdict, _ in rows)
    print(format_markdown_table([("prompt", "part", "verdict", "why"), *rows]))
    print(f"\n{len(rows)} programs: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}")
    path = write_result("reruns", {**describe_environment(), "rows": rows})
    print(f"Written to {path}")
    if counts["reproduced"] < GOAL * len(rows):
        raise BenchError(f"fewer than {GOAL:.0%} of the programs were reproduced")


def examples() -> list[tuple[str, bool]]:
    """Return the English example of each entry, and whether it needs a table."""
    texts = TEXTS["examples"]
    return [(text, False) for text in texts["en"]] + [(text, True) for text in texts["table_en"]]


def ask_and_rerun(client: Client, folder: Path, prompt: str, needs_table: bool) -> Iterator[Row]:
    """Ask in a new conversation, run each block of the answer again, and yield the stored verdicts."""
    path = f"conversations/{client.call('POST', 'conversations/', {'title': prompt})['id']}/"
    files = [client.upload("data.csv", TABLE)] if needs_table else []
    question = {"text": prompt, "attachments": files, "code_execution": "on"}
    turn = client.call("POST", f"{path}turns/", question)
    wait_until(lambda: client.call("GET", f"turns/{turn['id']}/")["status"] == "done", ANSWER_LIMIT_S)
    messages = client.call("GET", f"{path}messages/")["results"]
    assert isinstance(messages, list)
    answer = messages[-1]
    for part in answer["parts"]:
        if part["kind"] == "executable_code":
            client.call(
                "POST", f"messages/{answer['id']}/parts/{part['index']}/rerun/", {"from_start": True}, RUN_LIMIT_S
            )
    verdicts = read_verdicts(folder, answer["id"])
    for part in answer["parts"]:
        if part["kind"] == "executable_code":
            verdict = verdicts.get(str(part["index"]), {"verdict": "not stored", "detail": ""})
            yield prompt, str(part["index"]), verdict["verdict"], verdict["detail"]


def read_verdicts(folder: Path, message_id: str) -> Mapping[str, Mapping[str, str]]:
    """Return the verdicts that are stored with a message, by the index of their part."""
    query = "SELECT reruns FROM chat_message WHERE id = ?"
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        [(verdicts,)] = database.execute(query, (uuid.UUID(message_id).hex,)).fetchall()
    stored: Mapping[str, Mapping[str, str]] = json.loads(verdicts or "{}")
    return stored


def wait_until(condition: Callable[[], bool], limit_s: float) -> None:
    """Wait until a condition holds; raises BenchError if it does not in time."""
    give_up_at = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > give_up_at:
            raise BenchError(f"waited {limit_s:g} s in vain")
        time.sleep(0.1)


@contextmanager
def run_plotline(folder: Path) -> Iterator[Client]:
    """Run what `make run` runs, with data in this folder, and yield a client with a token of the demo user."""
    port = find_free_port()
    variables = build_product_environment(
        PORT=str(port),
        PLOTLINE_VAR_DIR=str(folder),
        DEBUG="1",
        API_CALLS_PER_MINUTE="9999",
        API_WRITES_PER_MINUTE="9999",
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["bash", "deploy/run"], cwd=ROOT, env=variables, stdout=log, stderr=log)
    try:
        wait_until(
            lambda: process.poll() is not None or "Plotline: http" in (folder / "log").read_text(), START_LIMIT_S
        )
        if process.poll() is not None:
            raise BenchError((folder / "log").read_text())
        token = run_python(variables, "manage.py", "create_api_token", "demo").strip()
        yield Client(f"http://127.0.0.1:{port}", token)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
