"""A drill with `kill -9`: cells run in Python sessions while a process is killed, then everything is checked."""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.chat.kill_drill import Listener, check_stored
from tests.chat.python.kernels.processes import process_tree, processes_naming, survivors_of
from tests.kernel_service import KernelServiceProcess
from tests.live_server import LiveServer, Visitor
from tests.polling import wait_until

SEED = int(os.environ.get("PLOTLINE_TEST_SEED") or 20261122)
ENDED_WITHIN_S = 60.0
"""Time limit from the kill to the end of the turn, which includes the restart. Generous for a busy machine."""
KERNELS_END_WITHIN_S = 30.0
"""Time limit until the reaper ends the kernel of a deleted conversation. It runs every five seconds."""
MODELS = ("scenario-function-script", "script")
"""Both models run the code in the question: one with Gemini's protocol, one with OpenAI's."""
LINES = 75
FRESH_EVERY = 4
"""In each fourth round, a conversation without a kernel takes part too. Its first cell starts one."""
CELL = """
import secrets, time
runs = globals().get("runs", {{}})
kernel = globals().get("kernel") or secrets.token_hex(4)
runs[{number}] = runs.get({number}, 0) + 1
print("run {number} time", runs[{number}], "in", kernel, flush=True)
for line in range({lines}):
    print(f"cell-{number}-line-{{line}}", flush=True)
    time.sleep(0.04)
"""
"""Code that counts its own runs in the kernel, and prints the kernel's name. A second run would be counted too."""
NEXT_CELL = """
import json, secrets
kernel = globals().get("kernel") or secrets.token_hex(4)
runs = globals().get("runs", {})
print("state", json.dumps({"kernel": kernel, "runs": runs}))
"""
RUN = re.compile(r"run (\d+) time (\d+) in (\w+)")
LINE = re.compile(r"cell-(\d+)-line-(\d+)\n")
LOSS = re.compile(
    r"variables (?:of the session )?are lost\."
    r"|The service (?:for|that runs) Python sessions (?:does not|is|did not start one:) "
)
INTERRUPTED = "This answer was interrupted."


@dataclass
class Drill:
    """The processes, one conversation for each model, and the figures of all kills."""

    server: LiveServer
    service: KernelServiceProcess
    visitor: Visitor
    conversations: list[str] = field(default_factory=list)
    generator: random.Random = field(default_factory=lambda: random.Random(SEED))
    rounds: int = 0
    number: int = 0
    """Number of the last cell."""
    kernels: dict[str, str] = field(default_factory=dict)
    """Conversation -> the kernel that it had last."""
    outcomes: Counter[str] = field(default_factory=Counter)
    end_s: list[float] = field(default_factory=list)
    """Seconds from each kill to the end of its turns."""
    next_s: list[float] = field(default_factory=list)
    """Seconds that the next cell took after each kill."""

    def new_conversation(self, model: str) -> str:
        """Create a conversation whose code runs in a session."""
        conversation_id = self.visitor.new_conversation()
        self.visitor.post(f"/c/{conversation_id}/settings/", model=model, engine="session", code_execution="on")
        return conversation_id

    def add_conversation(self, model: str) -> None:
        """Create a conversation in which a kernel runs."""
        conversation_id = self.new_conversation(model)
        self.conversations.append(conversation_id)
        self.kernels[conversation_id] = self.run_next(conversation_id)["kernel"]

    def turn(self, client_id: str) -> tuple[str, str, str] | None:
        """Return a turn's id, its message's id and its status, or None if the question was not stored."""
        rows = self.server.rows("SELECT id, message_id, status FROM chat_turn WHERE client_id = ?", client_id)
        return rows[0] if rows else None

    def live_turns(self) -> int:
        """Return the number of turns that have not ended."""
        [(count,)] = self.server.rows("SELECT count(*) FROM chat_turn WHERE status IN ('queued', 'running')")
        return int(count)

    def output(self, message_id: str) -> str:
        """Return the stored output of a message's code."""
        rows = self.server.rows(
            "SELECT text FROM chat_part WHERE message_id = ? AND kind = 'code_execution_result' ORDER BY \"index\"",
            message_id,
        )
        return "".join(text or "" for (text,) in rows)

    def run_round(
        self, kill: Callable[[Drill], list[int]], restart: Callable[[], None], *, keeps_kernels: bool = False
    ) -> None:
        """Start a cell in each conversation, kill processes, start them again, and check everything.

        `kill` returns the processes that must have ended. `keeps_kernels`: whether the kernels must survive.
        """
        listeners = []
        self.rounds += 1
        has_fresh = self.rounds % FRESH_EVERY == 0
        fresh = [self.new_conversation(self.generator.choice(MODELS))] if has_fresh else []
        for conversation_id in [*self.conversations, *fresh]:
            self.number += 1
            listener = Listener(conversation_id)
            listener.listen(self.visitor, CELL.format(number=self.number, lines=LINES))
            listeners.append((self.number, listener))
        if self.generator.random() < 0.8 and not has_fresh:
            number, listener = self.generator.choice(listeners)
            wait_until(lambda: any(f"cell-{number}-line-0" in text for text in list(listener.received)))
        time.sleep(self.generator.uniform(0, 1.5))
        killed_at = time.monotonic()
        processes = kill(self)
        assert survivors_of(processes) == []
        restart()
        wait_until(lambda: not self.live_turns(), ENDED_WITHIN_S)
        self.end_s.append(time.monotonic() - killed_at)
        before = dict(self.kernels)
        for number, listener in listeners:
            self.check(number, listener)
        if keeps_kernels:
            assert self.kernels.items() >= before.items()
        for conversation_id in fresh:
            self.visitor.delete_conversation(conversation_id)
        self.check_processes()
        print(f"round {self.rounds}: {dict(self.outcomes)}", flush=True)

    def check(self, number: int, listener: Listener) -> None:
        """Check a cell and its tab, then run the next cell in the conversation."""
        turn = self.turn(listener.client_id)
        assert listener.thread
        if turn is not None:
            turn_id, message_id, _ = turn
            [(last,)] = self.server.rows("SELECT max(seq) FROM chat_turnevent WHERE turn_id = ?", turn_id)
            if listener.thread.is_alive():
                wait_until(lambda: listener.seq >= last)
            listener.close()
            check_stored(self.server, turn_id, message_id, listener.page, listener.seq)
            self.check_lines(number, listener, self.output(message_id))
            self.check_words(listener.conversation_id, turn)
        else:
            listener.close()
            assert listener.client_id not in listener.page.accepted_ids
        self.check_next(number, listener.conversation_id, turn)

    def check_lines(self, number: int, listener: Listener, output: str) -> None:
        """Assert that the lines of the cell are stored without a gap, and that all shown lines are stored."""
        stored = [int(line) for cell, line in LINE.findall(output) if int(cell) == number]
        assert stored == list(range(len(stored)))
        shown = [int(line) for cell, line in LINE.findall(listener.page.transcript) if int(cell) == number]
        # The page shows the code too, which has no numbers.
        assert set(shown) <= set(stored)

    def check_words(self, conversation_id: str, turn: tuple[str, str, str]) -> None:
        """Assert that the answer says so if its code did not run to its end."""
        _, message_id, status = turn
        if status == "interrupted":
            page = self.visitor.page(conversation_id)
            article = page.partition(f'data-message-id="{uuid.UUID(message_id)}"')[2].partition("</article>")[0]
            assert INTERRUPTED in article
            return
        assert status == "done"
        output = self.output(message_id)
        assert len(LINE.findall(output)) == LINES or LOSS.search(output), output

    def check_next(self, number: int, conversation_id: str, turn: tuple[str, str, str] | None) -> None:
        """Run the next cell, and count from its output and the earlier one how often the earlier cell has run."""
        state = self.run_next(conversation_id)
        runs = {int(cell): count for cell, count in state["runs"].items()}
        assert set(runs.values()) <= {1}, "code ran twice"
        first = self.output(turn[1]) if turn else ""
        found = RUN.findall(first)
        assert len(found) <= 1
        for _, count, kernel in found:
            assert count == "1"
            # In a new kernel, the earlier cell has never run. In the same kernel, it has run once.
            assert (number in runs) == (kernel == state["kernel"])
        status = turn[2] if turn else "not stored"
        self.note(status, first, is_same=self.kernels.get(conversation_id) == state["kernel"])
        self.kernels[conversation_id] = state["kernel"]

    def run_next(self, conversation_id: str) -> dict[str, Any]:
        """Run a cell to its end; return its output: the name of the kernel, and how often each cell has run there."""
        started_at = time.monotonic()
        listener = Listener(conversation_id)
        listener.listen(self.visitor, NEXT_CELL)
        wait_until(lambda: (found := self.turn(listener.client_id)) and found[2] not in ("queued", "running"), 90)
        listener.close()
        self.next_s.append(time.monotonic() - started_at)
        turn = self.turn(listener.client_id)
        assert turn is not None
        output = self.output(turn[1])
        assert turn[2] == "done", output
        assert "state {" in output, output
        state: dict[str, Any] = json.loads(output.partition("state ")[2])
        return state

    def note(self, status: str, output: str, *, is_same: bool) -> None:
        """Count how a cell ended."""
        lines = len(LINE.findall(output))
        progress = "before its first line" if not lines else "mid-cell" if lines < LINES else "after its last line"
        self.outcomes[f"{status}, {progress}, {'the same' if is_same else 'a new'} kernel afterwards"] += 1

    def check_processes(self) -> None:
        """Assert that the service has one kernel for each conversation, and that no other process or folder is left."""
        wait_until(lambda: self.service.place.status().kernels == len(self.conversations), KERNELS_END_WITHIN_S)
        tree = set(process_tree(self.service.pid))
        strays = [pid for pid in processes_naming(str(self.service.directory)) if pid not in tree]
        assert survivors_of(strays) == []

    def report(self, what: str) -> None:
        """Print the figures, and reset them."""
        print(f"\n{len(self.end_s)} kills of {what}, seed {SEED}, {sum(self.outcomes.values())} cells:")
        for outcome, count in sorted(self.outcomes.items()):
            print(f"  {count:4} {outcome}")
        for name, values in (("turns ended after the kill", self.end_s), ("next cell", self.next_s)):
            print(f"  {name}: median {statistics.median(values):.1f} s, slowest {max(values):.1f} s")
        assert any("mid-cell" in outcome for outcome in self.outcomes)
        self.outcomes.clear()
        self.end_s, self.next_s = [], []
