"""Files for the next message: files that cannot be attached are refused before an upload."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, Request, expect

from chat.models.form_fields import ATTACHMENTS_LIMIT
from tests.browser.actions import BOX, QUESTION, ask
from tests.browser.page_errors import Watch
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

NOTE = "#composer-note"
CHIPS = "#files li"


def record_uploads(page: Page) -> list[Request]:
    """Return a list to which each upload that the page starts from now on is added."""
    uploads: list[Request] = []
    page.on("request", lambda request: uploads.append(request) if request.url.endswith("/attachments/") else None)
    return uploads


def attach(page: Page, paths: list[Path]) -> None:
    """Choose files after the page's scripts have loaded."""
    page.wait_for_load_state("load")
    page.set_input_files("#file", paths)


def test_file_that_is_too_large_is_refused_without_an_upload(page: Page, tmp_path: Path) -> None:
    large, small = tmp_path / "large.csv", tmp_path / "small.csv"
    with large.open("wb") as file:
        file.truncate(settings.UPLOAD_LIMIT_BYTES + 5 * 1024**2)
    small.write_text("a,b\n1,2\n")
    uploads = record_uploads(page)
    attach(page, [large, small])
    expect(page.locator(NOTE)).to_have_text("“large.csv” is too large (20 MB): a file may have 15 MB.")
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_text(re.compile("small.csv"))
    assert len(uploads) == 1


def test_message_lists_the_files_above_the_limit_that_were_not_attached(page: Page, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(ATTACHMENTS_LIMIT + 1)]
    for path in paths:
        path.write_text(path.name)
    uploads = record_uploads(page)
    attach(page, paths)
    expect(page.locator(NOTE)).to_have_text("“10.txt” was not attached: a message may have 10 files.")
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_count(ATTACHMENTS_LIMIT)
    assert len(uploads) == ATTACHMENTS_LIMIT
    page.locator(f"{CHIPS} button").first.click()
    attach(page, paths[-1:])
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_count(ATTACHMENTS_LIMIT)


#: Records all texts of chips, because a percentage passes.
RECORD_CHIPS = """() => {
    window.chipTexts = [];
    const record = () => chipTexts.push(document.getElementById("files").textContent);
    const changes = { childList: true, characterData: true, subtree: true };
    new MutationObserver(record).observe(document.getElementById("files"), changes);
}"""
SLOW_UPLOAD = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 1_000_000}


def test_chip_shows_the_percentage_while_a_file_is_uploaded(page: Page, tmp_path: Path) -> None:
    (tmp_path / "large.csv").write_bytes(b"a,b\n" + b"1,2\n" * 500_000)
    page.wait_for_load_state("load")
    page.evaluate(RECORD_CHIPS)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", SLOW_UPLOAD)
    with page.expect_file_chooser() as choice:
        page.click('#composer button[data-action="attach"]')
    choice.value.set_files(tmp_path / "large.csv")
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_text(re.compile(r"large\.csv\s*1\.9 MB"))
    texts: list[str] = page.evaluate("chipTexts")
    percents = [int(match[1]) for text in texts if (match := re.search(r"(\d+) %", text))]
    assert percents == sorted(percents)
    assert [percent for percent in percents if 0 < percent < 100]


#: Pastes a file into the text box, as a browser does after a file was copied.
PASTE = """(box, [name, text]) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([text], name, { type: "text/plain" }));
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


@pytest.mark.parametrize("name", ["100 %.txt", "50%25 off%.txt"])
def test_pasted_file_with_percent_signs_in_its_name_keeps_the_name(page: Page, name: str) -> None:
    page.wait_for_load_state("load")
    page.locator(BOX).evaluate(PASTE, [name, "content"])
    expect(page.locator(f"{CHIPS}:not([aria-busy]) bdi")).to_have_text([name])
    ask(page, "Hello")
    link = page.locator(f"{QUESTION} a.chip")
    expect(link.locator("bdi")).to_have_text(name)
    with page.expect_download() as download:
        link.click()
    assert download.value.path().read_text() == "content"
    assert download.value.suggested_filename == name


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (413, "takes no file of this size"),
        (502, "got no answer"),
        (429, "got no answer"),
        (403, "refuses it (status 403)"),
        (401, "Reload the page"),
        # A proxy sends its login page.
        (200, "Reload the page"),
    ],
)
def test_page_shows_a_sentence_if_a_proxy_refuses_an_upload(
    page: Page, watch: Watch, tmp_path: Path, status: int, words: str
) -> None:
    page.route("**/attachments/", lambda route: route.fulfill(status=status, body="<html>", content_type="text/html"))
    small = tmp_path / "small.csv"
    small.write_text("a,b\n1,2\n")
    attach(page, [small])
    expect(page.locator(NOTE)).to_contain_text(words)
    expect(page.locator(CHIPS)).to_have_count(0)
    assert [f"status of {status}" in error for error in watch.take_errors()] == [True] * (status != 200)


def test_import_page_says_if_the_file_is_too_large_or_a_proxy_refused_it(
    page: Page, server: LiveServer, watch: Watch, tmp_path: Path
) -> None:
    page.goto(f"{server.url}/import/")
    large, small = tmp_path / "large.json", tmp_path / "small.json"
    with large.open("wb") as file:
        file.truncate(settings.IMPORT_LIMIT_BYTES + 1)
    small.write_text("{}")
    note, button = page.locator("#import-note"), page.locator("#import-form [type=submit]")
    page.set_input_files("#import-file", large)
    button.click()
    expect(note).to_contain_text("“large.json” is too large: at most 2,048 MB can be imported here.")
    page.set_input_files("#import-file", small)
    button.click()
    expect(note).to_contain_text("This file cannot be imported.")
    page.route("**/import/", lambda route: route.fulfill(status=413, body="<html>", content_type="text/html"))
    button.click()
    expect(note).to_contain_text("takes no file of this size")
    assert "status of 413" in watch.take_errors()[-1]
