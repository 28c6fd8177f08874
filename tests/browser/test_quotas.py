"""The refusal of a second export is shown in place, and what was written stays."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import BOX
from tests.browser.page_errors import Watch
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

SELECT_DEMO = "SELECT id FROM chat_user WHERE username = 'demo'"


def test_second_export_at_the_same_time_is_refused_in_place_and_the_draft_is_kept(
    page: Page, server: LiveServer, watch: Watch
) -> None:
    watch.expect("status of 409")
    page.fill(BOX, "a draft")
    url = page.url
    values = f"id, '{uuid.uuid4().hex}', '2999-01-01 00:00:00'"
    columns = "user_id, claim, expires_at"
    server.write(f"INSERT INTO chat_runningexport ({columns}) {SELECT_DEMO.replace('id', values, 1)}")
    try:
        page.click("button[popovertarget=export-menu]")
        page.click("#export-menu a:has-text('All conversations')")
        expect(page.locator("#composer-note")).to_contain_text("Another export of all your conversations is under way.")
    finally:
        server.write("DELETE FROM chat_runningexport")
    assert page.url == url
    expect(page.locator(BOX)).to_have_value("a draft")
    page.click("button[popovertarget=export-menu]")
    with page.expect_download() as download:
        page.click("#export-menu a:has-text('All conversations')")
    assert download.value.suggested_filename.endswith(".zip")
    expect(page.locator("#composer-note")).to_be_empty()
