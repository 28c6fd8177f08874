"""The main use case: streamed text, folded code, a graph at its position, and an identical page after a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.actions import ANSWER, articles, ask, change_settings
from tests.live_server import LiveServer


def has_drawn_graph(answer: Locator) -> bool:
    """Return whether the browser has loaded and decoded the first graph of an answer."""
    is_drawn: bool = answer.locator("figure[data-graph-index] img").first.evaluate(
        "img => img.complete && img.naturalWidth > 100 && img.naturalHeight > 100"
    )
    return is_drawn


def test_demo_model_plots_a_sine_wave(page: Page) -> None:
    answer = ask(page, "Plot a sine wave")
    expect(answer).to_have_attribute("data-status", "running")
    expect(answer.locator('[data-part-kind="text"]').first).to_be_visible()
    expect(answer).to_have_attribute("data-status", "done")
    code = answer.locator('details[data-part-kind="executable_code"]')
    expect(code).to_have_count(1)
    assert not code.evaluate("fold => fold.open")
    expect(answer.locator('[data-part-kind="code_execution_result"]')).to_have_count(1)
    graph = answer.locator("figure[data-graph-index] img")
    expect(graph).to_have_count(1)
    graph.scroll_into_view_if_needed()
    page.wait_for_function(
        "() => [...document.querySelectorAll('figure img')].every(i => i.complete && i.naturalWidth)"
    )
    assert has_drawn_graph(answer)
    order = [element.get_attribute("data-part-kind") or "graph" for element in answer.locator(".parts > *").all()]
    assert order.index("code_execution_result") < order.index("graph") < len(order) - 1
    live = articles(page)
    page.reload()
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
    assert articles(page) == live


@pytest.mark.drill
def test_graph_is_laid_out_with_its_final_aspect_ratio(page: Page) -> None:
    answer = ask(page, "Plot a sine wave")
    expect(answer).to_have_attribute("data-status", "done")
    image = answer.locator("figure[data-graph-index] img")
    width, height = (int(image.get_attribute(name) or 0) for name in ("width", "height"))
    box = image.bounding_box()
    assert box
    assert abs(box["width"] / box["height"] - width / height) < 0.02


@pytest.mark.drill
def test_failing_code_is_shown_with_its_outcome(page: Page) -> None:
    answer = ask(page, "```python\nprint(7 * 6)\n1 / 0\n```")
    expect(answer).to_have_attribute("data-status", "done")
    result = answer.locator('[data-part-kind="code_execution_result"]').first
    expect(result).to_contain_text("ZeroDivisionError")
    expect(result).to_contain_text("42")


def test_reloaded_and_additional_tabs_show_the_same_page_when_the_answer_is_done(
    page: Page, context: BrowserContext, server: LiveServer
) -> None:
    answer = ask(page, "Plot a sine wave")
    expect(answer.locator("[data-part-kind]").first).to_be_attached()
    url = page.url
    second = context.new_page()
    second.goto(url)
    page.reload()
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    expect(second.locator(ANSWER).last).to_have_attribute("data-status", "done")
    third = context.new_page()
    third.goto(url)
    expect(third.locator(ANSWER).last).to_have_attribute("data-status", "done")
    assert articles(page) == articles(second) == articles(third)


def test_stopped_answer_can_be_continued(page: Page) -> None:
    change_settings(page, model="scenario-stall")
    answer = ask(page, "Say something long")
    expect(answer.locator('[data-part-kind="text"]')).to_be_attached()
    page.click('button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(answer).to_contain_text("You stopped this answer")
    change_settings(page, model="scenario-text")
    page.click('button[data-action="continue"]')
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    expect(page.locator(ANSWER)).to_have_count(2)


@pytest.mark.drill
def test_demo_model_continues_its_answer_after_a_stop(page: Page) -> None:
    answer = ask(
        page, "```python\nimport time\nfor step in range(8):\n    print('step', step)\n    time.sleep(1.5)\n```"
    )
    expect(answer.locator('[data-part-kind="executable_code"]')).to_be_attached()
    page.click('button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    page.click('button[data-action="continue"]')
    continued = page.locator(ANSWER).nth(1)
    expect(continued).to_have_attribute("data-status", "done")
    expect(continued).to_contain_text("step 7")
    live = articles(page)
    page.reload()
    assert articles(page) == live


@pytest.mark.drill
def test_title_appears_in_list_and_header_without_a_reload(page: Page) -> None:
    ask(page, "First 50 primes")
    expect(page.locator("#conversation-title")).to_have_text("First 50 primes")
    expect(page.locator('#conversations [aria-current="page"]')).to_contain_text("First 50 primes")
    expect(page).to_have_url(re.compile(r"/c/[0-9a-f-]{36}/"))


@pytest.mark.drill
def test_page_says_that_the_demo_model_is_not_an_ai(page: Page) -> None:
    expect(page.locator("main")).to_contain_text("not an AI")
