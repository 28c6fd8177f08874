"""The checker: compares what pages showed with the database, with reopened pages and with the bucket.

| count | what is wrong |
|---|---|
| lost | a page showed what is not in the database or not on the reopened page, or an accepted question is missing |
| doubled | a question was stored twice, or has several answers |
| stuck | a turn is still live after the drill |
| graphs | a graph is missing in the bucket or on its page, is stored twice, or has other bytes |
"""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field

from tests.chat.kill_drill import answer_at, rendered
from tests.dom import without_reruns
from tests.drills.installation import Installation
from tests.drills.tabs import Tab
from tests.live_server import LiveServer
from tests.parsed_html import ParsedHtml
from tests.polling import wait_until
from tests.server_databases import Row

END_LIMIT_S = 180.0
PAGE_LIMIT_S = 20.0
UPLOAD_LIMIT_S = 120.0
LIVE = "SELECT count(*) FROM chat_turn WHERE status IN ('queued', 'running')"
PENDING = "SELECT count(*) FROM attachments_pendingupload"
GRAPHS = (
    "SELECT a.storage_name, a.sha256, a.status, m.conversation_id FROM attachments_attachment a"
    " JOIN chat_messageattachment l ON l.attachment_id = a.id JOIN chat_message m ON m.id = l.message_id"
    " WHERE a.is_graph"
)


@dataclass
class Findings:
    """What the checker found. A list holds one sentence for each fault."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    graphs: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    """Number of answers by status."""

    @property
    def faults(self) -> list[str]:
        """All sentences."""
        return [*self.lost, *self.doubled, *self.stuck, *self.graphs]

    @property
    def figures(self) -> dict[str, float]:
        """The figures of a drill's report."""
        counts = {name: len(getattr(self, name)) for name in ("lost", "doubled", "stuck", "graphs")}
        return {"answers": self.statuses.total(), "interrupted": self.statuses["interrupted"], **counts}


def wait_for_end(server: LiveServer) -> None:
    """Wait until no turn is live, or until the checker may call it stuck."""
    with suppress(TimeoutError):
        wait_until(lambda: server.rows(LIVE) == [(0,)], END_LIMIT_S)


def check(installation: Installation, tabs: Sequence[Tab], *, graphs: int = 0) -> Findings:
    """Wait for the end of all turns, close the tabs, and compare them with everything that is stored.

    `graphs`: number of graphs of these tabs' answers, if all are done; with 0, graphs are not compared.
    """
    findings, server = Findings(), installation.front
    wait_for_end(server)
    [(live,)] = server.rows(LIVE)
    findings.stuck += [f"{live} turns are live"] * int(live)
    for tab in tabs:
        check_reopened(tab, findings)
        tab.close()
    for tab in tabs:
        findings.lost += [f"{tab.conversation_id}: {error!r}" for error in tab.errors]
        check_sightings(server, tab, findings)
        if tab.question:
            check_question(server, tab, findings)
    if graphs:
        check_graphs(installation, findings, {uuid.UUID(tab.conversation_id).hex for tab in tabs}, graphs)
    return findings


def check_reopened(tab: Tab, findings: Findings) -> None:
    """Compare the open page with a newly loaded page."""
    reopened = tab.visitor.transcript(tab.conversation_id)
    try:
        wait_until(lambda: tab.page.transcript == reopened, PAGE_LIMIT_S)
    except TimeoutError:
        findings.lost.append(f"{tab.conversation_id}: the open page differs from the reopened one")


def check_sightings(server: LiveServer, tab: Tab, findings: Findings) -> None:
    """For each loss of the connection, compare what the page showed with the log up to that step."""
    turns = {
        message: turn
        for turn, message in server.rows(
            "SELECT id, message_id FROM chat_turn WHERE conversation_id = ?", tab.conversation_id
        )
    }
    for seen in tab.sightings:
        message_id = uuid.UUID(seen.message_id)
        if message_id.hex not in turns:
            continue
        stored = rendered(answer_at(server, turns[message_id.hex], seen.seq), message_id)
        if without_reruns(seen.html) != stored:
            findings.lost.append(f"{tab.conversation_id}: the log up to {seen.seq} differs from what a page showed")


def check_question(server: LiveServer, tab: Tab, findings: Findings) -> None:
    """Check that the question was stored once, with exactly one answer."""
    turns = server.rows("SELECT status FROM chat_turn WHERE client_id = ?", tab.client_id)
    roles = Counter(
        role for (role,) in server.rows("SELECT role FROM chat_message WHERE conversation_id = ?", tab.conversation_id)
    )
    if not turns or not tab.is_accepted or not roles["user"] or not roles["model"]:
        findings.lost.append(f"{tab.conversation_id}: the question has no answer")
    if len(turns) > 1 or roles["user"] > 1 or roles["model"] > 1:
        findings.doubled.append(f"{tab.conversation_id}: {len(turns)} turns, {dict(roles)}")
    findings.statuses.update(status for (status,) in turns)


def check_graphs(installation: Installation, findings: Findings, conversations: Set[str], expected: int) -> None:
    """Wait for the uploads, and check that each graph is in the bucket once and comes unchanged through its page.

    `expected`: how many graphs these conversations must have. A graph that was stored twice makes more of them.
    """
    server, storage = installation.front, installation.storage
    with suppress(TimeoutError):
        wait_until(lambda: server.rows(PENDING) == [(0,)], UPLOAD_LIMIT_S)
    rows = server.rows(GRAPHS)
    drawn = sum(row[3] in conversations for row in rows)
    if drawn != expected:
        findings.graphs.append(f"{drawn} graphs are stored, and the answers drew {expected}")
    findings.graphs += compare_bucket(rows, storage.names(), storage.read)
    for conversation in {row[3] for row in rows}:
        hashes = Counter(row[1] for row in rows if row[3] == conversation)
        if fetch_graphs(installation, conversation) != hashes:
            findings.graphs.append(f"{conversation}: the page shows other graphs than the database holds")


def compare_bucket(rows: Sequence[Row], names: Sequence[str], read: Callable[[str], bytes]) -> list[str]:
    """Return one sentence for each graph that is not in the bucket once and unchanged.

    `rows`: name, hash and status of each graph; equal graphs of a person share an object. `names`: all objects.
    `read`: returns the content of an object.
    """
    faults, stored = [], Counter(names)
    for name, sha256, status, *_ in rows:
        if status != "stored" or stored[name] != 1:
            faults.append(f"{name} is {status} and {stored[name]} times in the bucket")
        elif hashlib.sha256(read(name)).hexdigest() != sha256:
            faults.append(f"{name} has other bytes in the bucket")
    return faults + [f"{name} belongs to no attachment" for name in stored.keys() - {row[0] for row in rows}]


def fetch_graphs(installation: Installation, conversation: str) -> Counter[str]:
    """Load a conversation's page with all its images, and return the hash of each."""
    hashes: Counter[str] = Counter()
    for visitor in installation.visitors:
        for shown in ParsedHtml(visitor.transcript(str(uuid.UUID(conversation)))).find_all("img"):
            image = visitor.http.get(f"{visitor.server.url}{shown['src']}", timeout=60)
            hashes[hashlib.sha256(image.content).hexdigest()] += 1
    return hashes
