"""Turns over a real server: asked, followed, resumed, stopped; by one process and seen from another."""

from __future__ import annotations

import hashlib
import itertools
import json
import socket
import time
import uuid
from contextlib import ExitStack

import psutil
import pytest
from django.test import Client

from chat.models import Turn
from tests.chat.api.calling import Caller, Event
from tests.factories import make_conversation
from tests.live_server import LiveServer

CSV = b"month,sales\n" + b"".join(b"2026-%02d,%d\n" % (month, month * month) for month in range(1, 13))


TEXT_PART = {"index": 0, "part": {"kind": "text"}, "attachment": None}


def texts(events: list[Event]) -> str:
    """The answer's text, without markers."""
    return "".join(event.data["delta"] for event in events if event.name == "text")


def test_question_with_file_runs_code_and_every_event_tells_what_is_stored(caller: Caller) -> None:
    conversation_id = caller.new_conversation(title="Sales", code_execution="on")
    uploaded = caller.post("attachments/", files={"file": ("sales.csv", CSV)})
    assert uploaded.status_code == 201, uploaded.text
    file = uploaded.json()
    assert (file["mime_type"], file["size_bytes"], file["index"]) == ("text/csv", len(CSV), None)
    assert caller.get(file["url"]).content == CSV
    asked = caller.ask(conversation_id, "Plot this", attachments=[file["id"]])
    assert asked.status_code == 202, asked.text
    started = asked.json()
    assert set(started) == {"id", "status", "events_url"}
    events = list(caller.events(started["events_url"]))

    names = [event.name for event in events]
    assert names[0] == "status"
    assert events[0].data == {"status": "running"}
    assert names[-3:] == ["status", "usage", "done"]
    for name in ("text", "code_executable", "code_execution_result", "graph"):
        assert name in names
    assert names.index("code_executable") < names.index("code_execution_result") < names.index("graph")
    seqs = [event.seq or 0 for event in events]
    assert seqs == sorted(set(seqs)), [(event.seq, event.name) for event in events]

    question, answer = caller.get(f"conversations/{conversation_id}/messages/").json()["results"]
    assert [attached["id"] for attached in question["attachments"]] == [file["id"]]
    assert (answer["status"], answer["role"], answer["turn_id"]) == ("done", "model", started["id"])
    assert "".join(part.get("text", "") for part in answer["parts"] if part["kind"] == "text") == texts(events)
    assert "\n[GRAPH:0]\n" in answer["text"]
    codes = [part["code"] for part in answer["parts"] if part["kind"] == "executable_code"]
    assert codes == [event.data["executable_code"] for event in events if event.name == "code_executable"]
    (result,) = [event.data for event in events if event.name == "code_execution_result"]
    assert result["code_execution_outcome"] == "success"
    assert result["code_execution_output"] in [part.get("output") for part in answer["parts"]]
    graph = answer["attachments"][0]
    (drawn,) = [event.data for event in events if event.name == "graph"]
    assert drawn == {
        "index": 0,
        "attachment_id": graph["id"],
        **{name: graph[name] for name in ("mime_type", "width", "height")},
    }
    assert caller.get(graph["url"]).content.startswith(b"\x89PNG")
    assert events[-1].data == {"finish_reason": "STOP", "message_id": answer["id"]}
    turn = caller.get(f"turns/{started['id']}/").json()
    assert turn["usage"] == answer["usage"] == events[-2].data
    totals = caller.get(f"conversations/{conversation_id}/").json()
    assert totals["usage"]["total"] >= turn["usage"]["total"]
    assert (totals["usage"]["turns"], totals["live_turn_id"]) == (1, None)


def test_reader_who_comes_back_gets_exactly_the_rest(caller: Caller) -> None:
    started = caller.begin("scenario-code-two-rounds", code_execution="on")
    live = list(caller.events(started["events_url"]))
    assert list(caller.events(started["events_url"])) == live
    for number, event in enumerate(live[:-1]):
        assert list(caller.events(started["events_url"], after=event.seq)) == live[number + 1 :]
    # Whoever has the last one needs nothing more.
    nothing = caller.get(started["events_url"], headers={"Last-Event-ID": str(live[-1].seq)})
    assert (nothing.status_code, nothing.content) == (204, b"")


def test_reader_who_leaves_in_the_middle_misses_nothing(caller: Caller) -> None:
    started = caller.begin("scenario-long-12")
    first = list(itertools.islice(caller.events(started["events_url"]), 5))
    rest = list(caller.events(started["events_url"], after=first[-1].seq))
    assert first + rest == list(caller.events(started["events_url"]))
    assert rest[-1].name == "done"


def test_turn_goes_on_when_nobody_follows(caller: Caller) -> None:
    started = caller.begin("scenario-long-12")
    turn = caller.ended(started["id"])
    assert (turn["status"], turn["error"], turn["finish_reason"]) == ("done", None, "STOP")


def test_same_key_begins_one_turn(caller: Caller, server: LiveServer) -> None:
    conversation_id = caller.new_conversation(model="scenario-text")
    key = str(uuid.uuid4())
    answers = [caller.ask(conversation_id, "Once", key=key) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [202] * 4
    assert len({answer.json()["id"] for answer in answers}) == 1
    rows = server.rows("select count(*) from chat_turn where conversation_id = ?", uuid.UUID(conversation_id).hex)
    assert rows == [(1,)]
    caller.ended(answers[0].json()["id"])
    file = caller.post("attachments/", files={"file": ("sales.csv", CSV)}).json()["id"]
    for text, given in (
        ("Another", {}),
        ("Once", {"attachments": [file]}),
        ("Once", {"code_execution": "on"}),
        ("Once", {"model": "scenario-text"}),
    ):
        other = caller.ask(conversation_id, text, key=key, **given)
        assert (other.status_code, other.json()["type"]) == (422, "/api/docs/#problem-key-reused"), given


def test_same_key_with_the_same_choices_is_the_same_question(caller: Caller) -> None:
    conversation_id = caller.new_conversation()
    file = caller.post("attachments/", files={"file": ("sales.csv", CSV)}).json()["id"]
    given = {"attachments": [file], "code_execution": "off", "model": "scenario-text"}
    answers = [caller.ask(conversation_id, "Once", key="twice", **given) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202] * 2
    assert answers[0].json()["id"] == answers[1].json()["id"]


def test_second_question_is_refused_until_the_first_is_stopped(caller: Caller) -> None:
    conversation_id = caller.new_conversation(model="scenario-endless-20")
    started = caller.ask(conversation_id, "First").json()
    following = caller.events(started["events_url"])
    while next(following).name != "text":
        pass
    refused = caller.ask(conversation_id, "Second")
    assert refused.status_code == 409
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json()["type"] == "/api/docs/#problem-turn-live"
    assert refused.json()["turn"] == started["id"]
    live = caller.get(f"conversations/{conversation_id}/").json()
    assert live["live_turn_id"] == started["id"]
    half = caller.get(f"conversations/{conversation_id}/messages/").json()["results"][1]
    assert (half["status"], half["text"][:6]) == ("running", "word 1")
    stopped = caller.post(f"turns/{started['id']}/stop/")
    assert stopped.status_code == 202
    rest = list(following)
    assert [event.name for event in rest][-2:] == ["status", "done"] or rest[-1].name == "done"
    assert {"status": "stopped"} in [event.data for event in rest]
    again = caller.post(f"turns/{started['id']}/stop/")
    assert (again.status_code, again.json()["status"]) == (200, "stopped")


def test_failure_is_told_in_a_sentence_and_done_comes_last(caller: Caller) -> None:
    started = caller.begin("scenario-cut")
    events = list(caller.events(started["events_url"]))
    turn = caller.ended(started["id"])
    assert turn["status"] == "failed"
    *_, error, done = events
    assert (error.name, error.data, done.name) == ("error", turn["error"], "done")
    assert error.data["detail"].endswith(".")


def test_files_that_there_are_not_are_refused(caller: Caller) -> None:
    conversation_id = caller.new_conversation()
    refused = caller.ask(conversation_id, "Hello", attachments=[str(uuid.uuid4())])
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"] == {"attachments": ["An attached file is not known here."]}
    assert caller.get(f"conversations/{conversation_id}/messages/").json() == {"results": [], "next": None}


def test_another_process_tells_the_same_as_it_happens(caller: Caller, server: LiveServer, token: str) -> None:
    other = LiveServer(server.var_dir, server.variables)
    other.start()
    try:
        elsewhere = Caller(other, token)
        started = caller.begin("scenario-endless-20")
        following = elsewhere.events(started["events_url"])
        begun_at = time.monotonic()
        while next(following).data.get("delta", "").find("word 3 ") < 0:
            assert time.monotonic() - begun_at < 5
        # It runs in the first process; the second can stop it.
        assert elsewhere.post(f"turns/{started['id']}/stop/").status_code == 202
        assert list(following)[-1].name == "done"
        assert list(caller.events(started["events_url"])) == list(elsewhere.events(started["events_url"]))
    finally:
        other.stop()


def test_stream_ends_when_its_reader_may_not_read_any_more(caller: Caller, server: LiveServer) -> None:
    secret = "plt_for-this-test-alone"
    digest = hashlib.sha256(secret.encode()).hexdigest()
    insert = (
        "insert into chat_apitoken (owner_id, name, digest, prefix, created_at)"
        " select id, 'short', ?, 'plt_', '2026-01-01' from auth_user where username = 'demo' returning id"
    )
    server.write(insert, digest)
    reader = Caller(server, secret)
    started = caller.begin("scenario-endless-20")
    following = reader.events(started["events_url"])
    assert next(following).name == "status"
    server.write("update chat_apitoken set revoked_at = '2026-01-02' where digest = ?", digest)
    *_, error, done = following
    assert (error.name, error.data["code"], error.seq) == ("error", "signed_out", None)
    assert done.name == "done"
    assert reader.get("conversations/").status_code == 401
    assert caller.post(f"turns/{started['id']}/stop/").status_code == 202


def test_readers_who_take_nothing_fill_no_memory_and_stop_nobody(caller: Caller, server: LiveServer) -> None:
    started = caller.begin("scenario-text")
    caller.ended(started["id"])
    turn = uuid.UUID(started["id"]).hex
    # A long log, as many rounds of group commit would leave it.
    server.write("delete from chat_turnevent where turn_id = ?", turn)
    insert = "insert into chat_turnevent (turn_id, seq, name, data)"
    server.write(f"{insert} values (?, 1, 'part', '{json.dumps(TEXT_PART)}')", turn)
    count = "with recursive number(n) as (select 2 union all select n + 1 from number where n < 401)"
    row = "select ?, n, 'append', json_object('index', 0, 'text', printf('%.8000c', 'x')) from number"
    server.write(f"{insert} {count} {row}", turn)
    size_bytes = len(caller.get(started["events_url"]).content)
    assert size_bytes > 3_200_000
    assert server.process
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    request = (
        f"GET {started['events_url']} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: {caller.http.headers['Authorization']!s}\r\n\r\n"
    )
    with ExitStack() as readers:
        for _ in range(15):
            reader = readers.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.sendall(request.encode())
            assert reader.recv(100).startswith(b"HTTP/1.1 200")
        most_s = 0.0
        for _ in range(5):
            begun_at = time.monotonic()
            assert caller.get(f"turns/{started['id']}/").status_code == 200
            most_s = max(most_s, time.monotonic() - begun_at)
            time.sleep(0.1)
        grown_bytes = process.memory_info().rss - before
    # A third of what the answer takes, once for each.
    assert grown_bytes < 15 * size_bytes / 3, grown_bytes
    assert most_s < 1


@pytest.mark.django_db
def test_server_without_a_lasting_event_loop_refuses_in_words() -> None:
    conversation = make_conversation()
    client = Client()
    client.force_login(conversation.owner)
    path = f"/api/v1/conversations/{conversation.pk}/turns/"
    response = client.post(path, json.dumps({"text": "Hello"}), content_type="application/json")
    assert response.status_code == 503
    assert "python -m config.serve" in response.json()["detail"]
    assert not Turn.objects.exists()
