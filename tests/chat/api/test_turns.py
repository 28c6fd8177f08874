"""Turns on a real server: started, followed, resumed and stopped, also from another process."""

from __future__ import annotations

import hashlib
import itertools
import json
import socket
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import psutil
import pytest

from chat.messages.changes import PartStarted
from chat.messages.log import to_row
from chat.vocabulary.parts import Text
from tests.chat.api.api_client import ApiClient, Event
from tests.live_server import LiveServer

CSV = b"month,sales\n" + b"".join(b"2026-%02d,%d\n" % (month, month * month) for month in range(1, 13))


def upload_csv(api: ApiClient) -> dict[str, Any]:
    """Upload a file and return its JSON."""
    response = api.post("attachments/", files={"file": ("sales.csv", CSV)})
    assert response.status_code == 201, response.text
    file: dict[str, Any] = response.json()
    return file


def text_of(events: list[Event]) -> str:
    """Return the answer's text, without markers."""
    return "".join(event.data["delta"] for event in events if event.name == "text")


@pytest.mark.drill
def test_events_of_an_answer_equal_its_stored_parts(api: ApiClient) -> None:
    conversation_id = api.create_conversation(title="Sales", code_execution="on")
    file = upload_csv(api)
    response = api.ask(conversation_id, "Plot this", attachments=[file["id"]])
    assert response.status_code == 202, response.text
    started = response.json()
    assert set(started) == {"id", "status", "events_url", "message_id"}
    events = list(api.events(started["events_url"]))

    names = [event.name for event in events]
    assert events[0].data == {"status": "running"}
    assert names[-3:] == ["status", "usage", "done"]
    assert names.index("code_executable") < names.index("code_execution_result") < names.index("graph")
    numbers = [event.seq or 0 for event in events]
    assert numbers == sorted(set(numbers)), [(event.seq, event.name) for event in events]

    question, answer = api.get(f"conversations/{conversation_id}/messages/").json()["results"]
    assert [attachment["id"] for attachment in question["attachments"]] == [file["id"]]
    assert (answer["status"], answer["role"], answer["turn_id"]) == ("done", "model", started["id"])
    assert "".join(part["text"] for part in answer["parts"] if part["kind"] == "text") == text_of(events)
    assert "\n[GRAPH:0]\n" in answer["text"]
    codes = [part["code"] for part in answer["parts"] if part["kind"] == "executable_code"]
    assert codes == [event.data["executable_code"] for event in events if event.name == "code_executable"]
    (result,) = [event.data for event in events if event.name == "code_execution_result"]
    assert result["code_execution_outcome"] == "success"
    assert result["code_execution_output"] in [part.get("output") for part in answer["parts"]]
    graph = answer["attachments"][0]
    (drawn,) = [event.data for event in events if event.name == "graph"]
    sizes = {name: graph[name] for name in ("mime_type", "width", "height")}
    assert drawn == {"index": 0, "attachment_id": graph["id"], **sizes}
    assert api.get(graph["url"]).content.startswith(b"\x89PNG")
    assert events[-1].data == {"finish_reason": "STOP", "message_id": answer["id"]}
    turn = api.get(f"turns/{started['id']}/").json()
    assert (turn["finish"], turn["finish_reason"], turn["rounds"]) == ("stop", "STOP", 1)
    assert turn["usage"] == answer["usage"] == events[-2].data
    conversation = api.get(f"conversations/{conversation_id}/").json()
    assert conversation["usage"]["total"] >= turn["usage"]["total"]
    assert (conversation["usage"]["turns"], conversation["live_turn_id"]) == (1, None)


def test_uploaded_file_can_be_read_back(api: ApiClient) -> None:
    file = upload_csv(api)
    assert (file["mime_type"], file["size_bytes"], file["index"]) == ("text/csv", len(CSV), None)
    assert api.get(file["url"]).content == CSV


def test_client_that_reconnects_to_the_stream_of_a_live_turn_misses_no_event(api: ApiClient) -> None:
    started = api.start_turn("scenario-long-12")
    first = list(itertools.islice(api.events(started["events_url"]), 5))
    rest = list(api.events(started["events_url"], after=first[-1].seq))
    assert first + rest == list(api.events(started["events_url"]))
    assert rest[-1].name == "done"


def test_repeated_idempotency_key_starts_one_turn(api: ApiClient, server: LiveServer) -> None:
    conversation_id = api.create_conversation()
    question: dict[str, Any] = {
        "attachments": [upload_csv(api)["id"]],
        "code_execution": "off",
        "model": "scenario-text",
    }
    responses = [api.ask(conversation_id, key="one-turn", **question) for _ in range(4)]
    assert [response.status_code for response in responses] == [202] * 4
    assert len({response.json()["id"] for response in responses}) == 1
    query = "select count(*) from chat_turn where conversation_id = ?"
    assert server.rows(query, uuid.UUID(conversation_id).hex) == [(1,)]


def test_idempotency_key_cannot_be_used_for_another_question(api: ApiClient) -> None:
    conversation_id = api.create_conversation(model="scenario-text")
    api.wait_for_end(api.ask(conversation_id, "Once", key="one-question").json()["id"])
    questions: list[dict[str, Any]] = [
        {"text": "Another"},
        {"text": "Once", "attachments": [upload_csv(api)["id"]]},
        {"text": "Once", "code_execution": "on"},
        {"text": "Once", "model": "scenario-text"},
    ]
    for question in questions:
        response = api.ask(conversation_id, key="one-question", **question)
        assert (response.status_code, response.json()["type"]) == (422, "/api/docs/#problem-key-reused"), question


def test_error_for_an_unknown_model_names_the_offered_models(api: ApiClient) -> None:
    conversation_id = api.create_conversation()
    response = api.ask(conversation_id, "Hello", model="no/such-model")
    problem = response.json()
    assert response.status_code == 422
    assert problem["errors"] == {"model": [problem["detail"]]}
    assert problem["detail"].endswith("There is no model “no/such-model” here. Choose one of these: plotline-demo.")
    assert api.get(f"conversations/{conversation_id}/messages/").json()["results"] == []


def test_second_question_is_refused_while_a_turn_is_live(api: ApiClient) -> None:
    conversation_id = api.create_conversation(model="scenario-endless-20")
    started = api.ask(conversation_id, "First").json()
    stream = api.events(started["events_url"])
    next(event for event in stream if event.name == "text")
    refused = api.ask(conversation_id, "Second")
    assert (refused.status_code, refused.headers["Content-Type"]) == (409, "application/problem+json")
    assert refused.json()["type"] == "/api/docs/#problem-turn-live"
    assert refused.json()["turn"] == started["id"]
    assert api.get(f"conversations/{conversation_id}/").json()["live_turn_id"] == started["id"]
    answer = api.get(f"conversations/{conversation_id}/messages/").json()["results"][1]
    assert (answer["status"], answer["text"][:6]) == ("running", "word 1")
    assert api.post(f"turns/{started['id']}/stop/").status_code == 202
    assert list(stream)[-1].name == "done"


def test_second_stop_of_a_turn_returns_the_stopped_turn(api: ApiClient) -> None:
    started = api.start_turn("scenario-endless-20")
    stream = api.events(started["events_url"])
    next(event for event in stream if event.name == "text")
    assert api.post(f"turns/{started['id']}/stop/").status_code == 202
    rest = list(stream)
    assert {"status": "stopped"} in [event.data for event in rest]
    assert rest[-1].name == "done"
    assert "error" not in [event.name for event in rest]
    again = api.post(f"turns/{started['id']}/stop/")
    assert (again.status_code, again.json()["status"]) == (200, "stopped")


def test_error_of_a_failed_turn_comes_before_done(api: ApiClient) -> None:
    started = api.start_turn("scenario-cut")
    *_, error, done = api.events(started["events_url"])
    turn = api.get(f"turns/{started['id']}/").json()
    assert turn["status"] == "failed"
    assert (error.name, error.data, done.name) == ("error", turn["error"], "done")
    assert error.data["detail"].endswith(".")


def test_unknown_attachment_is_refused(api: ApiClient) -> None:
    conversation_id = api.create_conversation()
    refused = api.ask(conversation_id, attachments=[str(uuid.uuid4())])
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"] == {"attachments": ["An attached file is not known here."]}
    assert api.get(f"conversations/{conversation_id}/messages/").json() == {"results": [], "next": None}


def test_turn_can_be_followed_and_stopped_from_another_process(api: ApiClient, server: LiveServer, token: str) -> None:
    other_server = LiveServer(server.var_dir, server.variables)
    other_server.start()
    try:
        other = ApiClient(other_server, token)
        started = api.start_turn("scenario-endless-20")
        stream = other.events(started["events_url"])
        next(event for event in stream if "word 3 " in event.data.get("delta", ""))
        assert other.post(f"turns/{started['id']}/stop/").status_code == 202
        assert list(stream)[-1].name == "done"
        assert list(api.events(started["events_url"])) == list(other.events(started["events_url"]))
    finally:
        other_server.stop()


def test_stream_ends_when_its_token_is_revoked(api: ApiClient, server: LiveServer) -> None:
    secret = "plt_for-this-test-alone"
    digest = hashlib.sha256(secret.encode()).hexdigest()
    insert = (
        "insert into chat_apitoken (owner_id, name, digest, prefix, created_at)"
        " select id, 'short', ?, 'plt_', '2026-01-01' from chat_user where username = 'demo' returning id"
    )
    server.write(insert, digest)
    reader = ApiClient(server, secret)
    started = api.start_turn("scenario-endless-20")
    stream = reader.events(started["events_url"])
    assert next(stream).name == "status"
    server.write("update chat_apitoken set revoked_at = '2026-01-02' where digest = ?", digest)
    *_, error, done = stream
    assert (error.name, error.data["code"], error.seq) == ("error", "signed_out", None)
    assert done.name == "done"
    assert reader.get("conversations/").status_code == 401
    assert api.post(f"turns/{started['id']}/stop/").status_code == 202


def write_long_log(server: LiveServer, turn_id: str) -> None:
    """Replace the log of a turn with 400 rows of 8,000 characters."""
    key = uuid.UUID(turn_id).hex
    server.write("delete from chat_turnevent where turn_id = ?", key)
    insert = "insert into chat_turnevent (turn_id, seq, name, data)"
    name, data = to_row(PartStarted(0, Text("")))
    server.write(f"{insert} values (?, 1, ?, ?)", key, name, json.dumps(data))
    numbers = "with recursive number(n) as (select 2 union all select n + 1 from number where n < 401)"
    appended = json.dumps({"index": 0, "text": 8_000 * "x"})
    server.write(f"{insert} {numbers} select ?, n, 'append', ? from number", key, appended)


@pytest.mark.drill
def test_clients_that_stop_reading_take_little_memory_and_delay_no_others(api: ApiClient, server: LiveServer) -> None:
    started = api.start_turn("scenario-text")
    api.wait_for_end(started["id"])
    write_long_log(server, started["id"])
    # Read several streams at once, so that all reader threads have started, each with its connection.
    with ThreadPoolExecutor(8) as clients:
        [size_bytes] = set(clients.map(lambda _: len(api.get(started["events_url"]).content), range(8)))
    assert size_bytes > 3_200_000
    assert server.process
    process = psutil.Process(server.process.pid)
    bytes_before = process.memory_info().rss
    request = (
        f"GET {started['events_url']} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: {api.http.headers['Authorization']!s}\r\n\r\n"
    )
    with ExitStack() as sockets:
        for _ in range(15):
            stalled = sockets.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stalled.sendall(request.encode())
            assert stalled.recv(100).startswith(b"HTTP/1.1 200")
        # While this client reads the whole stream, the server has the time to send as much to each of the others.
        for _ in range(3):
            assert len(api.get(started["events_url"]).content) == size_bytes
        grown_bytes = process.memory_info().rss - bytes_before
    # A third of the size of all these streams.
    assert grown_bytes < 15 * size_bytes / 3, grown_bytes
