"""What a newcomer sees after asking the demo model: it answers what was asked, from code that really ran."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.actions import ANSWER, ask_and_wait

pytestmark = pytest.mark.drill

TABLE = b'day;art;price\n01.02.2024;7,5;"1.200,50"\n02.02.2024;8,5;"1.300,50"\n03.02.2024;9,5;"1.400,50"\n'


def test_nearest_palindrome_of_a_number_is_shown(page: Page) -> None:
    answer = ask_and_wait(page, "Calculate 20th fibonacci number. Then find the nearest palindrome")
    expect(answer.locator(".output pre")).to_contain_text("6776")
    expect(answer.locator('[data-part-kind="text"]').last).to_contain_text("6776")


def test_button_draws_as_many_values_as_it_says(page: Page) -> None:
    page.click('[data-prompt="Draw a histogram of 1000 random numbers"]')
    answer = page.locator(ANSWER)
    expect(answer).to_have_attribute("data-status", "done")
    expect(answer.locator("figure[data-graph-index] img")).to_have_count(1)
    answer.locator('[data-part-kind="executable_code"] > summary').click()
    expect(answer.locator(".highlight")).to_contain_text("1000")
    expect(answer.locator(".parts")).not_to_contain_text("2000")


def test_typed_values_are_charted(page: Page) -> None:
    answer = ask_and_wait(page, "Balkendiagramm von 3, 5, 8")
    answer.locator('[data-part-kind="executable_code"] > summary').click()
    expect(answer.locator(".highlight")).to_contain_text("3, 5, 8")
    expect(answer.locator("figure[data-graph-index] img")).to_have_count(1)


def test_named_column_of_a_table_with_decimal_commas_is_charted(page: Page) -> None:
    page.wait_for_load_state("load")
    page.set_input_files("#file", FilePayload(name="sales.csv", mimeType="text/csv", buffer=TABLE))
    expect(page.locator("#files li:not([aria-busy])")).to_have_count(1)
    answer = ask_and_wait(page, "only the art column as a histogram")
    expect(answer.locator("figure[data-graph-index] img")).to_have_attribute("alt", re.compile("^Histogram"))
    expect(answer.locator('[data-part-kind="text"]').last).to_contain_text("8.5")
    average = ask_and_wait(page, "average of price")
    expect(average.locator(".parts")).to_contain_text("1300.5")
