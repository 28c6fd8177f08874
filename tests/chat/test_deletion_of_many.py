"""Thousands of conversations are deleted in the admin, and with an account, while another person works.

The figures are printed (`-s`).
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.live_server import ROOT, LiveServer, Visitor, environment, running_server
from tests.polling import wait_until

pytestmark = [pytest.mark.drill, pytest.mark.no_rerun, pytest.mark.timeout(1500)]

CONVERSATIONS = 4800
DELETION_LIMIT_S = 1200.0
P95_LIMIT_S, LONGEST_LIMIT_S = 1.0, 5.0
"""Limits for the requests of the other person, who writes: the 95th percentile and the longest."""

FILL_PROGRAM = """
import sys
import django
django.setup()
from chat.models import Conversation, Message, User
User.objects.create_superuser("boss", password="boss of all")
User.objects.filter(username="boss").update(is_staff=True)
number = int(sys.argv[1])
for name in ("ann", "bob"):
    owner = User.objects.create_user(name, password="a long pass phrase")
    for start in range(0, number, 200):
        rows = Conversation.objects.bulk_create(
            Conversation(owner=owner, title=f"bulk {start + i}") for i in range(min(200, number - start))
        )
        parents = {row.pk: None for row in rows}
        for index in range(12):
            made = Message.objects.bulk_create(
                Message(conversation=row, parent=parents[row.pk], index=index, role="model" if index % 2 else "user",
                        is_shown=True, text=f"message {index} " + "word " * 40)
                for row in rows
            )
            parents = {message.conversation_id: message for message in made}
"""


@dataclass
class Writer:
    """Another person, who creates conversations and reads the list without a pause."""

    visitor: Visitor
    waits_s: list[float] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    _is_over: threading.Event = field(default_factory=threading.Event)

    def work(self) -> None:
        """Write and read until `end`."""
        url, http = self.visitor.server.url, self.visitor.http
        headers = {"X-CSRFToken": http.cookies["csrftoken"] or "", "Referer": url}
        while not self._is_over.wait(0.05):
            for method, path in (("POST", "/api/v1/conversations/"), ("GET", "/conversations/")):
                began = time.perf_counter()
                response = http.request(
                    method,
                    f"{url}{path}",
                    json={"title": "mine"} if method == "POST" else None,
                    headers=headers,
                    timeout=120,
                )
                self.waits_s.append(time.perf_counter() - began)
                self.answers[response.status_code] += 1

    def end(self) -> None:
        """Stop working."""
        self._is_over.set()


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running_server(API_CALLS_PER_MINUTE="100000") as server:
        variables = {**environment(server.var_dir, **server.variables), "DJANGO_SETTINGS_MODULE": "config.settings"}
        subprocess.run(
            [sys.executable, "-c", FILL_PROGRAM, str(CONVERSATIONS)], cwd=ROOT, env=variables, check=True, timeout=600
        )
        yield server


def delete_conversations(boss: Visitor, user_id: str) -> None:
    """Delete all conversations of ann in the list, and confirm."""
    boss.post(f"/admin/chat/conversation/?user={user_id}", **confirm(boss, f"/admin/chat/conversation/?user={user_id}"))


def confirm(boss: Visitor, path: str) -> dict[str, str]:
    """Ask to delete all rows of a list, and return the fields of the confirmation."""
    began = time.perf_counter()
    listed = boss.http.get(f"{boss.server.url}{path}", timeout=60).text
    row = re.search(r'name="_selected_action" value="([^"]+)"', listed)
    assert row
    page = boss.post(path, action="delete_selected", select_across="1", index="0", _selected_action=row[1]).text
    print(re.findall(r"<li>(\w+: [\d,]+)</li>", page), f"confirmation after {time.perf_counter() - began:.2f} s")
    assert "4,800" in page
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


@pytest.mark.parametrize("what", ["conversations", "account"])
def test_others_can_write_while_thousands_of_conversations_are_deleted(server: LiveServer, what: str) -> None:
    name = "ann" if what == "conversations" else "bob"
    boss = Visitor(server, "boss", "boss of all")
    writer = Writer(Visitor.signed_up(server, f"writer-{what}", "Writing-all-day-1"))
    [(user_id,)] = server.rows("SELECT id FROM chat_user WHERE username = ?", name)
    thread = threading.Thread(target=writer.work)
    thread.start()
    try:
        began = time.perf_counter()
        if what == "account":
            page = boss.http.get(f"{server.url}/admin/chat/user/{user_id}/delete/", timeout=60).text
            assert "4,800" in page
            boss.post(f"/admin/chat/user/{user_id}/delete/", post="yes")
        else:
            delete_conversations(boss, name)
        print(f"{what}: the request took {time.perf_counter() - began:.2f} s")
        wait_until(lambda: _left(server, str(user_id)) == 0, DELETION_LIMIT_S)
        print(f"{what}: all rows are gone after {time.perf_counter() - began:.0f} s")
    finally:
        writer.end()
        thread.join()
    p95_s = statistics.quantiles(writer.waits_s, n=20)[-1]
    waits = f"p95 {p95_s:.3f} s, longest {max(writer.waits_s):.2f} s"
    print(f"{what}: {len(writer.waits_s)} requests of another person: {waits}")
    assert set(writer.answers) <= {200, 201}, writer.answers
    assert p95_s < P95_LIMIT_S
    assert max(writer.waits_s) < LONGEST_LIMIT_S


def _left(server: LiveServer, user_id: str) -> int:
    [(number,)] = server.rows("SELECT count(*) FROM chat_conversation WHERE owner_id = ?", user_id)
    return int(number)
