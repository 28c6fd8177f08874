"""A client that a public generator makes from the OpenAPI document can call the server."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.chat.api.api_client import ApiClient
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

PACKAGE = "plotline_client"
CONFIG = """
post_hooks: []
content_type_overrides:
  application/zip: application/octet-stream
"""
"""Configuration of the generator: its one type of binary data, and no hooks that format its files."""


@pytest.fixture(scope="module")
def generated(server: LiveServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the package that is generated from the server's OpenAPI document."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "config.yml").write_text(CONFIG)
    command = [
        *(sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{server.url}/api/schema/"),
        *("--output-path", str(folder / PACKAGE), "--meta", "none", "--config", str(folder / "config.yml")),
        # The generator prints a warning for each call that it cannot support.
        "--fail-on-warning",
    ]
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return folder


@pytest.fixture
def call(
    generated: Path, server: LiveServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """Return a function that calls a generated function by its name: `call("turns.turns_read", turn_id)`."""
    monkeypatch.syspath_prepend(str(generated))
    with import_module(PACKAGE).AuthenticatedClient(server.url, token=token, raise_on_unexpected_status=True) as client:
        yield lambda name, *args, **kwargs: import_module(f"{PACKAGE}.api.{name}").sync(*args, client=client, **kwargs)


def model(name: str) -> Any:  # noqa: ANN401 - generated types
    """Return a class of the generated package."""
    return getattr(import_module(f"{PACKAGE}.models"), name)


def test_generated_client_asks_and_reads_the_conversation(api: ApiClient, call: Callable[..., Any]) -> None:
    file = import_module(f"{PACKAGE}.types").File(io.BytesIO(b"month,sales\nJan,3\n"), "sales.csv", "text/csv")
    uploaded = call("attachments.attachments_create", body=model("FileUploadRequest")(file))
    created = call("conversations.conversations_create", body=model("NewConversationRequest")(title="Generated"))
    code_execution = model("CodeExecution")("on")
    request = model("QuestionRequest")("Plot a sine wave", attachments=[uploaded.id], code_execution=code_execution)
    started = call("turns.turns_create", created.id, body=request, idempotency_key="once")
    again = call("turns.turns_create", created.id, body=request, idempotency_key="once")
    assert again.id == started.id

    # Wait without the generated client, because the generator does not support event streams.
    api.wait_for_end(str(started.id))
    turn = call("turns.turns_read", started.id)
    assert (turn.status, turn.error, turn.finish_reason) == ("done", None, "STOP")
    assert turn.usage.total > 0

    page = call("conversations.conversations_list", limit=5)
    assert created.id in [conversation.id for conversation in page.results]
    detail = call("conversations.conversations_read", created.id)
    assert (detail.title, detail.live_turn_id, detail.usage.turns) == ("Generated", None, 1)
    question, answer = call("conversations.messages_list", created.id).results
    assert (question.role, question.text, question.attachments[0].name) == ("user", "Plot a sine wave", "sales.csv")
    assert (answer.role, answer.turn_id, answer.id) == ("model", turn.id, turn.message_id)
    assert {"text", "executable_code", "code_execution_result"} <= {part.kind for part in answer.parts}
    assert "[GRAPH:0]" in answer.text
    (graph,) = answer.attachments
    assert call("attachments.attachments_content", graph.id).payload.read().startswith(b"\x89PNG")


def test_generated_client_downloads_exports(call: Callable[..., Any]) -> None:
    # Imports are not tested: the generator writes invalid code for calls that accept several types of bodies.
    created = call("conversations.conversations_create", body=model("NewConversationRequest")(title="To take along"))
    archive = call("conversations.conversations_export", created.id, "zip").payload
    with zipfile.ZipFile(archive) as opened:
        assert any(name.endswith("conversation.json") for name in opened.namelist())
    assert zipfile.is_zipfile(call("export.export").payload)


def test_generated_client_returns_an_error_response_as_a_problem_object(call: Callable[..., Any]) -> None:
    created = call("conversations.conversations_create", body=model("NewConversationRequest")())
    changes = model("ConversationChangesRequest")(pinned=True)
    changed = call("conversations.conversations_change", created.id, body=changes)
    assert changed.pinned is True
    call("conversations.conversations_delete", created.id)
    problem = call("conversations.conversations_read", created.id)
    assert isinstance(problem, model("Problem"))
    assert (problem.status, problem.type_) == (404, "/api/docs/#problem-absent")
