"""An open page whose login was ended elsewhere."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.actions import open_settings
from tests.browser.conftest import sign_in
from tests.browser.database import create_people
from tests.browser.page_errors import REFUSED_SOCKET, Watch
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill


def test_open_page_whose_login_was_ended_elsewhere_redirects_to_the_login_page(
    browser: Browser, server: LiveServer, watch: Watch
) -> None:
    create_people(server, "lena")
    here, elsewhere = (browser.new_context().new_page() for _ in range(2))
    for page in (here, elsewhere):
        sign_in(page, server, "lena")
    # The page tries to connect again, is refused, and then loads itself again.
    watch.expect(REFUSED_SOCKET, "htmx:ws:error")
    open_settings(here, "Logins")
    logins = here.locator("table.listing tbody tr")
    expect(logins).to_have_count(2)
    expect(logins.first).to_contain_text("This one")
    here.get_by_role("button", name="Log out all others").click()
    expect(logins).to_have_count(1)
    expect(elsewhere.get_by_role("heading", name="Log in")).to_be_visible()
    here.reload()
    expect(logins).to_have_count(1)
