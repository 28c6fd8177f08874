"""The page with only an OpenAI-compatible server configured, and no key for Gemini."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.actions import ANSWER, articles, ask, ask_and_wait, change_settings, press
from tests.browser.conftest import sign_in
from tests.live_server import LiveServer, running_server
from tests.openai_server.server import StandInServer
from tests.openai_server.server import running_server as running_stand_in

pytestmark = pytest.mark.drill

MODELS = "text,reasoning,seeing/image,stalls,page-of-html"


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandInServer]:
    with running_stand_in() as server:
        yield server


@pytest.fixture(scope="module")
def server(stand_in: StandInServer) -> Iterator[LiveServer]:
    with running_server(OPENAI_BASE_URL=stand_in.url("ollama"), OPENAI_MODELS=MODELS) as running:
        yield running


@pytest.fixture(scope="module")
def context(browser: Browser, server: LiveServer) -> Iterator[BrowserContext]:
    window = browser.new_context(viewport={"width": 1280, "height": 800})
    window.set_default_timeout(30_000)
    sign_in(window.new_page(), server)
    yield window
    window.close()


def test_first_model_of_the_server_is_the_default_and_no_page_speaks_of_a_demo(page: Page) -> None:
    expect(page.locator("#demo")).to_have_count(0)
    answer = ask_and_wait(page, "Hello")
    expect(answer.locator('[data-part-kind="text"]').first).to_be_visible()
    live = articles(page)
    page.reload()
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
    assert articles(page) == live


def test_earlier_messages_are_sent_with_the_next_question(page: Page, stand_in: StandInServer) -> None:
    first = ask_and_wait(page, "Hello")
    ask_and_wait(page, "And again")
    sent = stand_in.journal[-1].body["messages"]
    assert [message["role"] for message in sent if message["role"] != "system"] == ["user", "assistant", "user"]
    assert sent[-2]["content"] in first.inner_text()


def test_reasoning_is_folded_above_the_answer_and_its_line_says_how_long_it_took(page: Page) -> None:
    change_settings(page, model="thoughts")
    answer = ask_and_wait(page, "Think")
    expect(answer.locator('[data-part-kind="text"]').first).to_be_visible()
    line = answer.locator('[data-part-kind="thought"] > summary')
    expect(line).to_have_text([re.compile(r"^Thought for \d+(\.\d)? s$")])
    live = articles(page)
    page.reload()
    expect(line).to_be_visible()
    assert articles(page) == live


def test_attached_image_is_seen_by_the_model(page: Page) -> None:
    change_settings(page, model="seeing/image")
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (255, 0, 0)).save(buffer, "PNG")
    page.set_input_files("#file", {"name": "red.png", "mimeType": "image/png", "buffer": buffer.getvalue()})
    expect(page.locator("#files li:not([aria-busy])")).to_have_count(1)
    answer = ask_and_wait(page, "Which colour is it?")
    expect(answer).to_contain_text("#ff0000")


def test_answer_can_be_stopped_and_asked_for_again(page: Page, stand_in: StandInServer) -> None:
    change_settings(page, model="stall")
    answer = ask(page, "Hello")
    expect(answer.locator('[data-part-kind="text"]').first).to_be_visible()
    page.click('button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    assert stand_in.journal[-1].closed.wait(20)
    change_settings(page, model="text")
    press(answer, "regenerate")
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")


def test_page_of_a_proxy_in_place_of_an_answer_is_told_in_words(page: Page) -> None:
    change_settings(page, model="page-of-html")
    answer = ask(page, "Hello")
    expect(answer).to_have_attribute("data-status", "failed")
    expect(answer).to_contain_text("could not be read")


def test_demo_model_can_be_chosen_beside_them_and_is_named(page: Page) -> None:
    ask_and_wait(page, "Hello")
    change_settings(page, model="plotline-demo")
    answer = ask_and_wait(page, "```python\nprint(6 * 7)\n```")
    expect(answer.locator('[data-part-kind="code_execution_result"]')).to_contain_text("42")
    page.reload()
    expect(page.locator("#demo")).to_be_visible()
