"""What a server process starts, and what the import of the application does not start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pytest_django import Settings

from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.maths import render_formula
from chat.page.rendering.temml import missing_scripts
from config import startup
from tests.live_server import ROOT, LiveServer, Visitor, running_server, send
from tests.parsed_html import ParsedHtml
from tests.polling import wait_until

LIMIT_S = 60.0

#: Prints what an import of the application has changed in the process.
IMPORT_PROGRAM = """
import gc, json, threading
import psutil
import config.asgi
from daphne import http_protocol
from daphne.cli import CommandLineInterface

print(json.dumps({
    "threads": [thread.name for thread in threading.enumerate()],
    "children": len(psutil.Process().children()),
    "frozen": gc.get_freeze_count(),
    "patched": [
        item.__module__
        for item in (http_protocol.WebRequest, CommandLineInterface.server_class)
        if not item.__module__.startswith("daphne")
    ],
}))
"""


def test_import_of_the_application_starts_no_thread_and_no_child_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_PROGRAM], cwd=ROOT, env=os.environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"threads": ["MainThread"], "children": 0, "frozen": 0, "patched": []}


@pytest.mark.formulas
def test_server_without_the_formula_scripts_logs_a_warning_and_shows_formulas_as_source(
    tmp_path: Path, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    startup.warn_without_scripts()
    assert caplog.messages == []
    settings.NODE_MODULES = tmp_path
    missing_scripts.cache_clear()
    try:
        startup.warn_without_scripts()
        assert "`make setup`" in caplog.messages[0]
        assert render_formula("x + 4711", is_block=True) is None
        source = r"\begin{cases} a & b<4711 \\ c & |d| \end{cases}"
        page = ParsedHtml(render_markdown(f"A ${source}$\n\n$$\n{source}\n$$\n\n| a |\n|---|\n| ${source}$ |\n"))
        assert [code.text for code in page.select("code")] == [source] * 3
    finally:
        missing_scripts.cache_clear()
        render_formula.cache_clear()


def test_server_without_trained_weights_says_at_its_start_which_command_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    startup.warn_without_weights()
    assert caplog.messages == []
    monkeypatch.setattr(startup, "WEIGHTS_FILE", tmp_path / "weights.tsv")
    startup.warn_without_weights()
    assert [message.partition("`")[2].partition("`")[0] for message in caplog.messages] == ["make setup"]
    assert "\nsetup: " in (ROOT / "Makefile").read_text()


@pytest.fixture(scope="module")
def server_without_key() -> Iterator[LiveServer]:
    # A base URL, even an empty one, keeps `running_server` from starting an emulator.
    with running_server(GOOGLE_GEMINI_BASE_URL="", TURN_LIMIT_S="900") as server:
        yield server


def test_server_logs_at_its_start_which_variables_have_no_effect_any_more(server_without_key: LiveServer) -> None:
    assert "variables have no effect any more, see CHANGELOG.md: TURN_LIMIT_S.\n" in server_without_key.log()


def count_database_files(server: LiveServer) -> int:
    """Return how many files of a SQLite database the server has open: two for each connection."""
    assert server.process
    paths = [file.path for file in psutil.Process(server.process.pid).open_files()]
    return sum(".sqlite3" in path for path in paths)


@pytest.mark.drill
def test_database_connections_are_closed_after_requests(server_without_key: LiveServer) -> None:
    visitor = Visitor(server_without_key)
    conversation_id = visitor.new_conversation()
    before = count_database_files(server_without_key)
    for _ in range(40):
        visitor.page(conversation_id)
    # A connection is closed after the response has been sent. Each of the four threads that clean up may have
    # opened one since. If requests kept theirs, about 17 files would be open until the garbage collector finds them.
    wait_until(lambda: count_database_files(server_without_key) <= before + 10, LIMIT_S)


def test_question_to_a_server_without_key_and_emulator_fails_with_a_sentence_what_to_do(
    server_without_key: LiveServer,
) -> None:
    visitor = Visitor(server_without_key)
    conversation_id = visitor.new_conversation()
    assert "Demo model: not an AI" in visitor.page(conversation_id)
    with visitor.socket(conversation_id) as socket:
        send(socket, "Plot a sine wave")
        frames = ""
        while "This server has no key for the model" not in frames:
            frames += str(socket.recv(timeout=LIMIT_S))
    transcript = visitor.transcript(conversation_id)
    assert "must set the key (see .env.example), or start it with “make run”" in transcript
    assert 'data-status="failed"' in transcript


@pytest.mark.parametrize(
    ("prefix", "arguments", "name"),
    [("/plotline", [], "FORCE_SCRIPT_NAME"), ("", ["--root-path=/plotline"], "--root-path")],
)
def test_server_that_is_configured_below_a_url_path_does_not_start(
    monkeypatch: pytest.MonkeyPatch, prefix: str, arguments: list[str], name: str
) -> None:
    monkeypatch.setenv("FORCE_SCRIPT_NAME", prefix)
    with pytest.raises(SystemExit, match=f"remove {name}, and give it a host name of its own"):
        startup.refuse_path(arguments)
    monkeypatch.setenv("FORCE_SCRIPT_NAME", "")
    startup.refuse_path(["--port", "8000"])
