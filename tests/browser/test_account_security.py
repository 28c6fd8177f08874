"""Settings that keep an account safe, as a person uses them: tokens, logins, password, two-step login, and mail."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import requests
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from playwright.sync_api import Browser, Page, expect

from tests.browser.actions import open_settings
from tests.browser.conftest import sign_in
from tests.browser.database import create_people
from tests.browser.page_errors import Watch
from tests.live_server import LiveServer, running_server
from tests.mail_server import running_mail_server

pytestmark = pytest.mark.drill

NEW_PASSWORD = "another pass phrase"
ADDRESS = "demo@example.org"


@pytest.fixture(scope="module")
def people(server: LiveServer) -> None:
    """Create a person for each test, so that no test ends the logins of another."""
    create_people(server, "tina", "lena", "paul", "theo")


@pytest.fixture
def log_in(browser: Browser, server: LiveServer, people: None) -> Callable[[str], Page]:
    """Return a function that opens a window of a person, who is logged in there."""

    def open_window(name: str) -> Page:
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        sign_in(page, server, name)
        return page

    return open_window


def log_out(page: Page) -> None:
    """Log out on a page of the settings."""
    page.get_by_role("link", name="Log out", exact=True).click()
    page.get_by_role("button", name="Log out", exact=True).click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def enter_password(page: Page, name: str, password: str) -> None:
    """Fill in the form for the login, and send it."""
    page.fill("input[name=login]", name)
    page.fill("input[name=password]", password)
    page.get_by_role("button", name="Log in").click()


def confirm_with_password(page: Page, password: str) -> None:
    """Confirm who is logged in, as pages ask before a change."""
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.fill("input[name=password]", password)
    page.get_by_role("button", name="Go on").click()


def choose_password(page: Page, button: str) -> None:
    """Choose the new password in a form that asks for it twice."""
    page.fill("input[name=password1]", NEW_PASSWORD)
    page.fill("input[name=password2]", NEW_PASSWORD)
    page.get_by_role("button", name=button).click()


def enter_code(page: Page, button: str, code: str) -> None:
    """Enter a code of an app, or a recovery code."""
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name=button).click()


def code_of_app(secret: str, *, is_next: bool = False) -> str:
    """Return the code that an app shows now. The next one is accepted already, and each code once."""
    _, now, following = yield_hotp_counters_from_time()
    code: str = format_hotp_value(hotp_value(secret, following if is_next else now))
    return code


def test_api_token_works_until_all_tokens_are_revoked(log_in: Callable[[str], Page], server: LiveServer) -> None:
    page = log_in("tina")
    open_settings(page, "API tokens")
    page.get_by_label("Name", exact=True).fill("Weekly report")
    page.get_by_label("Works", exact=True).select_option("90 days")
    page.get_by_role("button", name="Make a token").click()
    header = {"Authorization": f"Bearer {page.locator('#new-token').inner_text()}"}
    calls = f"{server.url}/api/v1/conversations/"
    assert requests.get(calls, headers=header, timeout=60).status_code == 200

    open_settings(page, "API tokens")
    expect(page.locator("#new-token")).to_have_count(0)
    row = page.get_by_role("row", name="Weekly report")
    expect(row).not_to_contain_text("never")
    page.get_by_role("button", name="Revoke all").click()
    expect(row).to_contain_text("revoked")
    assert requests.get(calls, headers=header, timeout=60).status_code == 401


def test_open_page_of_a_login_that_was_ended_leads_to_the_login(log_in: Callable[[str], Page], watch: Watch) -> None:
    here, elsewhere = log_in("lena"), log_in("lena")
    # The page tries to connect again, is refused, and then loads itself again.
    watch.expect("WebSocket connection to .* failed", "htmx:ws:error")
    open_settings(here, "Logins")
    logins = here.locator("table.listing tbody tr")
    expect(logins).to_have_count(2)
    expect(logins.first).to_contain_text("This one")
    here.get_by_role("button", name="Log out all others").click()
    expect(logins).to_have_count(1)
    expect(elsewhere.get_by_role("heading", name="Log in")).to_be_visible()
    here.reload()
    expect(logins).to_have_count(1)


def test_new_password_replaces_the_old_one(log_in: Callable[[str], Page]) -> None:
    page = log_in("paul")
    open_settings(page, "Password")
    page.fill("input[name=oldpassword]", "not mine")
    choose_password(page, "Change the password")
    expect(page.locator(".field-errors")).to_have_count(1)
    page.fill("input[name=oldpassword]", "paul")
    choose_password(page, "Change the password")
    expect(page.get_by_role("status")).to_contain_text("Password successfully changed")
    log_out(page)
    enter_password(page, "paul", "paul")
    expect(page.get_by_role("alert")).to_be_visible()
    enter_password(page, "paul", NEW_PASSWORD)
    expect(page.locator("form#composer")).to_be_visible()


def test_second_step_accepts_a_code_of_the_app_or_a_recovery_code(log_in: Callable[[str], Page]) -> None:
    page = log_in("theo")
    open_settings(page, "Two-step login")
    page.get_by_role("link", name="Set up").click()
    confirm_with_password(page, "theo")
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    secret = page.locator("code").inner_text()
    enter_code(page, "Turn on", code_of_app(secret))
    codes = page.locator(".recovery-codes code")
    expect(codes).to_have_count(10)
    recovery_code = codes.first.inner_text()

    for code in (code_of_app(secret, is_next=True), recovery_code):
        log_out(page)
        enter_password(page, "theo", "theo")
        expect(page.get_by_role("heading", name="One more step")).to_be_visible()
        enter_code(page, "Log in", code)
        expect(page.locator("form#composer")).to_be_visible()
        open_settings(page, "Two-step login")
        expect(page.locator("main")).to_contain_text("Two-step login is on")
    expect(page.locator("main")).to_contain_text("You have 9 left.")


def test_forgotten_password_is_replaced_by_a_link_to_the_confirmed_address(browser: Browser) -> None:
    with (
        running_mail_server() as mail_server,
        # No turn runs here, so no model has to answer.
        running_server(
            GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9", EMAIL_URL=mail_server.url, EMAIL_FROM="plotline@example.org"
        ) as server,
    ):

        def link_in_mail() -> str:
            match = re.search(rf"{server.url}\S+", mail_server.take_text())
            assert match
            return match[0]

        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        sign_in(page, server)
        open_settings(page, "Profile")
        page.locator("main a[href='/accounts/email/']").click()
        page.fill("input[name=email]", ADDRESS)
        page.get_by_role("button", name="Add the address").click()
        confirm_with_password(page, "demo")
        expect(page.locator("main")).to_contain_text("Follow the link in it")
        page.goto(link_in_mail())
        page.get_by_role("button", name="Confirm").click()
        expect(page.locator("main")).to_contain_text(f"Your address is {ADDRESS}")

        log_out(page)
        page.get_by_role("link", name="Forgot your password?").click()
        page.fill("input[name=email]", ADDRESS)
        page.get_by_role("button", name="Send the mail").click()
        expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
        page.goto(link_in_mail())
        choose_password(page, "Set the password")
        expect(page.get_by_role("heading", name="Your password is set")).to_be_visible()
        page.get_by_role("link", name="Log in").click()
        enter_password(page, "demo", NEW_PASSWORD)
        expect(page.locator("form#composer")).to_be_visible()
        page.context.close()
