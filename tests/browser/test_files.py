"""Files for the next message: what cannot be attached is said before anything is sent."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from playwright.sync_api import Page, Request, expect

from chat.forms import ATTACHMENTS_LIMIT

NOTE = "#composer-note"
CHIPS = "#files li"


def uploads_of(page: Page) -> list[Request]:
    """Uploads that the page begins from now on, as they come."""
    begun: list[Request] = []
    page.on("request", lambda request: begun.append(request) if request.url.endswith("/attachments/") else None)
    return begun


def attach(page: Page, paths: list[Path]) -> None:
    """Choose files as a person does, who never comes before the page's scripts."""
    page.wait_for_load_state("load")
    page.set_input_files("#file", paths)


def test_file_that_is_too_large_is_refused_without_an_upload(page: Page, tmp_path: Path) -> None:
    large, small = tmp_path / "large.csv", tmp_path / "small.csv"
    with large.open("wb") as file:
        file.truncate(settings.UPLOAD_LIMIT_BYTES + 5 * 1024**2)
    small.write_text("a,b\n1,2\n")
    begun = uploads_of(page)
    attach(page, [large, small])
    expect(page.locator(NOTE)).to_have_text("“large.csv” is too large (20 MB): a file may have 15 MB.")
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_text(re.compile("small.csv"))
    assert len(begun) == 1


def test_more_files_than_a_message_may_have_are_refused_by_name(page: Page, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(ATTACHMENTS_LIMIT + 1)]
    for path in paths:
        path.write_text(path.name)
    begun = uploads_of(page)
    attach(page, paths)
    expect(page.locator(NOTE)).to_have_text("“10.txt” was not attached: a message may have 10 files.")
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_count(ATTACHMENTS_LIMIT)
    assert len(begun) == ATTACHMENTS_LIMIT
    page.locator(f"{CHIPS} button").first.click()
    attach(page, paths[-1:])
    expect(page.locator(f"{CHIPS}:not([aria-busy])")).to_have_count(ATTACHMENTS_LIMIT)
