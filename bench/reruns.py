"""The drill of re-runs: every program of the demo model runs again in the Python session; `python -m bench reruns`.

It starts Plotline as `make run` does, asks the demo model all questions of `bench.repertoire`, and runs each block of
code of the answers again, from the start of the conversation. It prints the stored verdicts. Each block must have one,
with a sentence that explains it, and nearly all must be reproduced.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from bench.processes import ROOT, BenchError, build_product_environment, find_free_port
from bench.product import DATABASE, run_python
from bench.repertoire import TABLE, conversations
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table

START_LIMIT_S = 180.0
ANSWER_LIMIT_S = 90.0
RUN_LIMIT_S = 150.0
GOAL = 0.95
"""Share of the programs that give the same again."""
NOT_STORED = "not stored"
AT_ONCE = 3
"""Conversations at once: as many as one person may have sessions."""

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
    """Run the drill, print a table, and write it as JSON. Raises BenchError if a goal is missed; see `check`."""
    with TemporaryDirectory(prefix="plotline-reruns-", dir="/tmp") as name:
        folder = Path(name)
        with run_plotline(folder) as client, ThreadPoolExecutor(AT_ONCE) as pool:
            found = pool.map(lambda one: list(ask_and_rerun(client, folder, *one)), conversations())
            rows = [row for some in found for row in some]
    counts = Counter(verdict for _, _, verdict, _ in rows)
    print(format_markdown_table([("prompt", "part", "verdict", "why"), *rows]))
    print(f"\n{len(rows)} programs: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}")
    path = write_result("reruns", {**describe_environment(), "rows": rows})
    print(f"Written to {path}")
    check(rows)


def check(rows: Sequence[Row]) -> None:
    """Raise BenchError if a program has no verdict, an unexplained one, or if too few are reproduced."""
    missing = [prompt for prompt, _, verdict, why in rows if verdict == NOT_STORED or not why]
    if missing or not rows:
        raise BenchError(f"no verdict, or no sentence that explains it: {'; '.join(missing) or 'no program ran'}")
    reproduced = sum(verdict == "reproduced" for _, _, verdict, _ in rows)
    if reproduced < GOAL * len(rows):
        raise BenchError(f"{reproduced} of {len(rows)} programs were reproduced, which is less than {GOAL:.0%}")


def ask_and_rerun(client: Client, folder: Path, prompts: Sequence[str], has_table: bool) -> Iterator[Row]:
    """Ask in a new conversation, run each block of the answers again, and yield the stored verdicts."""
    path = f"conversations/{client.call('POST', 'conversations/', {'title': prompts[0]})['id']}/"
    for number, prompt in enumerate(prompts):
        files = [client.upload("data.csv", TABLE)] if has_table and not number else []
        question = {"text": prompt, "attachments": files, "code_execution": "on"}
        turn = client.call("POST", f"{path}turns/", question)
        wait_until(partial(has_ended, client, turn["id"]), ANSWER_LIMIT_S)
    messages = client.call("GET", f"{path}messages/")["results"]
    assert isinstance(messages, list)
    answers = [message for message in messages if message["role"] == "model"]
    for prompt, answer in zip(prompts, answers, strict=True):
        blocks = [part["index"] for part in answer["parts"] if part["kind"] == "executable_code"]
        if not blocks:
            raise BenchError(f"the demo model ran nothing for {prompt!r}")
        for index in blocks:
            client.call("POST", f"messages/{answer['id']}/parts/{index}/rerun/", {"from_start": True}, RUN_LIMIT_S)
        verdicts = read_verdicts(folder, answer["id"])
        for index in blocks:
            verdict = verdicts.get(str(index), {})
            row = (" ".join(prompt.split()), str(index), verdict.get("verdict", NOT_STORED), verdict.get("detail", ""))
            print(*row, sep=" | ", file=sys.stderr, flush=True)
            yield row


def has_ended(client: Client, turn_id: object) -> bool:
    """Return whether a turn is done. Raises BenchError if it ended in another way."""
    status = str(client.call("GET", f"turns/{turn_id}/")["status"])
    if status not in ("queued", "running", "done"):
        raise BenchError(f"an answer ended as {status}")
    return status == "done"


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
