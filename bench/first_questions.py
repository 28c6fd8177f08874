"""Ten first questions of people who have never seen the demo model, each in a new conversation.

The questions were written without knowledge of what the demo model understands. Each must be answered by code, or
refused with three questions as buttons, the first of which leads to an answer by code.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from playwright.sync_api import Browser, Error, Page, expect

from bench.newcomer_tasks import ANSWER, BOX, DATA, RESULT_LIMIT_MS

ABOUT_DATA = (
    "plot visitors by month and tell me if there's a trend",
    "which month had the most visitors? and how much was it up on the month before",
    "can you forecast the next 6 months from this file, with error bands",
)
"""Questions that are asked with a CSV file."""
QUESTIONS = (
    *ABOUT_DATA,
    "show me how the central limit theorem works, w/ a graph my students will get",
    "if I put 300 a month into an index fund at 6% what do I have after 25 years? chart it",
    "simulate 10,000 rolls of two dice and plot the distribution of the sum",
    "how many people do I need per group to detect a 5 point difference, baseline 20%, 80% power? show the power curve",
    "Zeichne sin(x) und die Taylorpolynome vom Grad 1, 3, 5 und 7 in ein Diagramm",
    "Peux-tu tracer la courbe de x³ - 3x + 1 et me donner les racines ?",
    "用蒙特卡洛方法估算圆周率,画出误差随样本数的变化",
)
CODE = '[data-part-kind="executable_code"]'


@dataclass(slots=True)
class FirstAnswer:
    """The result of a first question. A wrong result has an error."""

    question: str
    is_refused: bool = False
    seconds: float = 0.0
    """Time from Enter to the end of an answer by code. After a refusal, this is the answer to its first button."""
    error: str = ""


def ask_first_questions(browser: Browser, site: str) -> list[FirstAnswer]:
    """Log in as the demo account and ask each question."""
    expect.set_options(timeout=RESULT_LIMIT_MS)
    with browser.new_context(viewport={"width": 1280, "height": 800}) as window:
        page = window.new_page()
        page.goto(site)
        page.fill("input[name=login]", "demo")
        page.fill("input[type=password]", "demo")
        page.press("input[type=password]", "Enter")
        return [_ask(page, one) for one in QUESTIONS]


def _ask(page: Page, question: str) -> FirstAnswer:
    result = FirstAnswer(question)
    try:
        with page.expect_navigation():
            page.get_by_role("button", name="New conversation").click()
        if question in ABOUT_DATA:
            page.set_input_files("input[type=file]", DATA)
            expect(page.locator("#files li:not([aria-busy])")).to_have_count(1)
        page.fill(BOX, question)
        started_at = time.perf_counter()
        page.press(BOX, "Enter")
        answer = page.locator(ANSWER).first
        expect(answer).to_have_attribute("data-status", "done")
        result.is_refused = not answer.locator(CODE).count()
        if result.is_refused:
            offered = answer.locator('[data-action="ask"]')
            expect(offered).to_have_count(3)
            expect(answer.locator("p").first).to_have_text(re.compile(r"^.{20,250}$"))
            offered.first.click()
            answer = page.locator(ANSWER).nth(1)
            expect(answer).to_have_attribute("data-status", "done")
        expect(answer.locator(CODE).first).to_be_attached()
        result.seconds = time.perf_counter() - started_at
    except (AssertionError, Error) as error:
        result.error = str(error)
    return result
