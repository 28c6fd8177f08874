"""A server process that is stopped at random moments, as by a busy machine: every answer still comes to its end.

PLOTLINE_TEST_STOPS sets the number of stops, and PLOTLINE_TEST_ANSWERS how many answers stream at once (24 at most).
The seed is fixed. The test is a drill, and prints its figures. In full:
`PLOTLINE_TEST_STOPS=1000 PLOTLINE_TEST_ANSWERS=20 make test-drills ARGS='-s -n 0 -k pauses'`.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator

import pytest

from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until

pytestmark = [pytest.mark.drill, pytest.mark.timeout(600)]

STOPS = int(os.environ.get("PLOTLINE_TEST_STOPS") or 15)
SEED = 20261123
STOPPED_S = (0.010, 0.050)
RUNNING_S = (0.001, 0.040)
VISITORS = ("", "second", "third")
ANSWERS = int(os.environ.get("PLOTLINE_TEST_ANSWERS") or 8)
"""Number of answers that stream at the same time. One person may have 8."""
IDLE_LIMIT_S = 20
"""A turn whose reading stalls fails after this time. It is far longer than a stop."""
LIMIT_S = 120.0


@pytest.fixture
def server() -> Iterator[LiveServer]:
    """A server whose answers last for some seconds."""
    with (
        running_emulator(pace=0.5) as url,
        running_server(GOOGLE_GEMINI_BASE_URL=url, SETTING_PROVIDER_IDLE_LIMIT_S=str(IDLE_LIMIT_S)) as running,
    ):
        yield running


def ask(visitor: Visitor) -> None:
    """Ask for a long answer in a new conversation. No tab follows it."""
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model="scenario-long-20")
    with visitor.socket(conversation_id) as socket:
        client_id = send(socket, "go")
        while client_id not in str(socket.recv(timeout=LIMIT_S)):
            pass


def live_turns(server: LiveServer) -> int:
    """Return the number of turns that have not ended."""
    [(number,)] = server.rows("SELECT count(*) FROM chat_turn WHERE status IN ('queued', 'running')")
    return int(number)


def stop_while_live(server: LiveServer, generator: random.Random, stops: int) -> int:
    """Stop and continue the process up to `stops` times, while answers stream; return how often."""
    assert server.process
    for number in range(stops):
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(generator.uniform(*STOPPED_S))
        server.process.send_signal(signal.SIGCONT)
        time.sleep(generator.uniform(*RUNNING_S))
        if number % 10 == 9 and not live_turns(server):
            return number + 1
    return stops


def test_all_answers_end_although_the_server_is_paused_at_random(server: LiveServer) -> None:
    generator = random.Random(SEED)
    visitors = [Visitor.signed_up(server, name, "a-long-pass-word-9") if name else Visitor(server) for name in VISITORS]
    stops = answers = 0
    while stops < STOPS:
        for number in range(ANSWERS):
            ask(visitors[number % len(visitors)])
        answers += ANSWERS
        stops += stop_while_live(server, generator, STOPS - stops)
        wait_until(lambda: not live_turns(server), LIMIT_S)
    statuses = server.rows("SELECT status, count(*) FROM chat_turn GROUP BY status")
    print(f"{stops} stops, {answers} answers: {statuses}")
    assert statuses == [("done", answers)]
