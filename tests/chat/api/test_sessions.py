"""The calls about the Python session of a conversation, at a real server with real kernels."""

from __future__ import annotations

from typing import Any

from tests.chat.api.api_client import ApiClient
from tests.live_server import LiveServer, Visitor
from tests.polling import wait_until

MODEL = "scenario-function-script"


def new_conversation(api: ApiClient) -> str:
    """Create a conversation whose code runs in the session. The model runs the code in the question."""
    return api.create_conversation(model=MODEL, engine="session", code_execution="on")


def run(api: ApiClient, conversation_id: str, code: str) -> dict[str, Any]:
    """Ask, and return the turn once it has ended."""
    started = api.ask(conversation_id, code)
    assert started.status_code == 202, started.text
    return api.wait_for_end(started.json()["id"])


def session_of(api: ApiClient, conversation_id: str) -> dict[str, Any]:
    """Return the session."""
    response = api.get(f"conversations/{conversation_id}/session/")
    assert response.status_code == 200, response.text
    session: dict[str, Any] = response.json()
    return session


def test_session_settings_of_a_conversation_can_be_read_and_changed(api: ApiClient) -> None:
    conversation_id = api.create_conversation()
    path = f"conversations/{conversation_id}/"
    names = ("engine", "approval", "web_search")
    assert [api.get(path).json()[name] for name in names] == ["auto", "auto", "auto"]
    changed = api.call("PATCH", path, json={"engine": "native", "approval": "ask", "web_search": "off"})
    assert [changed.json()[name] for name in names] == ["native", "ask", "off"]
    assert api.call("PATCH", path, json={"web_search": "maybe"}).status_code == 400
    refused = api.call("PATCH", path, json={"engine": "cloud"})
    assert refused.status_code == 400
    assert refused.json()["errors"] == {"engine": ["This must be one of auto, native, session."]}


def test_repeated_idempotency_key_starts_one_turn_and_is_refused_if_the_code_differs(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    path, headers = f"conversations/{conversation_id}/session/run/", {"Idempotency-Key": "code-1"}
    first = api.call("POST", path, json={"code": "1 + 1"}, headers=headers)
    assert first.status_code == 202, first.text
    api.wait_for_end(first.json()["id"])
    again = api.call("POST", path, json={"code": "1 + 1"}, headers=headers)
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])
    other = api.call("POST", path, json={"code": "2 + 2"}, headers=headers)
    assert (other.status_code, other.json()["type"]) == (422, "/api/docs/#problem-key-reused")


def test_session_shows_variables_and_files(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    assert session_of(api, conversation_id) == {
        "state": "stopped",
        "execution_count": 0,
        "variables": [],
        "files": [],
        "started_at": None,
        "note": "",
        "is_other_branch": False,
        "is_busy": False,
        "seconds_left": None,
        "kept_until": None,
        "can_replay": False,
    }
    turn = run(api, conversation_id, "x = [1, 2]\nopen('out.csv', 'w').write('a,b')")
    assert (turn["engine"], turn["move_reason"]) == ("session", "")
    session = session_of(api, conversation_id)
    assert (session["state"], session["execution_count"]) == ("running", 1)
    [variable] = session["variables"]
    assert (variable["name"], variable["type"], variable["preview"], variable["shape"]) == ("x", "list", "[1, 2]", [2])
    [file] = session["files"]
    assert (file["name"], file["size_bytes"]) == ("out.csv", 3)
    assert session["started_at"]


def test_files_are_sent_as_downloads_that_browsers_never_show(api: ApiClient, server: LiveServer) -> None:
    conversation_id = new_conversation(api)
    code = "open('größe <b>.html', 'wb').write(b'<script>' * 200_000)"
    run(api, conversation_id, code)
    [file] = session_of(api, conversation_id)["files"]
    response = api.get(file["url"])
    assert response.status_code == 200
    assert response.content == b"<script>" * 200_000
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Content-Disposition"].startswith("attachment; filename")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert api.call("HEAD", file["url"]).headers["Content-Type"] == "application/octet-stream"
    assert api.get(f"{file['url']}/").content == response.content
    for name in ("absent.csv", "..%2Fa.csv", "%2Fetc%2Fpasswd", ".%00"):
        assert api.get(f"conversations/{conversation_id}/session/files/{name}").status_code == 404
    run(api, conversation_id, "import os\nos.makedirs('out/ä b')\nopen('out/ä b/sums.csv', 'w').write('1')")
    file = next(file for file in session_of(api, conversation_id)["files"] if file["name"] == "out/ä b/sums.csv")
    response = api.get(file["url"])
    assert (response.content, api.get(f"{file['url']}/").content) == (b"1", b"1")
    assert response.headers["Content-Disposition"] == 'attachment; filename="sums.csv"'
    stranger = Visitor.signed_up(server, f"stranger-{conversation_id[:8]}", "a long password")
    assert stranger.http.get(f"{server.url}{file['url']}", timeout=60).status_code == 404


def test_file_that_code_wrote_can_be_kept_as_an_attachment(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    run(api, conversation_id, "open('größe.csv', 'w').write('a,b')")
    answer = api.get(f"conversations/{conversation_id}/messages/").json()["results"][1]
    [file] = [file for part in answer["parts"] for file in part.get("files", ())]
    assert (file["name"], file["size_bytes"], file["is_new"]) == ("größe.csv", 3, True)
    keep = f"messages/{answer['id']}/files/größe.csv/keep/"
    assert api.post(f"messages/{answer['id']}/files/other.csv/keep/").status_code == 404
    kept = api.post(keep)
    assert kept.status_code == 201, kept.text
    assert kept.json()["name"] == "größe.csv"
    assert kept.headers["Location"] == f"/api/v1/attachments/{kept.json()['id']}/"
    api.post(f"conversations/{conversation_id}/session/restart/")
    assert api.get(kept.json()["url"]).content == b"a,b"
    again = api.post(keep)
    assert (again.status_code, again.json()["id"]) == (200, kept.json()["id"])
    answer = api.get(f"conversations/{conversation_id}/messages/").json()["results"][1]
    assert [one["id"] for one in answer["attachments"]] == [kept.json()["id"]]


def test_error_names_a_file_that_was_lost_with_its_session(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    run(api, conversation_id, "open('out.csv', 'w').write('a,b')")
    answer = api.get(f"conversations/{conversation_id}/messages/").json()["results"][1]
    api.post(f"conversations/{conversation_id}/session/restart/")
    lost = api.get(f"conversations/{conversation_id}/session/files/out.csv")
    assert (lost.status_code, lost.json()["title"]) == (404, "Not found")
    assert lost.json()["detail"].startswith("The Python session has no file “out.csv” any more")
    refused = api.post(f"messages/{answer['id']}/files/out.csv/keep/")
    assert (refused.status_code, refused.json()["title"]) == (410, "The file has ended")
    assert refused.json()["detail"] == lost.json()["detail"]


def test_running_code_can_be_interrupted(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    interrupt = f"conversations/{conversation_id}/session/interrupt/"
    refused = api.post(interrupt)
    assert (refused.status_code, refused.json()["title"]) == (409, "No Python session")
    run(api, conversation_id, "x = 1")
    started = api.ask(conversation_id, "print('be' + 'gun', flush=True)\nwhile True: pass").json()
    message_of = f"conversations/{conversation_id}/messages/"
    wait_until(lambda: "begun" in api.get(message_of).text)
    assert api.post(interrupt).status_code == 200
    turn = api.wait_for_end(started["id"])
    assert turn["status"] == "done"
    assert "KeyboardInterrupt" in api.get(message_of).text
    assert [one["name"] for one in session_of(api, conversation_id)["variables"]] == ["x"]


def test_after_a_restart_of_the_session_the_next_answer_says_that_it_is_new(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    run(api, conversation_id, "x = 1")
    response = api.post(f"conversations/{conversation_id}/session/restart/")
    assert response.status_code == 200, response.text
    assert (response.json()["state"], response.json()["variables"]) == ("running", [])
    assert "restarted by its owner" in response.json()["note"]
    run(api, conversation_id, "print('x' in globals())")
    text = api.get(f"conversations/{conversation_id}/messages/").text
    assert "A new Python session was started." in text
    assert session_of(api, conversation_id)["note"] == ""


def test_session_can_be_kept_longer_ended_and_its_code_run_again(api: ApiClient) -> None:
    conversation_id = new_conversation(api)
    path = f"conversations/{conversation_id}/session"
    for call in ("close", "keep", "replay"):
        assert api.post(f"{path}/{call}/").status_code == 409
    run(api, conversation_id, "x = 41")
    run(api, conversation_id, "x += 1\nprint(x)")
    session = session_of(api, conversation_id)
    assert 0 < session["seconds_left"] <= 900
    assert not session["can_replay"]
    kept = api.post(f"{path}/keep/").json()
    assert kept["kept_until"]
    assert kept["seconds_left"] > 86_000
    other = new_conversation(api)
    run(api, other, "y = 1")
    refused = api.post(f"conversations/{other}/session/keep/")
    assert (refused.status_code, refused.json()["title"]) == (409, "Cannot be kept")
    assert "one person may keep 1" in refused.json()["detail"]
    assert api.call("POST", f"{path}/keep/", json={"keep": False}).json()["kept_until"] is None
    ended = api.post(f"{path}/close/").json()
    assert (ended["state"], ended["variables"], ended["can_replay"]) == ("stopped", [], True)
    assert "ended by its owner" in ended["note"]
    assert api.post(f"{path}/close/").status_code == 409
    replay = api.post(f"{path}/replay/").json()
    assert (replay["verdict"], replay["detail"]) == ("reproduced", "All 2 blocks of code gave the same again.")
    assert [one["verdict"] for one in replay["blocks"]] == ["reproduced", "reproduced"]
    session = session_of(api, conversation_id)
    assert not session["can_replay"]
    assert [(one["name"], one["preview"]) for one in session["variables"]] == [("x", "42")]


def test_session_reports_that_code_of_another_answer_version_ran_in_it(api: ApiClient, server: LiveServer) -> None:
    conversation_id = new_conversation(api)
    run(api, conversation_id, "x = 1")
    assert not session_of(api, conversation_id)["is_other_branch"]
    with Visitor(server).socket(conversation_id) as socket:
        socket.send('{"action": "regenerate"}')
        wait_until(lambda: session_of(api, conversation_id)["is_other_branch"])
        assert session_of(api, conversation_id)["execution_count"] >= 1
