"""The frame on pages other than a conversation's: the palette, the menus of the list, the drawer, and drops."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.actions import choose_in_account_menu
from tests.browser.database import run_in_shell
from tests.browser.page_errors import Watch
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

CREATE = """
from chat.models import User
from tests.factories import make_conversation
for number in range(3):
    make_conversation(User.objects.get(username="demo"), title=f"Framed {number}")
"""
DROP = """([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: "application/json" }));
    for (const type of ["dragover", "drop"]) {
        const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
        document.querySelector("h1").dispatchEvent(event);
    }
}"""
"""Drops a file beside the field. Items of a `DataTransfer` that a script made are files, too."""


def test_command_palette_and_search_work_on_a_page_without_a_conversation(page: Page, server: LiveServer) -> None:
    run_in_shell(server, CREATE)
    page.goto(f"{server.url}/projects/")
    page.keyboard.press("Control+k")
    expect(page.locator("#commands input")).to_be_focused()
    page.keyboard.insert_text("tokens")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("API tokens")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.insert_text("framed 1")
    expect(page.locator("#conversations li.found")).to_have_count(1)
    expect(page.locator("#announcer")).to_have_text("Found: 1.")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#conversation-title")).to_have_text("Framed 1")
    # The open conversation is not listed while no text is typed.
    page.locator("#scroller").focus()
    page.keyboard.press("Control+k")
    expect(page.locator("#command-list")).to_contain_text("Framed 2")
    expect(page.locator("#command-list")).not_to_contain_text("Framed 1")
    page.keyboard.insert_text("framed")
    expect(page.locator("#command-list")).to_contain_text("Framed 1")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.locator("#command-list")).to_contain_text("Actions")
    expect(page.locator("#command-list")).not_to_contain_text("Framed 1")


def test_menu_of_a_conversation_works_on_every_page(page: Page, server: LiveServer) -> None:
    run_in_shell(server, CREATE)
    page.goto(f"{server.url}/gallery/")
    entry = page.locator("#conversations li").filter(has_text="Framed 2").first
    entry.get_by_role("button").press("Enter")
    page.click('#entry-menu [data-action="move"]')
    page.locator("#move").get_by_label("New project…").check()
    page.fill("#move-name", "Framed together")
    page.keyboard.press("Enter")
    expect(page.locator("#projects")).to_contain_text("Framed together")
    expect(page.locator("#sidebar-notice")).to_contain_text("Moved to Framed together")
    entry.get_by_role("button").press("Enter")
    page.locator('#entry-menu [data-mark="archived"]').press("Enter")
    page.locator("#sidebar-notice").get_by_role("button", name="Undo").press("Enter")
    expect(page.locator("#sidebar-notice")).to_contain_text("Restored from the archive")
    page.context.clear_cookies()
    page.fill("#search-box", "waves")
    page.wait_for_url(re.compile("/accounts/login/"))


def test_form_text_is_kept_when_the_login_ends_and_sent_after_a_new_login(page: Page, server: LiveServer) -> None:
    page.goto(f"{server.url}/projects/")
    page.fill("#main input[name=name]", "Kept")
    page.context.clear_cookies()
    page.fill("#search-box", "waves")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Log in in a new tab").click()
    opened.value.fill("input[name=login]", "demo")
    opened.value.fill("input[name=password]", "demo")
    opened.value.click("button[type=submit]")
    opened.value.wait_for_selector("#sidebar")
    opened.value.close()
    page.bring_to_front()
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.get_by_role("button", name="Create project").click()
    expect(page.locator("h1")).to_have_text("Kept")


def test_phone_reaches_all_pages_by_the_drawer_also_without_scripts(
    browser: Browser, reader_state: StorageState, server: LiveServer
) -> None:
    for has_scripts, opener in ((True, "button.drawer"), (False, "a.drawer")):
        window = browser.new_context(
            java_script_enabled=has_scripts, storage_state=reader_state, viewport={"width": 390, "height": 844}
        )
        phone = window.new_page()
        phone.goto(f"{server.url}/gallery/")
        expect(phone.locator("#sidebar")).to_be_hidden()
        phone.click(f"header {opener}")
        expect(phone.locator("#conversations a").first).to_be_in_viewport()
        choose_in_account_menu(phone, "Import")
        expect(phone.locator("h1")).to_have_text("Import conversations")
        window.close()


def test_file_that_is_dropped_on_the_page_is_imported(page: Page, server: LiveServer, watch: Watch) -> None:
    page.goto(f"{server.url}/import/")
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
    notebook["cells"] = [{"cell_type": "markdown", "metadata": {}, "source": "Dropped here", "id": "a"}]
    page.evaluate(DROP, ["dropped.ipynb", json.dumps(notebook)])
    button = page.get_by_role("button", name="Import", exact=True)
    expect(button).to_be_focused()
    button.press("Enter")
    expect(page.locator("main")).to_contain_text("Dropped here")
