"""The checker and the report of the drills. The drills themselves run by `make drills`."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.drills.__main__ import DOCUMENT, DRILLS, load_drill, main
from tests.drills.invariants import Findings, check_question, compare_bucket
from tests.drills.report import Report, as_entry, format_table, latest_entries, replace_table
from tests.drills.tabs import Tab, measure_lag_s
from tests.live_server import LiveServer, Visitor
from tests.server_databases import SQLITE_FILE

CONVERSATION = "0123456789abcdef0123456789abcdef"
GRAPH = b"a graph"
SHA256 = hashlib.sha256(GRAPH).hexdigest()


@pytest.fixture
def server(tmp_path: Path) -> LiveServer:
    """A server whose database holds one question with its answer. It is never started."""
    with closing(sqlite3.connect(tmp_path / SQLITE_FILE)) as database:
        database.executescript(
            "CREATE TABLE chat_turn (client_id, status); CREATE TABLE chat_message (conversation_id, role);"
            "INSERT INTO chat_turn VALUES ('asked', 'done');"
            f"INSERT INTO chat_message VALUES ('{CONVERSATION}', 'user'), ('{CONVERSATION}', 'model');"
        )
    return LiveServer(tmp_path, {"DATABASE_URL": ""})


def findings_of(server: LiveServer, client_id: str = "asked") -> Findings:
    """Check one question that the server has accepted."""
    tab = Tab(Visitor(server, ""), CONVERSATION, question="a question", client_id=client_id)
    tab.page.accepted_ids.append(client_id)
    findings = Findings()
    check_question(server, tab, findings)
    return findings


def test_checker_finds_no_fault_for_a_question_with_one_answer(server: LiveServer) -> None:
    findings = findings_of(server)
    assert (findings.faults, dict(findings.statuses)) == ([], {"done": 1})


def test_checker_reports_an_accepted_question_without_a_turn_as_lost(server: LiveServer) -> None:
    assert len(findings_of(server, "other").lost) == 1


def test_checker_reports_a_question_with_two_turns_as_doubled(server: LiveServer) -> None:
    server.write("INSERT INTO chat_turn VALUES ('asked', 'done')")
    assert len(findings_of(server).doubled) == 1


def test_checker_reports_a_question_with_two_answers_as_doubled(server: LiveServer) -> None:
    server.write("INSERT INTO chat_message VALUES (?, 'model')", CONVERSATION)
    assert len(findings_of(server).doubled) == 1


@pytest.mark.parametrize(
    ("status", "names", "data", "faults"),
    [
        ("stored", ["a"], GRAPH, 0),
        ("stored", ["a"], b"other bytes", 1),
        ("pending", ["a"], GRAPH, 1),
        ("stored", [], GRAPH, 1),
        ("stored", ["a", "a"], GRAPH, 1),
        ("stored", ["a", "b"], GRAPH, 1),
    ],
)
def test_checker_reports_a_graph_that_is_missing_changed_or_stored_twice(
    status: str, names: list[str], data: bytes, faults: int
) -> None:
    assert len(compare_bucket([("a", SHA256, status)], names, lambda name: data)) == faults


def test_lag_of_a_page_is_the_longest_time_by_which_it_shows_a_step_later_than_another(server: LiveServer) -> None:
    leader, follower = (Tab(Visitor(server, ""), CONVERSATION) for _ in range(2))
    leader.positions = [(10.0, 1), (11.0, 2), (12.0, 3), (90.0, 4)]
    follower.positions = [(10.1, 1), (14.0, 3), (99.0, 4)]
    assert measure_lag_s(leader, follower, 9.0, 20.0) == 3.0


def test_table_shows_the_latest_figures_of_each_drill(tmp_path: Path) -> None:
    report = Report(tmp_path / "folder" / "report.jsonl")
    figures = {"answers": 14, "interrupted": 2, "lost": 0, "doubled": 0, "stuck": 0, "graphs": 0, "lag_s": 1.25}
    report.append(as_entry("redis-away", "2026-01-01T00:00:00+00:00", figures, ["an old fault"]))
    report.append(as_entry("redis-away", "2026-01-02T00:00:00+00:00", figures, []))
    [entry] = latest_entries(report.read())
    document = replace_table("before <!-- table -->old<!-- end of the table --> after", format_table([entry]))
    assert "| redis-away |" in document
    assert "lag_s 1.2" in document
    assert "old" not in document
    assert document.startswith("before <!-- table -->")


def test_every_drill_is_documented_and_can_be_loaded() -> None:
    for name in DRILLS:
        assert f"- **{name}**:" in DOCUMENT.read_text()
        assert load_drill(name).__doc__


def test_unknown_drill_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["no-such-drill"])
    assert "there are rolling-restart, web-killed" in capsys.readouterr().err
