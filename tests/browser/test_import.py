"""The page uploads a large file in pieces, also over a connection that breaks, and after the page was closed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.page_errors import Watch
from tests.chat.library.imports.large_archives import conversation, write_archive
from tests.child_processes import terminate, tied
from tests.environment import ROOT
from tests.live_server import LiveServer, environment

pytestmark = pytest.mark.drill


def choose(page: Page, server: LiveServer, path: Path) -> None:
    """Choose a file on the page for imports, and send it."""
    page.goto(f"{server.url}/import/")
    page.set_input_files("#import-file", path)
    page.click("#import-form button[type=submit]")


def test_upload_of_a_large_file_continues_after_interruptions_and_shows_its_result(
    page: Page, server: LiveServer, watch: Watch, tmp_path: Path
) -> None:
    path = tmp_path / "export.zip"
    conversations = [conversation(number) for number in range(100, 104)]
    write_archive(path, [*conversations, {"title": "Broken"}], file_bytes=6 * 1024**2)
    sent: list[int] = []

    def answer(route: Route) -> None:
        """Break the line at the third and fourth piece. Hold all later ones until the page is closed."""
        if route.request.method != "PATCH":
            route.continue_()
            return
        sent.append(int(route.request.headers["upload-offset"]))
        if len(sent) in (3, 4):
            route.abort("connectionreset")
        elif len(sent) < 6:
            route.continue_()

    watch.expect_lost_server()
    page.route("**/import/*/", answer)
    choose(page, server, path)
    expect(page.locator("#import-progress")).to_have_text(re.compile(r"^\d+ %$|goes on by itself"))
    expect(page.locator("#import-progress")).to_have_text(re.compile(r"^(4[5-9]|[5-9]\d) %$"))
    assert sent[2] == sent[3] == sent[4]
    page.unroute("**/import/*/")
    page.goto(f"{server.url}/import/")
    watch.take_errors()
    expect(page.get_by_text(re.compile(r"\d+ % uploaded; choose the file again"))).to_be_visible()
    with page.expect_request(lambda request: request.method == "PATCH") as first:
        choose(page, server, path)
    assert int(first.value.headers["upload-offset"]) > sent[2]
    expect(page.locator("#progress-page")).to_contain_text("as soon as a worker is free")
    command = tied([sys.executable, "manage.py", "attachments_worker"])
    worker = subprocess.Popen(command, cwd=ROOT, env=environment(server.var_dir, **server.variables))
    try:
        # The page updates itself.
        expect(page.locator("#progress-page")).to_contain_text("The import is complete.", timeout=60_000)
    finally:
        terminate(worker, 30)
    expect(page.locator("#progress-page")).to_contain_text("4 conversations are new.")
    expect(page.locator("#progress-page")).to_contain_text("Broken: This file cannot be imported.")
    page.get_by_role("link", name="Conversation 100").click()
    expect(page.locator("#transcript")).to_contain_text("user 0 of conversation 100.")


def test_upload_can_be_cancelled(page: Page, server: LiveServer, tmp_path: Path) -> None:
    path = tmp_path / "cancelled.zip"
    write_archive(path, [conversation(200)], file_bytes=16 * 1024**2)
    # The second piece does not arrive.
    page.route(
        "**/import/*/",
        lambda route: route.continue_() if route.request.headers.get("upload-offset", "0") == "0" else None,
    )
    choose(page, server, path)
    expect(page.locator("#import-progress")).to_have_text(re.compile(r"^[2-9]\d %$"))
    page.click("#import-cancel")
    expect(page.locator("#import-cancel")).to_be_hidden()
    expect(page.locator("#import-note")).to_be_hidden()
    page.reload()
    expect(page.get_by_text("cancelled.zip")).to_have_count(0)
