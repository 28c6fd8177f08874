"""`kill -9` of the service for Python sessions, and of the web server, while cells run.

The whole product runs: a web server, the service, and models that run the code in each question. Whatever is killed,
all output that was shown is stored, each turn ends with a sentence, no code runs twice, the next cell works, and no
process is left over. Variables survive the end of the web server, because the service lives on.

PLOTLINE_TEST_KILLS sets the number of kills of each of the two, and PLOTLINE_TEST_SEED their moments. The tests print
their figures:
`PLOTLINE_TEST_KILLS=50 make test-drills ARGS='-s -n 0 tests/chat/test_kill_sessions.py'`.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.chat.python.kernels.processes import gateway_pid, process_tree
from tests.chat.session_drill import MODELS, Drill
from tests.emulator_server import running_emulator
from tests.kernel_service import KernelServiceProcess
from tests.live_server import Visitor, running_server
from tests.openai_server.server import running_server as running_stand_in

KILLS = int(os.environ.get("PLOTLINE_TEST_KILLS") or 2)

pytestmark = [pytest.mark.drill, pytest.mark.no_rerun, pytest.mark.timeout(60 + 60 * KILLS)]

TURN_LEASE_S = 2


@pytest.fixture(scope="module")
def drill() -> Iterator[Drill]:
    with ExitStack() as stack:
        stand_in = stack.enter_context(running_stand_in())
        service = KernelServiceProcess()
        directory = service.directory
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        server = stack.enter_context(
            running_server(
                GOOGLE_GEMINI_BASE_URL=stack.enter_context(running_emulator()),
                OPENAI_BASE_URL=stand_in.url("ollama"),
                OPENAI_MODELS=MODELS[1],
                KERNEL_SERVICE_DIR=str(directory),
                KERNELS_PER_USER_LIMIT="4",
                SETTING_TURN_LEASE_S=str(TURN_LEASE_S),
            )
        )
        started = Drill(server, service, Visitor(server))
        # Stop the service that runs at the end, because the drill may have replaced it.
        stack.callback(lambda: started.service.stop())
        for model in MODELS:
            started.add_conversation(model)
        yield started


def kill_web_server(drill: Drill) -> list[int]:
    """Kill the web server; return its processes."""
    assert drill.server.process
    processes = [*process_tree(drill.server.process.pid)]
    drill.server.kill()
    return processes


def kill_supervisor(drill: Drill) -> list[int]:
    """Kill the supervisor; return its processes, with which all kernels must end."""
    processes = [*process_tree(drill.service.pid)]
    drill.service.kill()
    return processes


def kill_gateway(drill: Drill) -> list[int]:
    """Kill the gateway, which the supervisor starts again; return its processes."""
    gateway = gateway_pid(drill.service.pid)
    processes = [*process_tree(gateway)]
    os.kill(gateway, signal.SIGKILL)
    return processes


def test_sessions_outlive_the_web_server(drill: Drill) -> None:
    for _ in range(KILLS):
        drill.run_round(kill_web_server, drill.server.start, keeps_kernels=True)
    assert drill.service.place.status().restarts == 0
    drill.report("the web server")


def test_answers_say_that_the_service_was_killed_and_a_new_one_runs_the_next_code(drill: Drill) -> None:
    def restart_service() -> None:
        drill.service = KernelServiceProcess(directory=drill.service.directory)

    for _ in range(KILLS):
        if drill.generator.random() < 0.5:
            drill.run_round(kill_supervisor, restart_service)
        else:
            drill.run_round(kill_gateway, lambda: None)
    drill.report("the service")
