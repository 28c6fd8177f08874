"""Export through the menu, the exported page without scripts and network, and the import of an export."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.actions import ANSWER, ask_and_wait

pytestmark = pytest.mark.drill


def test_exported_page_works_offline_and_an_export_can_be_imported(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    ask_and_wait(page, "Plot a sine wave")
    for label, name in (("Web page", "page.html"), ("JSON", "all.json")):
        page.click("button[popovertarget=export-menu]")
        expect(page.locator("#export-menu")).to_be_visible()
        with page.expect_download() as download:
            page.click(f"#export-menu a:has-text('{label}')")
        download.value.save_as(tmp_path / name)
        page.keyboard.press("Escape")
        expect(page.locator("#export-menu")).to_be_hidden()
    reader = browser.new_context(java_script_enabled=False, offline=True)
    urls: list[str] = []
    console_messages: list[str] = []
    exported_page = reader.new_page()
    exported_page.on("request", lambda request: urls.append(request.url))
    exported_page.on("console", lambda message: console_messages.append(message.text))
    exported_page.goto((tmp_path / "page.html").as_uri())
    assert [url for url in urls if not url.startswith(("file:", "data:"))] == []
    assert console_messages == []
    graph = exported_page.locator("figure[data-graph-index] img")
    expect(graph).to_be_visible()
    box = graph.bounding_box()
    assert box
    assert box["width"] > 300
    expect(exported_page.locator("article")).to_have_count(2)
    expect(exported_page.locator("button")).to_have_count(0)
    assert len(exported_page.pdf()) > 10_000
    reader.close()
    page.get_by_role("link", name="Import", exact=True).click()
    page.set_input_files("#import-file", tmp_path / "all.json")
    page.click("button:has-text('Import')")
    expect(page.locator(f"{ANSWER} figure[data-graph-index] img")).to_be_visible()
