"""Temporary conversations on the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ask_and_wait

pytestmark = pytest.mark.drill


def test_temporary_conversation_answers_is_in_no_list_and_can_be_kept(page: Page) -> None:
    page.click("text=Temporary conversation")
    banner = page.locator("#temporary")
    expect(banner).to_contain_text("Deleted 10 minutes after you close its last tab.")
    address = page.url
    ask_and_wait(page, "Hello there")
    expect(page.locator("#conversation-title")).to_have_text("Hello there")
    entry = page.locator("#conversations").get_by_role("link", name="Hello there", exact=True)
    expect(entry).to_have_count(0)
    expect(page.locator('[data-action="share"]')).to_have_count(0)
    banner.get_by_role("button", name="Keep this conversation").click()
    expect(entry).to_have_count(1)
    expect(banner).to_have_count(0)
    assert page.url == address
