"""Shares: the dialog of the owner, and the page of readers, with and without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.actions import ask_and_wait, change_settings, choose_in_account_menu
from tests.browser.sample_conversations import RICH_ID, SHARE_TOKEN
from tests.live_server import LiveServer

SHARED = f"/s/{SHARE_TOKEN}/"


@pytest.fixture
def tab(browser: Browser, reader_state: StorageState, server: LiveServer) -> Iterator[Page]:
    """Open the conversation of the sample link as its owner."""
    window = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=reader_state)
    window.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.new_page()
    page.goto(f"{server.url}/c/{RICH_ID}/")
    yield page
    window.close()


def test_owner_can_make_copy_and_revoke_a_share_link_in_the_dialog(
    tab: Page, browser: Browser, server: LiveServer
) -> None:
    tab.click('[data-action="share"]')
    dialog = tab.locator("#share")
    expect(dialog.locator(".shares li")).to_have_count(1)
    dialog.get_by_label("The link works").select_option("7")
    dialog.get_by_role("button", name="Make a link").click()
    expect(dialog.get_by_role("status")).to_contain_text("The link is ready.")
    expect(dialog.locator(".shares li")).to_have_count(2)
    new = dialog.locator(".shares li.new")
    expect(new).to_contain_text("Not opened yet")
    expect(new.get_by_role("button", name="Copy link")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(new.get_by_text("Copied")).to_be_visible()
    # Screen readers ignore announcements outside the dialog.
    expect(dialog.locator("[aria-live]")).to_have_text("Copied")
    url = tab.evaluate("navigator.clipboard.readText()")
    assert url.startswith(f"{server.url}/s/")
    reader = browser.new_context()
    assert '<h1 dir="auto">Sales</h1>' in reader.request.get(url).text()
    new.get_by_role("button", name="Revoke").click()
    expect(dialog.locator(".shares li")).to_have_count(1)
    assert reader.request.get(url).status == 404
    reader.close()


@pytest.mark.drill
def test_share_link_is_copied_even_if_the_browser_offers_no_clipboard_api(tab: Page, server: LiveServer) -> None:
    tab.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    tab.click('[data-action="share"]')
    button = tab.locator("#share .shares li").filter(has_text=SHARED).locator('[data-action="copy-link"]')
    button.click()
    expect(button).to_have_text("Copied")
    expect(button).to_be_focused()
    other = tab.context.new_page()
    other.goto(server.url)
    assert other.evaluate("navigator.clipboard.readText()") == server.url + SHARED


@pytest.mark.drill
def test_share_link_can_be_copied_from_the_list_of_all_shared_links(tab: Page, server: LiveServer) -> None:
    with tab.expect_navigation():
        choose_in_account_menu(tab, "Shared links")
    link = tab.locator(".shares li").filter(has_text=SHARED)
    link.get_by_role("button", name="Copy link").press("Enter")
    expect(link.get_by_role("button", name="Copied")).to_be_visible()
    expect(tab.locator("#announcer")).to_have_text("Copied")
    assert tab.evaluate("navigator.clipboard.readText()") == server.url + SHARED


@pytest.mark.drill
def test_conversation_can_be_shared_and_exported_only_after_its_first_message(tab: Page) -> None:
    with tab.expect_navigation():
        tab.click("text=New conversation")
    share, export = tab.locator('[data-action="share"]'), tab.locator("button[popovertarget=export-menu]")
    formats = tab.locator("#export-menu").get_by_role("link", name="Markdown")
    expect(share).to_be_hidden()
    export.click()
    expect(tab.get_by_text("It has no messages yet.")).to_be_visible()
    expect(tab.get_by_role("link", name="All conversations")).to_be_visible()
    expect(formats).to_be_hidden()
    tab.keyboard.press("Escape")
    change_settings(tab, model="scenario-text")
    ask_and_wait(tab, "go")
    expect(share).to_be_visible()
    export.click()
    expect(formats).to_be_visible()
    expect(tab.get_by_text("It has no messages yet.")).to_be_hidden()


@pytest.mark.drill
def test_visitor_can_read_a_shared_page_without_scripts_on_a_phone(browser: Browser, server: LiveServer) -> None:
    reader = browser.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = reader.new_page()
    scripts: list[str] = []
    page.on("request", lambda request: scripts.append(request.url) if request.resource_type == "script" else None)
    with page.expect_response(lambda response: "/files/" in response.url and response.ok) as graph:
        page.goto(server.url + SHARED)
    assert graph.value.headers["cache-control"] == "private, no-store"
    assert scripts == []
    expect(page.locator("figure[data-graph-index] img").first).to_be_visible()
    page.locator("summary", has_text="Thoughts").first.click()
    expect(page.get_by_text("Bars show months well.")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    box = page.locator("body").bounding_box()
    assert box
    assert box["width"] == 390
    page.get_by_role("link", name="Log in to continue from this").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    reader.close()
