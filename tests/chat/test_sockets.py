"""The socket of a real server: who may connect, which answers it sends, and that all tabs end with the same page."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import requests
from django.conf import settings
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from chat.consumers import CLOSE_TOO_FAST
from chat.page.relay.follower import CLOSE_DELETED, CLOSE_TOO_SLOW
from chat.page.relay.rate_limiter import REFUSED_LIMIT
from chat.page.relay.send_window import UNACKNOWLEDGED_BYTES
from chat.page.relay.socket_revalidation import CLOSE_SIGNED_OUT
from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    with running_emulator(pace=0.3) as url:
        yield url


@pytest.fixture(scope="module")
def server(emulator_url: str) -> Iterator[LiveServer]:
    with running_server(GOOGLE_GEMINI_BASE_URL=emulator_url) as running:
        yield running


@pytest.fixture(scope="module")
def demo(server: LiveServer) -> Visitor:
    return Visitor(server)


def conversation(visitor: Visitor, model: str) -> str:
    """Return the id of a new conversation with a scenario."""
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model=model)
    return conversation_id


def read(socket: ClientConnection, page: Page, *, until: str, limit_s: float = LIMIT_S) -> None:
    """Apply frames until the transcript or the error line holds `until`."""
    give_up_at = time.monotonic() + limit_s
    while until not in page.root.html():
        try:
            page.apply(str(socket.recv(timeout=max(0.1, give_up_at - time.monotonic()))))
        except TimeoutError:
            # The end of the page shows what arrived before.
            raise AssertionError(f"{until} did not come within {limit_s} s: {page.root.html()[-3000:]}") from None


def drain(socket: ClientConnection, page: Page) -> None:
    """Apply the frames that still arrive."""
    while True:
        try:
            page.apply(str(socket.recv(timeout=0.3)))
        except TimeoutError:
            return


def read_sentence(socket: ClientConnection, page: Page) -> str:
    """Apply frames until the error line has a text; return this text."""
    give_up_at = time.monotonic() + LIMIT_S
    while not (sentence := page.ids["composer-error"].inner().strip()):
        page.apply(str(socket.recv(timeout=max(0.1, give_up_at - time.monotonic()))))
    return sentence


def read_until_closed(socket: ClientConnection) -> int | None:
    """Acknowledge nothing, and return the code with which the server closes the socket.

    Raises TimeoutError if the socket stays open.
    """
    try:
        while True:
            socket.recv(timeout=LIMIT_S)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


def ended(server: LiveServer, conversation_id: str, limit_s: float = LIMIT_S) -> str:
    """Wait until the conversation's newest turn has ended, and return its status."""
    query = (
        "SELECT CASE WHEN status NOT IN ('queued', 'running') THEN status END FROM chat_turn"
        " WHERE conversation_id = ? ORDER BY created_at DESC LIMIT 1"
    )
    [(status,)] = wait_until(
        lambda: [row for row in server.rows(query, conversation_id.replace("-", "")) if row[0]], limit_s
    )
    return str(status)


def calls(emulator_url: str, model: str) -> list[dict[str, Any]]:
    """Return the journal of the emulator about a model's calls."""
    answer = requests.get(f"{emulator_url}/emulator/calls", timeout=60).json()
    listed = answer["calls"] if isinstance(answer, dict) else answer
    return [call for call in listed if call["model"] == model]


# --- the handshake ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://evil-127.0.0.1:{port}",
        "http://localhost:{port}",
        "http://127.0.0.1:{port}@evil.example",
        "ws://127.0.0.1:{port}",
        "",
    ],
)
def test_foreign_origin_is_refused_at_the_handshake(server: LiveServer, demo: Visitor, origin: str | None) -> None:
    conversation_id = demo.new_conversation()
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in demo.http.cookies.items())}
    if origin is not None:
        headers["Origin"] = origin.format(port=server.port)
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{server.port}/ws/conversations/{conversation_id}/", additional_headers=headers)
    # Daphne itself answers 400 if the header is not an origin at all.
    assert refused.value.response.status_code in (400, 403)


def test_only_its_owner_can_open_the_socket_of_a_conversation(server: LiveServer, demo: Visitor) -> None:
    conversation_id = demo.new_conversation()
    stranger = Visitor(server, "")
    other = Visitor.signed_up(server, f"other{uuid.uuid4().hex[:8]}", "a-long-pass-word-9")
    for visitor, target in ((stranger, conversation_id), (other, conversation_id), (demo, str(uuid.uuid4()))):
        with pytest.raises(InvalidStatus) as refused:
            visitor.socket(target)
        assert refused.value.response.status_code == 403


# --- what is sent -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "",
        "not json",
        "[]",
        "{}",
        '"send"',
        "null",
        "[" * 5000,
        '{"action": 7}',
        '{"action": "explode"}',
        '{"action": "__init__"}',
        '{"action": "\\ud800"}',
        '{"action": "continue"}',
        '{"action": "send"}',
        '{"action": "send", "text": ""}',
        '{"action": "send", "text": " \\n "}',
        '{"action": "send", "text": {"a": 1}}',
        '{"action": "send", "text": "x", "attachments": ["nonsense"]}',
        '{"action": "send", "text": "x", "attachments": ["00000000-0000-0000-0000-000000000000"]}',
        '{"action": "send", "text": "x", "client_id": 7}',
        '{"action": "regenerate"}',
        '{"action": "stop", "message_id": "nonsense"}',
        b"\x00\xff",
    ],
    ids=lambda message: repr(message)[:40],
)
def test_invalid_socket_message_is_answered_with_a_sentence_and_the_socket_stays_open(
    demo: Visitor, message: str | bytes
) -> None:
    with demo.socket(demo.new_conversation()) as socket:
        page = Page()
        socket.send(message)
        assert read_sentence(socket, page)
        send(socket, "hello")
        read(socket, page, until='data-role="model"')
        # Stop the answer, because one person may have only a few live answers, and there are more cases.
        socket.send('{"action": "stop"}')
        while 'data-status="running"' in page.root.html():
            page.apply(str(socket.recv(timeout=LIMIT_S)))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"action": "edit", "text": "x"}, "message_id"),
        ({"action": "edit", "message_id": "no", "text": "x"}, "no such message"),
        ({"action": "edit", "message_id": str(uuid.UUID(int=0)), "text": "x"}, "in view can be changed"),
        ({"action": "switch"}, "message_id"),
        ({"action": "switch", "message_id": str(uuid.UUID(int=0))}, "no such version"),
        ({"action": "regenerate", "message_id": {"a": 1}}, "no such message"),
        ({"action": "send", "text": "x", "code_execution": "sometimes"}, "auto, on or off"),
        ({"action": "send", "text": "x", "model": "../secrets"}, "not the name of a model"),
    ],
)
def test_malformed_action_on_the_socket_is_answered_with_a_sentence(
    demo: Visitor, message: dict[str, object], sentence: str
) -> None:
    with demo.socket(demo.new_conversation()) as socket:
        socket.send(json.dumps(message))
        read(socket, Page(), until=sentence)


def test_error_of_a_prompt_that_is_too_long_has_its_size_and_the_limit(demo: Visitor) -> None:
    with demo.socket(demo.new_conversation()) as socket:
        page = Page()
        send(socket, "x" * 1024 * 1024)
        sentence = read_sentence(socket, page)
        assert "1024 KB" in sentence
        assert "256 KB" in sentence
        drain(socket, page)
        assert page.accepted_ids == []


def test_refusal_has_the_client_id_of_the_refused_message(demo: Visitor) -> None:
    def refused(socket: ClientConnection, text: str, refusal: str) -> object:
        socket.send(text)
        while refusal not in (reply := str(socket.recv(timeout=LIMIT_S))):
            pass
        return json.loads(reply).get("rejected")

    with demo.socket(demo.new_conversation()) as socket:
        too_long = json.dumps({"action": "send", "text": "x" * 300_000, "client_id": "one"})
        assert refused(socket, too_long, "can be sent. Shorten it.") == "one"
        unknown = json.dumps({"action": "edit", "text": "x", "message_id": str(uuid.uuid4()), "client_id": "two"})
        assert refused(socket, unknown, "composer-error") == "two"
        assert refused(socket, json.dumps({"action": "approve", "call_id": "three"}), "composer-error") == "three"
        assert refused(socket, json.dumps({"action": "nothing", "client_id": "four"}), "no such action") is None
        for _ in range(100):
            socket.send("{}")
        assert refused(socket, json.dumps({"action": "send", "text": "x", "client_id": "five"}), "rejected") == "five"


def test_client_that_sends_too_fast_gets_a_sentence(demo: Visitor) -> None:
    with demo.socket(demo.new_conversation()) as socket:
        for _ in range(100):
            socket.send("{}")
        read(socket, Page(), until="too fast")


def test_client_that_floods_the_socket_gets_few_refusals_and_is_disconnected(demo: Visitor) -> None:
    answers = 0
    with demo.socket(demo.new_conversation()) as socket:
        with suppress(ConnectionClosed):
            for number in range(2 * REFUSED_LIMIT):
                socket.send(json.dumps({"action": "send", "text": "", "client_id": str(number)}))
        with suppress(ConnectionClosed):
            while True:
                answers += '"rejected"' in str(socket.recv(timeout=LIMIT_S))
        assert socket.close_code == CLOSE_TOO_FAST
    assert answers < REFUSED_LIMIT / 2


@pytest.mark.parametrize("code", [CLOSE_TOO_FAST, CLOSE_TOO_SLOW, CLOSE_DELETED, CLOSE_SIGNED_OUT])
def test_close_codes_are_in_the_range_that_a_server_may_send(code: int) -> None:
    assert 4000 <= code < 5000, "Autobahn lets a server send no other code but 1000, and leaves the socket open"


def test_number_of_open_sockets_of_one_person_is_limited(server: LiveServer) -> None:
    visitor = Visitor.signed_up(server, "manytabs", "a-long-pass-word-9")
    conversation_id = visitor.new_conversation()
    with ExitStack() as tabs:
        for _ in range(settings.SOCKETS_LIMIT):
            tabs.enter_context(visitor.socket(conversation_id))
        with pytest.raises(InvalidStatus):
            visitor.socket(conversation_id).__enter__()


def test_message_that_is_sent_repeatedly_with_one_client_id_starts_one_turn(server: LiveServer, demo: Visitor) -> None:
    conversation_id = conversation(demo, "scenario-text")
    with demo.socket(conversation_id) as socket:
        page = Page()
        message = json.dumps({"action": "send", "text": "once", "client_id": "c1"})
        for _ in range(5):
            socket.send(message)
        read(socket, page, until='data-role="model" data-status="done"')
        while len(page.accepted_ids) < 5:
            page.apply(str(socket.recv(timeout=LIMIT_S)))
        drain(socket, page)
        assert page.accepted_ids == ["c1"] * 5
    assert server.rows(
        "SELECT count(*) FROM chat_turn WHERE conversation_id = ?", conversation_id.replace("-", "")
    ) == [(1,)]


# --- following ----------------------------------------------------------------------------------------------------


def test_stop_closes_the_upstream_request(demo: Visitor, emulator_url: str) -> None:
    model = "scenario-endless-7"
    with demo.socket(conversation(demo, model)) as socket:
        page = Page()
        send(socket, "go on")
        read(socket, page, until='data-part-kind="text"')
        socket.send(json.dumps({"action": "stop"}))
        wait_until(lambda: calls(emulator_url, model)[-1]["state"] != "live")
        read(socket, page, until='data-role="model" data-status="stopped"')
        assert "You stopped this answer" in page.transcript


def test_turn_continues_when_its_tab_is_closed(server: LiveServer, demo: Visitor) -> None:
    conversation_id = conversation(demo, "scenario-code")
    with demo.socket(conversation_id) as socket:
        send(socket, "go")
        read(socket, Page(), until='data-role="model"')
    assert ended(server, conversation_id) == "done"


def check_all_tabs_end_with_the_page_of_a_reload(server: LiveServer, demo: Visitor, name: str) -> str:
    """Check that all kinds of tabs show the page of a reload at the end; return its transcript."""
    conversation_id = conversation(demo, f"scenario-{name}")
    first, late, returned = Page(), Page(), Page()
    with demo.socket(conversation_id) as socket:
        send(socket, "go")
        read(socket, first, until='data-part-kind="')
        with demo.socket(conversation_id) as brief:
            read(brief, returned, until='data-part-kind="')
        with demo.socket(conversation_id) as second, demo.socket(conversation_id) as third:
            read(second, late, until='data-role="model" data-status="done"')
            read(third, returned, until='data-role="model" data-status="done"')
        read(socket, first, until='data-role="model" data-status="done"')
    assert ended(server, conversation_id) == "done"
    reloaded = demo.transcript(conversation_id)
    assert reloaded.count("<article") == 2
    assert first.transcript == reloaded
    assert late.transcript == reloaded
    assert returned.transcript == reloaded
    return reloaded


@pytest.mark.parametrize(
    "name", ["code-two-rounds", "images", "markdown", pytest.param("long-30", marks=pytest.mark.drill)]
)
def test_tabs_opened_early_late_or_again_all_end_with_the_page_of_a_reload(
    server: LiveServer, demo: Visitor, name: str
) -> None:
    assert "Copy</button>" in check_all_tabs_end_with_the_page_of_a_reload(server, demo, name)


@pytest.mark.parametrize(("language", "word"), [("de", "Kopieren"), ("zh-hans", "复制")])
@pytest.mark.parametrize("name", ["code-two-rounds", "markdown"])
def test_tabs_in_another_language_end_with_the_page_of_a_reload(
    server: LiveServer, language: str, word: str, name: str
) -> None:
    visitor = Visitor.signed_up(server, f"reader-{language}-{name}", "a long password 7")
    visitor.post("/accounts/appearance/", theme="system", language=language)
    transcript = check_all_tabs_end_with_the_page_of_a_reload(server, visitor, name)
    assert f"{word}</button>" in transcript
    assert "Copy</button>" not in transcript


def test_errors_of_a_page_are_in_the_language_of_its_user(server: LiveServer) -> None:
    visitor = Visitor.signed_up(server, "reader-de-complaints", "a long password 7")
    visitor.post("/accounts/appearance/", theme="system", language="de")
    with visitor.socket(visitor.new_conversation()) as socket:
        page = Page()
        send(socket, "")
        assert "Schreiben Sie zuerst eine Nachricht." in read_sentence(socket, page)


def test_page_that_is_up_to_date_gets_no_snapshot(demo: Visitor) -> None:
    conversation_id = conversation(demo, "scenario-text")
    with demo.socket(conversation_id) as socket:
        send(socket, "go")
        read(socket, Page(), until='data-role="model" data-status="done"')
    page = demo.page(conversation_id)
    query = page.split(f"/ws/conversations/{conversation_id}/")[1].split('"')[0]
    assert "revision=" in query
    with demo.socket(conversation_id, query) as socket:
        # The first frame is the error about the empty message, so the server sent no snapshot.
        send(socket, "")
        first = str(socket.recv(timeout=60))
        assert "composer-error" in first
        assert "<article" not in first


@pytest.mark.parametrize("size_mib", [1, pytest.param(20, marks=pytest.mark.drill)])
def test_page_gets_a_message_of_many_mebibytes_with_placeholders_for_parts_of_its_text(
    server: LiveServer, demo: Visitor, size_mib: int
) -> None:
    conversation_id = conversation(demo, "scenario-text")
    with demo.socket(conversation_id) as socket:
        send(socket, "short")
        ended(server, conversation_id)
    line = "A line of a long answer.\n"
    lines = size_mib * 1024 * 1024 // len(line)
    row_id = conversation_id.replace("-", "")
    answer = "SELECT id FROM chat_message WHERE conversation_id = ? AND role = 'model'"
    server.write(f"UPDATE chat_part SET text = ? WHERE message_id IN ({answer})", f"{line * lines}The end.", row_id)
    server.write("UPDATE chat_conversation SET revision = revision + 1 WHERE id = ?", row_id)
    with demo.socket(conversation_id, "?revision=1") as socket:
        page = Page()
        read(socket, page, until="The end.")
        [[parts]] = server.rows(f"SELECT count(*) FROM chat_part WHERE message_id IN ({answer})", row_id)
        html = page.ids["transcript"].inner()
        links = re.findall(r'href="(/messages/[^"]+)"', html)
        headers = {"HX-Request": "true"}
        html += "".join(demo.http.get(f"{demo.server.url}{link}", headers=headers, timeout=60).text for link in links)
        assert html.count(line.strip()) == lines * int(parts)
        # The page is at the newest step, so it follows the next answer.
        send(socket, "and this")
        read(socket, page, until="and this")
        ended(server, conversation_id)
        drain(socket, page)
        # A newly loaded page begins after the long answer, so compare only the end.
        assert page.ids["transcript"].inner().endswith(demo.transcript(conversation_id))


def test_deleting_the_conversation_ends_its_sockets(demo: Visitor) -> None:
    conversation_id = conversation(demo, "scenario-text")
    with demo.socket(conversation_id) as socket:
        socket.recv(timeout=60)
        demo.post(f"/c/{conversation_id}/delete/")
        assert read_until_closed(socket) == CLOSE_DELETED


def test_logging_out_ends_open_sockets(server: LiveServer) -> None:
    visitor = Visitor(server)
    with visitor.socket(visitor.new_conversation()) as socket:
        socket.recv(timeout=60)
        visitor.post("/accounts/logout/")
        assert read_until_closed(socket) == CLOSE_SIGNED_OUT


def receive_long(socket: ClientConnection) -> None:
    """Receive messages until one is longer than a client may leave unacknowledged."""
    while len(str(socket.recv(timeout=LIMIT_S))) < UNACKNOWLEDGED_BYTES:
        pass


@pytest.mark.drill
def test_client_that_acknowledges_nothing_is_disconnected(server: LiveServer, demo: Visitor) -> None:
    conversation_id = conversation(demo, "scenario-text")
    with demo.socket(conversation_id) as socket:
        send(socket, "short")
        ended(server, conversation_id)
    row_id = conversation_id.replace("-", "")
    text = "A line of a long question.\n" * (UNACKNOWLEDGED_BYTES // 27 + 1)
    server.write("UPDATE chat_message SET text = ? WHERE conversation_id = ? AND role = 'user'", text, row_id)
    with demo.socket(conversation_id, "?revision=0") as socket:
        # The largest message does not count, so the second message exceeds the limit.
        receive_long(socket)
        server.write("UPDATE chat_conversation SET revision = revision + 1 WHERE id = ?", row_id)
        receive_long(socket)
        send(socket, "")
        assert read_until_closed(socket) == CLOSE_TOO_SLOW


@pytest.mark.drill
def test_sockets_that_never_read_do_not_delay_other_sockets(demo: Visitor) -> None:
    conversation_id = conversation(demo, "scenario-long-8")
    with ExitStack() as sleepers:
        for _ in range(5):
            sleepers.enter_context(demo.socket(conversation_id, max_queue=1))
        with demo.socket(conversation_id) as socket:
            page = Page()
            send(socket, "go")
            read(socket, page, until='data-role="model" data-status="done"', limit_s=60)
        assert page.transcript == demo.transcript(conversation_id)
