"""Code that prints for a minute and draws three graphs: watched, stopped, reloaded, killed with its server, exported.

After each, the live page equals the reloaded one, and the page, the API and all exports agree about the output, the
outcome and the graphs. PLOTLINE_TEST_OUTPUT_S sets how long the code prints.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.chat.kill_drill import check_stored
from tests.chat.long_output import Shown, everything_shown, on_page
from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.kernel_service import KernelServiceProcess
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until

PRINTS_FOR_S = float(os.environ.get("PLOTLINE_TEST_OUTPUT_S") or 60)
END_LIMIT_S = 120.0
"""Time limit from the last output to the end of the answer, also after a restart. Generous for a busy machine."""
pytestmark = [pytest.mark.drill, pytest.mark.no_rerun, pytest.mark.timeout(PRINTS_FOR_S + 3 * END_LIMIT_S)]

GRAPHS = 3
MIDDLE = "after graph 3"
"""The code prints this after its last graph, before half of its time has passed."""
CODE = """
import sys, time
import matplotlib.pyplot as plt
began, line, graphs = time.monotonic(), 0, 0
while (seconds := time.monotonic() - began) < {seconds}:
    if graphs < 3 and seconds >= (graphs + 1) * {seconds} / 8:
        graphs += 1
        plt.plot(range(graphs + 1))
        plt.show()
        sys.stdout.write(f"after graph {{graphs}}\\n")
    sys.stdout.write(f"{{line}} of many\\r\\x1b[3{{line % 8}}mline {{line}}\\x1b[0m <{{line}}>\\n")
    sys.stdout.flush()
    line += 1
    time.sleep(0.02)
print("no line end", end="")
"""


@dataclass
class Tab:
    """A tab that applies each message until it is closed, or its server is killed."""

    socket: ClientConnection
    page: Page = field(default_factory=Page)
    seq: int = -1
    """The last step of the log that the page shows."""
    shown_at: dict[tuple[str, int], str] = field(default_factory=dict)
    """Turn and step -> digest of what the page showed after that step."""
    thread: threading.Thread | None = None

    def follow(self) -> None:
        """Read messages in a thread."""

        def read() -> None:
            try:
                for message in self.socket:
                    self.page.apply(str(message))
                    self._note()
            except ConnectionClosed:
                pass

        self.thread = threading.Thread(target=read)
        self.thread.start()

    def _note(self) -> None:
        message = self.page.last_message
        if message.get("turn"):
            self.seq = message["seq"]
            digest = hashlib.sha256(self.page.transcript.encode()).hexdigest()
            self.shown_at[message["turn"], message["seq"]] = digest

    def wait(self, condition: Callable[[str], bool], limit_s: float = PRINTS_FOR_S + END_LIMIT_S) -> None:
        """Wait until the page shows something."""
        wait_until(lambda: condition(self.page.transcript), limit_s)

    def close(self) -> None:
        """Close the tab, if it is open, and wait until its last message is applied."""
        self.socket.close()
        assert self.thread
        self.thread.join()


@dataclass
class Conversation:
    """A conversation whose code prints."""

    visitor: Visitor
    conversation_id: str

    @contextmanager
    def tab(self) -> Iterator[Tab]:
        """Open a tab that follows it."""
        with self.visitor.socket(self.conversation_id) as socket:
            tab = Tab(socket)
            tab.follow()
            try:
                yield tab
            finally:
                tab.close()

    def ask(self, tab: Tab) -> None:
        """Run the code, and wait until all its graphs are shown."""
        arguments = {"code": CODE.format(seconds=PRINTS_FOR_S), "timeout_s": PRINTS_FOR_S + END_LIMIT_S}
        send(tab.socket, f"%run_python {json.dumps(arguments)}")
        tab.wait(lambda html: MIDDLE in html)

    def check_end(self, outcome: str, *tabs: Tab) -> Shown:
        """Check that all tabs and all other forms of the answer agree; return their common content."""
        reloaded = self.visitor.transcript(self.conversation_id)
        for tab in tabs:
            tab.wait(lambda html: html == reloaded)
        forms = everything_shown(self.visitor, self.conversation_id)
        page = forms["page"]
        assert (page.outcome, page.graphs) == (outcome, GRAPHS)
        assert {name: shown for name, shown in forms.items() if shown != page} == {}
        check_lines(page.output)
        return page


def has_ended(html: str) -> bool:
    """Return whether the answer of a page has ended."""
    return bool(re.search(r'data-role="model" data-status="(?:done|stopped|interrupted|failed)"', html))


def check_lines(output: str) -> int:
    """Check that an output has all lines without a gap; return their number."""
    lines = [int(number) for number in re.findall(r"^line (\d+) <\1>$", output, flags=re.MULTILINE)]
    assert lines == list(range(len(lines)))
    assert lines
    assert [int(number) for number in re.findall(r"^after graph (\d)$", output, flags=re.MULTILINE)] == [1, 2, 3]
    return len(lines)


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with ExitStack() as stack:
        service = KernelServiceProcess()
        stack.callback(shutil.rmtree, service.directory, ignore_errors=True)
        stack.callback(service.stop)
        url = stack.enter_context(running_emulator())
        variables = {"KERNEL_SERVICE_DIR": str(service.directory), "KERNELS_PER_USER_LIMIT": "8"}
        limits = {"SETTING_TURN_LEASE_S": "2", "SETTING_KERNEL_CELL_LIMIT_S": str(int(PRINTS_FOR_S + END_LIMIT_S))}
        yield stack.enter_context(running_server(GOOGLE_GEMINI_BASE_URL=url, **variables, **limits))


@pytest.fixture
def conversation(server: LiveServer) -> Conversation:
    visitor = Visitor(server)
    conversation_id = visitor.new_conversation()
    fields = {"model": "scenario-function-script", "engine": "session", "code_execution": "on"}
    visitor.post(f"/c/{conversation_id}/settings/", **fields)
    return Conversation(visitor, conversation_id)


def test_page_api_and_exports_show_the_same_output_of_code_that_ran_to_its_end(conversation: Conversation) -> None:
    with conversation.tab() as tab:
        conversation.ask(tab)
        tab.wait(has_ended)
        assert conversation.check_end("success", tab).output.endswith("no line end")


def test_page_api_and_exports_agree_about_output_that_was_stopped(conversation: Conversation) -> None:
    with conversation.tab() as tab:
        conversation.ask(tab)
        tab.socket.send(json.dumps({"action": "stop"}))
        tab.wait(has_ended)
        shown = conversation.check_end("aborted", tab)
        assert not shown.output.endswith("no line end")
        assert 'data-status="stopped"' in tab.page.transcript


def test_tabs_opened_while_code_prints_show_the_same_as_the_first_tab(conversation: Conversation) -> None:
    with conversation.tab() as first, conversation.tab() as closed:
        conversation.ask(first)
        closed.close()
        with conversation.tab() as second, conversation.tab() as third:
            first.wait(has_ended)
            conversation.check_end("success", first, second, third)
    for tab in (closed, second, third):
        common = tab.shown_at.keys() & first.shown_at.keys()
        assert common
        assert {step: tab.shown_at[step] for step in common} == {step: first.shown_at[step] for step in common}


def test_page_api_and_exports_agree_about_output_of_a_killed_server(
    conversation: Conversation, server: LiveServer
) -> None:
    with conversation.tab() as killed:
        conversation.ask(killed)
        server.kill()
        assert killed.thread
        killed.thread.join()
    server.start()
    with conversation.tab() as tab:
        tab.wait(has_ended)
        shown = conversation.check_end("lost", tab)
        assert 'data-status="interrupted"' in tab.page.transcript
    before = on_page(killed.page.transcript)
    assert before.graphs == GRAPHS
    assert shown.output.startswith(before.output)
    [(turn_id, message_id)] = server.rows(
        "SELECT id, message_id FROM chat_turn WHERE conversation_id = ?", conversation.conversation_id.replace("-", "")
    )
    assert check_stored(server, turn_id, message_id, killed.page, killed.seq)


def test_exports_of_running_code_have_its_output_so_far(conversation: Conversation) -> None:
    with conversation.tab() as tab:
        conversation.ask(tab)
        during = everything_shown(conversation.visitor, conversation.conversation_id)
        tab.wait(has_ended)
        shown = conversation.check_end("success", tab)
    for name, early in during.items():
        assert (early.outcome, early.graphs) == ("", GRAPHS), name
        assert MIDDLE in early.output
        assert shown.output.startswith(early.output), name
        assert len(early.output) < len(shown.output), name
