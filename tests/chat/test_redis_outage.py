"""Redis goes away while an answer is written: pages of other processes go on, and logs do not grow."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.dom import Page
from tests.drills.services import Redis
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until
from tests.ports import free_port

pytestmark = pytest.mark.drill

LAG_LIMIT_S = 8.0
"""Generous for a busy machine. On an idle one the page is at most 2 s behind."""
ABSENT_STEPS = 25
"""Steps of the answer that are written while Redis is away."""


def follow(socket: ClientConnection, page: Page) -> threading.Thread:
    """Apply all messages of a socket in a thread."""

    def read() -> None:
        try:
            for message in socket:
                page.apply(str(message))
        except ConnectionClosed:
            pass

    thread = threading.Thread(target=read)
    thread.start()
    return thread


def log_steps(server: LiveServer) -> int:
    [[steps]] = server.rows("SELECT coalesce(max(seq), 0) FROM chat_turnevent")
    return int(steps)


def shown_steps(page: Page) -> int:
    return int(page.last_message.get("seq") or 0)


def check_page_goes_on(server: LiveServer, page: Page) -> float:
    """Return the longest time in s by which the page was behind the log, until the log has grown by ABSENT_STEPS."""
    end = log_steps(server) + ABSENT_STEPS
    stored: list[tuple[float, int]] = []
    longest_s = 0.0
    while not stored or stored[-1][1] < end:
        now_s, shown = time.monotonic(), shown_steps(page)
        stored.append((now_s, log_steps(server)))
        behind = [at_s for at_s, steps in stored if steps > shown]
        longest_s = max(longest_s, now_s - behind[0]) if behind else longest_s
        assert longest_s < LAG_LIMIT_S
        time.sleep(0.02)
    return longest_s


def test_page_of_another_process_goes_on_while_redis_is_away(tmp_path: Path) -> None:
    redis = Redis(tmp_path, free_port())
    redis.start()
    with (
        running_emulator(pace=1.0) as url,
        running_server(GOOGLE_GEMINI_BASE_URL=url, REDIS_URL=redis.url) as server,
    ):
        other = LiveServer(server.var_dir, server.variables)
        other.start()
        try:
            visitor, page = Visitor(server), Page()
            conversation_id = visitor.new_conversation()
            visitor.post(f"/c/{conversation_id}/settings/", model="scenario-long-8")
            away = Visitor(other)
            with visitor.socket(conversation_id) as tab, away.socket(conversation_id) as other_tab:
                own = follow(tab, own_page := Page())
                reader = follow(other_tab, page)
                send(tab, "go")
                wait_until(lambda: shown_steps(page) > 1)
                redis.stop()
                lag_s = check_page_goes_on(server, page)
                redis.start()
                wait_until(lambda: server.log().count("the channel layer is back") == 2)
                wait_until(lambda: server.rows("SELECT status FROM chat_turn") == [("done",)], 60)
                stored = visitor.transcript(conversation_id)
                wait_until(lambda: page.transcript == own_page.transcript == stored)
            own.join()
            reader.join()
            log = server.log()
        finally:
            other.stop()
            redis.stop()
        print(f"at most {lag_s:.2f} s behind")
        # One line when Redis went and one when it returned, in each process.
        assert len([line for line in log.splitlines() if "channel layer" in line]) == 4, log
        assert "Traceback" not in log
