"""Two server processes with one database: limits that hold across them, and how a page is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from websockets.sync.client import ClientConnection

from tests.chat.library.test_export_import_views import import_on_server, large_export, unread_download
from tests.dom import Page
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until
from tests.ports import free_port

pytestmark = pytest.mark.drill

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[LiveServer, LiveServer]]:
    with running_server(QUOTA_TURNS_PER_DAY="3") as first:
        second = replace(first, port=free_port(), process=None)
        second.start()
        try:
            yield first, second
        finally:
            second.stop()


def outcome(socket: ClientConnection, client_id: str) -> str:
    """Wait until the page gets the outcome of a question: empty if it was accepted, otherwise the error sentence."""
    page = Page()
    while not (sentence := page.ids["composer-error"].inner().strip()):
        text = str(socket.recv(timeout=LIMIT_S))
        if json.loads(text).get("accepted") == client_id:
            return ""
        page.apply(text)
    return sentence


def test_daily_turns_are_counted_across_processes(servers: tuple[LiveServer, LiveServer]) -> None:
    demo = Visitor(servers[0])
    there = Visitor(servers[1], "")
    there.http = demo.http
    conversations = []
    for number in range(5):
        conversations.append(demo.new_conversation())
        # An untouched conversation would be opened again.
        demo.post(f"/c/{conversations[-1]}/rename/", title=f"number {number}")
    with ExitStack() as stack:
        sockets = [stack.enter_context((demo, there)[number % 2].socket(pk)) for number, pk in enumerate(conversations)]
        # All are sent before any outcome is read.
        sent = [(socket, send(socket, "Hello")) for socket in sockets]
        outcomes = [outcome(socket, client_id) for socket, client_id in sent]
    refusals = [sentence for sentence in outcomes if sentence]
    assert len(refusals) == 2
    expected = "You have started 3 answers today, of at most 3 answers a day. More is possible from 00:00 UTC, in "
    assert all(expected in sentence for sentence in refusals)
    assert servers[0].rows("SELECT turns FROM chat_quotause") == [(3,)]
    assert servers[0].rows("SELECT COUNT(*) FROM chat_turn") == [(3,)]
    # A page sends a question again after its connection was lost. An accepted question stays accepted.
    accepted = outcomes.index("")
    pk, (_, client_id) = conversations[accepted], sent[accepted]
    with there.socket(pk) as again:
        again.send(json.dumps({"action": "send", "text": "Hello", "client_id": client_id}))
        assert outcome(again, client_id) == ""
    url = f"{servers[1].url}/api/v1/conversations/{conversations[outcomes.index(refusals[0])]}/turns/"
    headers = {"X-CSRFToken": demo.http.cookies["csrftoken"] or "", "Referer": servers[1].url}
    response = demo.http.post(url, json={"text": "Hello"}, headers=headers, timeout=LIMIT_S)
    assert (response.status_code, response.json()["type"]) == (429, "/api/docs/#problem-quota")
    assert expected in response.json()["detail"]
    assert 0 < int(response.headers["Retry-After"]) <= 24 * 3600


def test_person_can_run_only_one_full_export_across_processes(
    servers: tuple[LiveServer, LiveServer], tmp_path: Path
) -> None:
    server, other = servers
    visitor = Visitor(server)
    import_on_server(server, tmp_path / "large.json", large_export(10), "Minimal")

    def export(of: LiveServer, path: str = "/export/") -> requests.Response:
        return visitor.http.get(f"{of.url}{path}", timeout=60)

    with unread_download(other, visitor, "/export/") as connection:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        refused = export(server)
        assert refused.status_code == 409
        assert "Another export of all your conversations is under way." in refused.text
        assert visitor.http.head(f"{server.url}/export/", timeout=60).status_code == 409
        problem = export(server, "/api/v1/export/")
        assert (problem.status_code, problem.json()["type"]) == (409, "/api/docs/#problem-export-running")
        assert problem.headers["Retry-After"] == "15"
        assert Visitor.signed_up(server, "elsewhere", "a long passphrase").http.get(f"{server.url}/export/").ok
        assert export(server, "/conversations/").ok
    # The client has disconnected, so the claim is released.
    wait_until(lambda: export(server).status_code == 200, 30)
    with unread_download(other, visitor, "/export/") as connection:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        other.kill()
        assert export(server).status_code == 409
        server.write("UPDATE chat_runningexport SET expires_at = '2026-01-01 00:00:00'")
        assert export(server).status_code == 200
    assert server.rows("SELECT * FROM chat_runningexport") == []
