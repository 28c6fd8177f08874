"""Settings about a person's data, as a person uses them: usage by day, the export of all, and the deletion."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.actions import open_settings
from tests.browser.conftest import sign_in
from tests.browser.database import create_people, run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

DARK = "rgb(21, 24, 23)"
CREATE_USE = """
from chat.models import QuotaUse, User
user = User.objects.create_user("uma", password="uma")
QuotaUse.objects.create(user=user, day="{day}", turns=3, tokens=41_000)
"""
CREATE_CONVERSATIONS = """
from tests.factories import make_conversation, make_model_message, make_user
user = make_user("erik", password="erik")
for title in ("Rain", "Sales"):
    make_model_message(make_conversation(user, title=title))
"""


def test_usage_by_day_is_readable_on_a_dark_phone(browser: Browser, server: LiveServer) -> None:
    day = datetime.now(UTC).date()
    run_in_shell(server, CREATE_USE.format(day=day))
    window = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    page = window.new_page()
    sign_in(page, server, "uma")
    page.goto(f"{server.url}/accounts/")
    open_settings(page, "Usage")
    expect(page.locator("html")).to_have_css("background-color", DARK)
    answers = page.get_by_role("region", name="Answers")
    bar = answers.get_by_role("img").locator("rect.series-1")
    expect(bar).to_have_count(1)
    expect(bar).to_be_visible()
    expect(bar).not_to_have_css("fill", DARK)
    answers.locator("summary").click()
    expect(answers.get_by_role("row", name=f"{day:%Y-%m-%d}")).to_contain_text("3")
    expect(page.get_by_role("row", name="Tokens a day")).to_contain_text("41,000 tokens")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    window.close()


def test_export_of_all_conversations_is_downloaded_from_the_settings(
    browser: Browser, server: LiveServer, tmp_path: Path
) -> None:
    run_in_shell(server, CREATE_CONVERSATIONS)
    window = browser.new_context(viewport={"width": 1280, "height": 800})
    page = window.new_page()
    sign_in(page, server, "erik")
    open_settings(page, "Your data")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export all").click()
    assert download.value.suggested_filename.endswith(".zip")
    download.value.save_as(tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        names = archive.namelist()
    assert all(any(title in name for name in names) for title in ("Rain", "Sales")), names
    window.close()


def test_planned_deletion_of_the_account_is_taken_back_after_a_login(browser: Browser, server: LiveServer) -> None:
    create_people(server, "dora")
    window = browser.new_context(viewport={"width": 1280, "height": 800})
    page = window.new_page()
    sign_in(page, server, "dora")
    open_settings(page, "Your data")
    page.get_by_role("button", name="Delete my account").click()
    page.fill("input[name=password]", "dora")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Your account will be deleted")).to_be_visible()
    page.get_by_role("link", name="Log in").click()
    page.fill("input[name=login]", "dora")
    page.fill("input[name=password]", "dora")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Keep my account")).to_be_visible()
    open_settings(page, "Profile")
    page.locator(".banner").get_by_role("link", name="Keep it").click()
    page.get_by_role("button", name="Keep my account").click()
    expect(page.get_by_role("button", name="Delete my account")).to_be_visible()
    open_settings(page, "Profile")
    expect(page.locator(".banner")).to_have_count(0)
    window.close()
