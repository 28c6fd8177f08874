"""A tour with axe-core over the pages of accounts that need mail, a second step, or a request that was refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import sign_in
from tests.browser.database import run_in_shell
from tests.browser.page_errors import Watch
from tests.live_server import LiveServer, running_server

pytestmark = pytest.mark.drill

CREATE_PERSON = """
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from chat.models import User
ann = User.objects.create_user("ann", password="ann")
EmailAddress.objects.create(user=ann, email="ann@example.org", verified=True, primary=True)
print(user_pk_to_url_str(ann), default_token_generator.make_token(ann), sep="-")
"""
"""Creates a person with a confirmed address, and prints the key of a link for a new password."""


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    """Start a server that sends mail and lets no visitor sign up. The mail and model servers do not exist."""
    variables = {"EMAIL_URL": "smtp://127.0.0.1:9", "EMAIL_FROM": "plotline@example.org", "ALLOW_SIGNUP": "0"}
    with running_server(GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9", **variables) as running:
        yield running


@pytest.fixture(scope="module")
def reset_key(server: LiveServer) -> str:
    """Create the person `ann`, and return the key of a link for a new password."""
    return run_in_shell(server, CREATE_PERSON).strip()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Open a window without motion, because a color in transition has no contrast that can be measured."""
    window = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    yield window.new_page()
    window.close()


def visit(tab: Page, server: LiveServer, path: str, heading: str) -> list[str]:
    """Open a page of accounts, and return the errors that axe finds on it."""
    tab.goto(f"{server.url}/accounts/{path}")
    return check(tab, heading)


def check(tab: Page, heading: str) -> list[str]:
    expect(tab.get_by_role("heading", level=1)).to_have_text(heading)
    return findings(tab, is_brief=True)


def confirm(tab: Page, secret: str) -> None:
    """Enter a password or a code into the only field of a page. The sidebar has buttons of other forms."""
    tab.locator("input[name=password], input[name=code]").fill(secret)
    tab.click("main button[type=submit]")


def code_of(secret: str) -> str:
    """Return the present code of an authenticator app."""
    # With a tolerance of one step, this code is still valid if the time step ends meanwhile.
    code: str = format_hotp_value(hotp_value(secret, list(yield_hotp_counters_from_time())[1]))
    return code


def test_axe_finds_no_error_on_sign_up_password_reset_and_mail_confirmation_pages(
    tab: Page, server: LiveServer, reset_key: str
) -> None:
    found = visit(tab, server, "signup/", "Sign-up is closed")
    found += visit(tab, server, "password/reset/", "Forgot your password?")
    found += visit(tab, server, "password/reset/sent/", "Look into your mail")
    found += visit(tab, server, "password/reset/1-unknown/", "New password")
    expect(tab.get_by_role("alert")).to_contain_text("not valid any more")
    found += visit(tab, server, f"password/reset/{reset_key}/", "New password")
    expect(tab.get_by_role("button", name="Set the password")).to_be_visible()
    found += visit(tab, server, "password/reset/done/", "Your password is set")
    found += visit(tab, server, "email/confirm/unknown/", "Confirm the address")
    assert not found, "\n".join(found)


def test_axe_finds_no_error_on_pages_from_two_step_login_to_deletion(
    tab: Page, server: LiveServer, reset_key: str
) -> None:
    sign_in(tab, server, "ann")
    found = visit(tab, server, "email/", "E-mail address")
    found += visit(tab, server, "two-step/app/", "Confirm that it is you")
    confirm(tab, "ann")
    found += check(tab, "Set up two-step login")
    confirm(tab, code_of(tab.locator("code").inner_text()))
    found += check(tab, "Recovery codes")
    recovery_codes = tab.locator(".recovery-codes code").all_inner_texts()
    found += visit(tab, server, "two-step/", "Two-step login")
    found += visit(tab, server, "two-step/codes/", "Recovery codes")
    found += visit(tab, server, "two-step/codes/new/", "Make new recovery codes?")
    found += visit(tab, server, "two-step/app/remove/", "Turn two-step login off?")
    tab.context.clear_cookies()
    tab.goto(f"{server.url}/accounts/login/")
    tab.fill("input[name=login]", "ann")
    tab.fill("input[name=password]", "ann")
    tab.click("button[type=submit]")
    found += check(tab, "One more step")
    confirm(tab, recovery_codes[0])
    expect(tab.locator("form#composer")).to_be_visible()
    found += visit(tab, server, "delete/", "Your data")
    tab.get_by_role("button", name="Delete my account").click()
    found += check(tab, "Confirm that it is you")
    confirm(tab, recovery_codes[1])
    found += check(tab, "Your account will be deleted")
    assert not found, "\n".join(found)


def test_axe_finds_no_error_on_pages_about_refused_requests_or_missing_objects(
    tab: Page, server: LiveServer, watch: Watch
) -> None:
    watch.expect("status of 404")
    tab.goto(f"{server.url}/nothing/")
    found = check(tab, "Not found")
    sign_in(tab, server)
    tab.goto(f"{server.url}/c/00000000-0000-4000-8000-000000000000/")
    found += check(tab, "Not found")
    tab.get_by_role("link", name="To your conversations").click()
    with tab.expect_navigation():
        tab.click("text=New conversation")
    with tab.expect_navigation():
        # A browser refuses an empty title itself, unless a script sends it.
        tab.locator("#rename form").evaluate("form => { form.action = `${location.pathname}rename/`; form.submit(); }")
    found += check(tab, "Not renamed")
    assert not found, "\n".join(found)
