"""The list of conversations in the sidebar: headings by date, the open conversation in view, and deletion with undo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.actions import ask_and_wait, change_settings
from tests.browser.axe import findings
from tests.browser.conftest import sign_in
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

OLD_ID = "00000000-0000-4000-8000-00000000001d"
CREATE = f"""
from datetime import timedelta
from django.utils import timezone
from chat.models import Conversation
from tests.factories import make_user
lister = make_user("lister", password="lister")
rows = [Conversation(owner=lister, title=f"Number {{n}}") for n in range(60)]
rows.append(Conversation(owner=lister, pk="{OLD_ID}", title="Long ago"))
for n, row in enumerate(Conversation.objects.bulk_create(rows)):
    age = timedelta(days=400 + n if n == 60 else n // 20)
    Conversation.objects.filter(pk=row.pk).update(updated_at=timezone.now() - age)
"""


@pytest.fixture(scope="module")
def window(browser: Browser, server: LiveServer) -> Iterator[BrowserContext]:
    """Open a window of a user with 60 conversations of three days, and an old one."""
    run_in_shell(server, CREATE)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    sign_in(context.new_page(), server, "lister")
    yield context
    context.close()


@pytest.fixture
def tab(window: BrowserContext) -> Iterator[Page]:
    page = window.new_page()
    yield page
    page.close()


def headings(page: Page) -> Locator:
    return page.locator("#conversations li.heading:visible")


def test_conversation_moves_to_the_heading_today_after_a_new_message_and_stays_in_view(
    tab: Page, server: LiveServer
) -> None:
    tab.goto(f"{server.url}/c/{OLD_ID}/")
    expect(headings(tab)).to_have_text(["Open now", "Today", "Yesterday"])
    entry = tab.locator("#conversations [aria-current]")
    expect(entry).to_be_in_viewport()
    # Scrolling loads the rest of the list. Its first heading is not repeated.
    tab.locator("#conversations .more").scroll_into_view_if_needed()
    expect(tab.locator("#conversations li:not(.heading)")).to_have_count(61)
    expect(headings(tab)).to_have_text(["Open now", "Today", "Yesterday", "Previous 7 days"])
    change_settings(tab, model="scenario-text")
    ask_and_wait(tab, "What is new?")
    expect(headings(tab).first).to_have_text("Today")
    expect(tab.locator("#heading-today + li")).to_contain_text("Long ago")
    expect(entry).to_be_in_viewport()


def test_open_conversation_is_scrolled_into_view(tab: Page, server: LiveServer) -> None:
    tab.goto(f"{server.url}/conversations/")
    # The fifteenth of the second day is far below the first screen.
    path = tab.locator("#heading-yesterday ~ li > a").nth(15).get_attribute("href")
    tab.goto(f"{server.url}{path}")
    expect(tab.locator("#conversations [aria-current]")).to_be_in_viewport(ratio=1)
    # A heading whose last entry has gone is not shown.
    entries = "#heading-today ~ [id^=entry]:has(~ #heading-yesterday)"
    tab.evaluate("(entries) => document.querySelectorAll(entries).forEach((entry) => entry.remove())", entries)
    expect(headings(tab).first).to_have_text("Yesterday")


def delete(page: Page, entry: Locator) -> None:
    """Delete the conversation of an entry by its menu, with the keyboard. No question follows."""
    entry.get_by_role("button").press("Enter")
    item = page.locator('#entry-menu [data-action="delete"]')
    expect(item).to_be_visible()
    item.press("Enter")


def test_deletion_can_be_undone_by_keyboard(tab: Page, server: LiveServer) -> None:
    tab.goto(f"{server.url}/c/{OLD_ID}/")
    # Another conversation than the open one: the page stays.
    entry = tab.locator("#conversations li").filter(has_text="Number 3")
    delete(tab, entry.first)
    undo = tab.locator("#sidebar-notice").get_by_role("button", name="Undo (30 s)")
    expect(undo).to_be_focused()
    expect(tab.locator("#sidebar-notice")).to_contain_text("Deleted: Number 3")
    tab.keyboard.press("Enter")
    expect(tab.locator("#sidebar-notice")).to_contain_text("Restored: Number 3")
    # The open conversation: the page is left, and the next one offers to undo it.
    delete(tab, tab.locator("#conversations li:has([aria-current])"))
    banner = tab.locator("#deleted")
    expect(banner).to_contain_text("was deleted. You can undo this for 30 seconds.")
    expect(tab).not_to_have_url(f"{server.url}/c/{OLD_ID}/")
    banner.get_by_role("button", name="Undo").press("Enter")
    tab.wait_for_url(f"{server.url}/c/{OLD_ID}/")
    expect(tab.locator("#conversations [aria-current]")).to_be_in_viewport()


def test_axe_finds_no_error_in_notices_about_deletions(tab: Page, server: LiveServer) -> None:
    tab.goto(server.url)
    delete(tab, tab.locator("#conversations li:has([aria-current])"))
    expect(tab.locator("#deleted")).to_be_visible()
    delete(tab, tab.locator("#conversations li").filter(has_text="Number 5").first)
    expect(tab.locator("#sidebar-notice")).to_contain_text("Deleted: Number 5")
    assert findings(tab, "#empty", is_brief=True) == []


def test_search_after_a_logout_keeps_the_list_and_shows_a_message(page: Page) -> None:
    page.context.clear_cookies()
    before = page.locator("#conversations").inner_html()
    page.fill("#search-box", "waves")
    expect(page.locator("#composer-note")).to_contain_text("You are no longer logged in.")
    assert page.locator("#conversations").inner_html() == before
