"""Projects in the browser: moving a conversation, and the list in the sidebar."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.actions import ask_and_wait
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

CSV: FilePayload = {"name": "rain.csv", "mimeType": "text/csv", "buffer": b"month,mm\n1,40\n2,55\n"}
DROP = """async () => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["month,mm\\n3,70\\n"], "dropped.csv", { type: "text/csv" }));
    for (const name of ["dragover", "drop"]) {
        document.body.dispatchEvent(new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
}"""


def create_project(page: Page, server: LiveServer, name: str) -> None:
    """Create a project on the page of all projects, which leads to its own page."""
    page.goto(f"{server.url}/projects/")
    page.get_by_label("Name of a new project").fill(name)
    # The scripts of the page have run when it is loaded.
    with page.expect_navigation():
        page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def open_move_dialog(page: Page) -> None:
    """Open the dialog that moves the open conversation."""
    entry = page.locator("#conversations li:has([aria-current])")
    entry.hover()
    entry.locator('button[data-action="entry-menu"]').click()
    page.get_by_role("button", name="Move to project…").click()
    expect(page.locator("#move")).to_be_visible()


def test_conversation_can_be_moved_into_and_out_of_a_project_by_its_menu(page: Page, server: LiveServer) -> None:
    ask_and_wait(page, "Tell me about cranes")
    open_move_dialog(page)
    dialog = page.locator("#move")
    expect(dialog.get_by_label("Name of the new project")).to_be_hidden()
    dialog.get_by_label("New project…").check()
    expect(dialog.get_by_label("Name of the new project")).to_be_focused()
    dialog.get_by_role("button", name="Move").click()
    expect(dialog.get_by_role("alert")).to_have_text("Give the project a name.")
    dialog.get_by_label("Name of the new project").fill("Cranes")
    dialog.get_by_role("button", name="Move").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#conversation-project")).to_contain_text("Cranes")
    expect(page.locator("#projects")).to_contain_text("Cranes")
    expect(page.locator("#sidebar-notice")).to_contain_text("Moved to Cranes")
    open_move_dialog(page)
    expect(dialog.get_by_label("Cranes")).to_be_checked()
    dialog.get_by_label("No project").check()
    dialog.get_by_role("button", name="Move").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#conversation-project")).to_be_empty()


def test_list_of_projects_stays_folded_on_the_next_page(page: Page, server: LiveServer) -> None:
    url = page.url
    create_project(page, server, "Folded")
    page.goto(url)
    link = page.locator("#projects").get_by_role("link", name="Folded")
    expect(link).to_be_visible()
    page.locator("#projects summary").click()
    expect(link).to_be_hidden()
    page.reload()
    expect(page.locator("#projects summary")).to_be_visible()
    expect(link).to_be_hidden()
    page.locator("#projects summary").click()
    expect(link).to_be_visible()
