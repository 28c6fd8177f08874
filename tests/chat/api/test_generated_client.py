"""A client that a public generator made of the schema speaks to the server, without a line written for it."""

from __future__ import annotations

import io
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.live_server import LiveServer

PACKAGE = "plotline_client"
LIMIT_S = 30.0
#: The generator knows bytes by one name alone; nothing is made anew after it, such as its format.
CONFIG = """
post_hooks: []
content_type_overrides:
  application/zip: application/octet-stream
"""


@pytest.fixture(scope="module")
def generated(server: LiveServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the client's package, made of the schema that the server serves."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "config.yml").write_text(CONFIG)
    command = [
        *(sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{server.url}/api/schema/"),
        *("--output-path", str(folder / PACKAGE), "--meta", "none", "--config", str(folder / "config.yml")),
        # One call that it cannot make sense of is a warning.
        "--fail-on-warning",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def call(
    generated: Path, server: LiveServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """`call("turns.turns_read", turn_id)`: what the generated function returns, parsed."""
    monkeypatch.syspath_prepend(str(generated))
    made = import_module(PACKAGE).AuthenticatedClient(server.url, token=token, raise_on_unexpected_status=True)
    with made as client:
        yield lambda name, *given, **named: import_module(f"{PACKAGE}.api.{name}").sync(*given, client=client, **named)


def model(name: str) -> Any:  # noqa: ANN401 - generated types
    """A class of the generated package."""
    return getattr(import_module(f"{PACKAGE}.models"), name)


def test_generated_client_asks_and_reads_the_conversation(call: Callable[..., Any]) -> None:
    file = import_module(f"{PACKAGE}.types").File(io.BytesIO(b"month,sales\nJan,3\n"), "sales.csv", "text/csv")
    uploaded = call("attachments.attachments_create", body=model("AttachmentsCreateBody")(file))
    made = call("conversations.conversations_create", body=model("NewConversation")(title="Generated"))
    on = model("QuestionCodeExecution")("on")
    question = model("Question")("Plot a sine wave", attachments=[uploaded.id], code_execution=on)
    started = call("turns.turns_create", made.id, body=question, idempotency_key="once")
    again = call("turns.turns_create", made.id, body=question, idempotency_key="once")
    assert again.id == started.id

    give_up_at = time.monotonic() + LIMIT_S
    while (turn := call("turns.turns_read", started.id)).status in ("queued", "running"):
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    assert (turn.status, turn.error, turn.finish_reason) == ("done", None, "STOP")
    assert turn.usage.total > 0

    page = call("conversations.conversations_list", limit=5)
    assert made.id in [found.id for found in page.results]
    detail = call("conversations.conversations_read", made.id)
    assert (detail.title, detail.live_turn_id, detail.usage.turns) == ("Generated", None, 1)
    asked, answer = call("conversations.messages_list", made.id).results
    assert (asked.role, asked.text, asked.attachments[0].name) == ("user", "Plot a sine wave", "sales.csv")
    assert (answer.role, answer.turn_id, answer.id) == ("model", turn.id, turn.message_id)
    assert {"text", "executable_code", "code_execution_result"} <= {part.kind for part in answer.parts}
    assert "[GRAPH:0]" in answer.text
    (graph,) = answer.attachments
    assert call("attachments.attachments_content", graph.id).payload.read().startswith(b"\x89PNG")


def test_generated_client_takes_exports(call: Callable[..., Any]) -> None:
    # Not the way back: what this generator writes for bodies of several types lacks one of its own names.
    made = call("conversations.conversations_create", body=model("NewConversation")(title="To take along"))
    archive = call("conversations.conversations_export", made.id, "zip").payload
    with zipfile.ZipFile(archive) as opened:
        assert any(name.endswith("conversation.json") for name in opened.namelist())
    assert zipfile.is_zipfile(call("transfers.export").payload)


def test_generated_client_tells_problems_as_values(call: Callable[..., Any]) -> None:
    made = call("conversations.conversations_create", body=model("NewConversation")())
    changed = call("conversations.conversations_change", made.id, body=model("ConversationChanges")(pinned=True))
    assert changed.pinned is True
    call("conversations.conversations_delete", made.id)
    problem = call("conversations.conversations_read", made.id)
    assert isinstance(problem, model("Problem"))
    assert (problem.status, problem.type_) == (404, "/api/docs/#problem-absent")
