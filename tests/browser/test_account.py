"""The settings of a person in a browser: colours that differ from the device's, and the count of characters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import sign_in
from tests.browser.database import create_people
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

LIGHT, DARK = "rgb(251, 251, 249)", "rgb(21, 24, 23)"


@pytest.fixture
def painter(browser: Browser, server: LiveServer) -> Iterator[Page]:
    """Open a window of a separate account, on a device with light colours."""
    create_people(server, "painter")
    window = browser.new_context(color_scheme="light")
    page = window.new_page()
    sign_in(page, server, "painter")
    yield page
    window.close()


def test_settings_are_reached_from_the_sidebar_and_saved_by_keyboard(painter: Page) -> None:
    expect(painter.locator("html")).to_have_css("background-color", LIGHT)
    opener = painter.locator("button[popovertarget=account-menu]")
    opener.press("Enter")
    painter.keyboard.press("Escape")
    expect(opener).to_be_focused()
    opener.press("Enter")
    # The first links are graphs, shares and the import.
    for _ in range(4):
        painter.keyboard.press("Tab")
    painter.keyboard.press("Enter")
    painter.get_by_role("navigation", name="Settings").get_by_role("link", name="Appearance").press("Enter")
    painter.get_by_role("radio", name="As the device").focus()
    painter.keyboard.press("ArrowUp")
    painter.keyboard.press("Enter")
    expect(painter.get_by_role("status")).to_have_text("Saved.")
    expect(painter.get_by_role("radio", name="Dark")).to_be_checked()
    expect(painter.locator("html")).to_have_css("background-color", DARK)
    painter.emulate_media(media="print")
    expect(painter.locator("html")).to_have_css("background-color", LIGHT)
    painter.emulate_media(media="screen")
    painter.click(".brand")
    expect(painter.locator("#composer")).to_be_visible()
    expect(painter.locator("#scroller")).to_have_css("background-color", DARK)

    painter.goto(painter.url.split("/c/")[0] + "/accounts/defaults/")
    box = painter.get_by_label("Instruction", exact=True)
    box.fill("Größe 😀\n")
    expect(painter.locator("#instruction-count")).to_have_text("7 of 4,000 characters")
    box.fill("a" * 4001)
    expect(painter.locator("#instruction-count[data-over]")).to_have_text("4,001 of 4,000 characters")
    painter.get_by_role("button", name="Save").click()
    expect(painter.get_by_role("alert")).to_contain_text("at most 4,000 characters")
