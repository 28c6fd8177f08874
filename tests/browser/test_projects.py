"""Projects in the browser: creating one, its instruction and files, moving conversations, and its deletion."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.actions import ask_and_wait, change_settings
from tests.chat.turn_driver import calls_since, count_calls
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


def test_instruction_and_files_of_a_project_reach_the_model(page: Page, server: LiveServer) -> None:
    create_project(page, server, "Rainfall")
    page.get_by_label("What answers must know").fill("Answer in millimetres.")
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state()
    expect(page.get_by_label("What answers must know")).to_have_value("Answer in millimetres.")
    page.set_input_files("#project-input", files=[CSV])
    expect(page.locator("#project-files li")).to_have_count(1)
    expect(page.locator("#project-note")).to_have_text("Added.")
    page.evaluate(DROP)
    expect(page.locator("#project-files li")).to_have_count(2)
    page.get_by_role("button", name="Remove dropped.csv").click()
    expect(page.locator("#project-files li")).to_have_count(1)
    expect(page.locator("#project-note")).to_have_text("Removed.")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("#conversation-project")).to_contain_text("Rainfall")
    change_settings(page, code_execution="off")
    emulator = server.variables["GOOGLE_GEMINI_BASE_URL"]
    before = count_calls(emulator)
    ask_and_wait(page, "Hello")
    requests = [str(one) for one in calls_since(emulator, before) if "Answer in millimetres." in str(one)]
    assert any("[Files of the project “Rainfall”, for all its conversations: rain.csv]" in one for one in requests)
    page.locator("#conversation-project a").click()
    expect(page.locator(".project-conversations li")).to_have_count(1)


def test_file_that_is_too_large_is_refused_with_a_sentence(page: Page, server: LiveServer) -> None:
    create_project(page, server, "Limits")
    page.evaluate("document.getElementById('project-add').dataset.limitBytes = 5")
    page.set_input_files("#project-input", files=[CSV])
    expect(page.locator("#project-note")).to_have_text("“rain.csv” is too large.")
    expect(page.locator("#project-files li")).to_have_count(0)


def test_conversation_is_moved_with_its_menu(page: Page, server: LiveServer) -> None:
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


def test_fold_of_the_projects_is_remembered(page: Page, server: LiveServer) -> None:
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


def test_deleted_project_leaves_its_conversations(page: Page, server: LiveServer) -> None:
    create_project(page, server, "Short-lived")
    project = page.url
    page.get_by_role("button", name="New conversation").click()
    ask_and_wait(page, "Hello")
    conversation = page.url
    page.goto(project)
    page.get_by_role("link", name="Delete…").click()
    expect(page.get_by_label("Keep, without a project")).to_be_checked()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    expect(page.get_by_text("Short-lived")).to_have_count(0)
    page.goto(conversation)
    expect(page.locator('article[data-role="model"]')).to_have_count(1)
    expect(page.locator("#conversation-project")).to_be_empty()
