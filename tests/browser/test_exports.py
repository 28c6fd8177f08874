"""Export and import as a person does them: the menu, a page that asks nothing of anybody, and back again."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.actions import ANSWER, ask_and_wait


def test_exported_page_is_whole_offline_and_comes_back(page: Page, browser: Browser, tmp_path: Path) -> None:
    ask_and_wait(page, "Plot a sine wave")
    for label, name in (("Web page", "page.html"), ("JSON", "all.json")):
        page.click("button[popovertarget=export-menu]")
        expect(page.locator("#export-menu")).to_be_visible()
        with page.expect_download() as waiting:
            page.click(f"#export-menu a:has-text('{label}')")
        waiting.value.save_as(tmp_path / name)
        page.keyboard.press("Escape")
        expect(page.locator("#export-menu")).to_be_hidden()
    reader = browser.new_context(java_script_enabled=False, offline=True)
    asked: list[str] = []
    complaints: list[str] = []
    opened = reader.new_page()
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: complaints.append(message.text))
    opened.goto((tmp_path / "page.html").as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert complaints == []
    graph = opened.locator("figure[data-graph-index] img")
    expect(graph).to_be_visible()
    box = graph.bounding_box()
    assert box
    assert box["width"] > 300
    expect(opened.locator("article")).to_have_count(2)
    expect(opened.locator("button:visible")).to_have_count(0)
    assert len(opened.pdf()) > 10_000
    reader.close()
    page.click("text=Import")
    page.set_input_files("#import-file", tmp_path / "all.json")
    page.click("button:has-text('Import')")
    expect(page.locator(f"{ANSWER} figure[data-graph-index] img")).to_be_visible()
