"""The drill with PgBouncer in transaction mode between Plotline and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

from tests.drills.exercise import Outcome, make_outcome, start_answers
from tests.drills.installation import Installation
from tests.drills.invariants import check, wait_for_end

GRAPHS = 3
GRAPH_ANSWERS = 4
TEXT_ANSWERS = 10
PAGES = (
    "/",
    "/gallery/",
    "/conversations/?q=sort",
    "/export/",
    "/api/v1/conversations/",
    "/api/v1/limits/",
)
TIMEOUT_MISSING = "The database role has no "
"""The beginning of a warning that a web process logs at its start."""
FORMATS = ("json", "md", "html", "ipynb", "zip")


def pgbouncer(installation: Installation) -> Iterator[Outcome]:
    """One full round through PgBouncer in transaction mode: questions, graphs, pages, exports and uploads."""
    tabs = start_answers(installation, GRAPH_ANSWERS, f"scenario-images-{GRAPHS}") + start_answers(
        installation, TEXT_ANSWERS
    )
    wait_for_end(installation.front)
    conversation_id = tabs[0].conversation_id
    paths = [*PAGES, f"/c/{conversation_id}/gallery/"]
    paths += [f"/c/{conversation_id}/export/{name}/" for name in FORMATS]
    faults = [fault for path in paths if (fault := _fetch(installation, path))]
    log = (installation.var_dir / "server.log").read_text()
    if TIMEOUT_MISSING in log:
        faults.append("the timeouts of the database role do not come through the pool")
    findings = check(installation, tabs, graphs=GRAPH_ANSWERS * GRAPHS)
    yield make_outcome("pgbouncer", findings, *faults, pages=len(paths), tracebacks=log.count("Traceback"))


def _fetch(installation: Installation, path: str) -> str:
    """Load a page to its end, and return a fault or an empty text."""
    visitor = installation.visitors[0]
    response = visitor.http.get(f"{visitor.server.url}{path}", timeout=60)
    return "" if response.ok else f"{path} answers {response.status_code}"
