"""Which scripts a page loads at once, and which it loads when they are needed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ask_and_wait

pytestmark = pytest.mark.drill

LOADED = """() => performance.getEntriesByType("resource")
    .map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith(".js"))"""
NAMED = """() => Array.from(document.querySelectorAll("script[src], link[rel=modulepreload]"))
    .map(({ src, href }) => src ?? href)"""


def loaded_modules(page: Page) -> set[str]:
    return {path.rpartition("/")[2].split(".")[0] for path in page.evaluate(LOADED)}


def test_empty_page_loads_only_the_scripts_that_are_listed_in_its_html(page: Page) -> None:
    requested: list[str] = []
    page.on("request", lambda one: requested.append(one.url) if one.resource_type == "script" else None)
    page.reload()
    # The socket opens after all modules have run.
    page.wait_for_function("() => import('/static/js/connection.js').then((connection) => connection.isOpen())")
    assert sorted(requested) == sorted(page.evaluate(NAMED))


def test_first_key_in_the_message_box_loads_the_scripts_for_a_live_answer(page: Page) -> None:
    page.locator("textarea[name=text]").press("H")
    page.wait_for_function(
        f"() => ({LOADED})().filter((path) => /announcer|background|seconds/.test(path)).length === 3"
    )


def test_answer_of_another_tab_loads_the_scripts_for_a_live_answer(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    assert "background" not in loaded_modules(other)
    ask_and_wait(page, "Hello")
    expect(other.locator('article[data-role="model"]')).to_have_attribute("data-status", "done")
    other.wait_for_function(
        "() => document.title.startsWith(document.getElementById('conversation-title').textContent)"
    )
    assert {"announcer", "background", "seconds", "copy"} <= loaded_modules(other)
    other.close()
