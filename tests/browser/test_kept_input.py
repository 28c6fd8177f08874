"""What a person has typed, chosen or queued survives long texts, log-outs, lost connections, closed and other tabs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from tests.browser.actions import ANSWER, BOX, QUESTION, ask, ask_and_wait, change_settings
from tests.browser.conftest import sign_in
from tests.browser.page_errors import REFUSED_SOCKET, Watch
from tests.live_server import LiveServer
from tests.polling import wait_until

pytestmark = pytest.mark.drill

NOTE = "#composer-note"
SLOW = "```python\nimport time\ntime.sleep(2)\n```"
#: What Chromium and htmx log when the server refuses the handshake of a socket, or a page.
REFUSED_HANDSHAKE = (REFUSED_SOCKET, "htmx:ws:error", "status of 40[34]")
#: e page checks the login each time after this number of failed attempts to connect.
CHECK_EVERY = 3


def paste(page: Page, **contents: str) -> None:
    """Paste a picture together with texts of these types, as from another program."""
    page.locator(BOX).evaluate(
        """(box, contents) => {
            const data = new DataTransfer();
            for (const [type, text] of Object.entries(contents)) data.setData(`text/${type}`, text);
            data.items.add(new File(["x"], "image.png", { type: "image/png" }));
            box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        contents,
    )


def sign_in_here(page: Page) -> None:
    """Fill in the login form that the page shows."""
    page.fill("input[name=login]", "demo")
    page.fill("input[name=password]", "demo")
    page.click("button[type=submit]")
    page.wait_for_selector("form#composer")


def test_page_refuses_a_message_above_the_size_limit_and_keeps_the_text_in_the_box(page: Page) -> None:
    text = "ä" * 1_100_000
    page.fill(BOX, text)
    page.press(BOX, "Enter")
    expect(page.locator(NOTE)).to_contain_text("Your message has 2,149 KB, and a message may have 256 KB.")
    expect(page.locator(BOX)).to_have_value(text)
    expect(page.locator(BOX)).to_be_editable()


def test_unsent_text_is_kept_after_a_logout_in_another_tab(browser: Browser, server: LiveServer, watch: Watch) -> None:
    watch.expect(*REFUSED_HANDSHAKE)
    window = browser.new_context()
    page = window.new_page()
    sign_in(page, server)
    page.fill(BOX, "not sent yet")
    other = window.new_page()
    other.goto(f"{server.url}/accounts/logout/")
    other.click("button[type=submit]")
    expect(other.locator("input[name=password]")).to_be_visible()
    notice = page.locator("#logged-out")
    expect(notice).to_contain_text("You are logged out.")
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator(BOX)).to_have_value("not sent yet")
    with window.expect_page() as opened:
        notice.get_by_role("link").click()
    sign_in_here(opened.value)
    expect(notice).to_be_hidden()
    # The new login has replaced the CSRF token, and the page sends the new one.
    with page.expect_response("**/settings/") as saved:
        page.select_option('form#composer select[name="code_execution"]', "off")
    assert saved.value.status == 204
    page.reload()
    expect(page.locator(BOX)).to_have_value("not sent yet")
    window.close()


def test_page_without_unsent_text_redirects_to_the_login_page_after_a_logout(
    browser: Browser, server: LiveServer, watch: Watch
) -> None:
    watch.expect(*REFUSED_HANDSHAKE)
    window = browser.new_context()
    page = window.new_page()
    sign_in(page, server)
    attempts: list[str] = []

    def refuse(socket: WebSocketRoute) -> None:
        attempts.append(socket.url)
        # The check after the third failure finds that the user is still logged in.
        if len(attempts) == CHECK_EVERY + 1:
            window.clear_cookies()
        socket.close()

    page.route_web_socket(re.compile("/ws/"), refuse)
    page.reload()
    expect(page.locator("input[name=password]")).to_be_visible(timeout=60_000)
    assert len(attempts) == 2 * CHECK_EVERY
    window.close()


def test_cells_of_a_spreadsheet_are_pasted_as_text(page: Page) -> None:
    paste(page, plain="1\t2", html="<table><tr><td>1<td>2</table>")
    expect(page.locator("#files li")).to_have_count(0)
    paste(page, html="<img src='https://example.com/a.png'>")
    expect(page.locator("#files li")).to_have_count(1)


def test_waiting_message_of_a_closed_tab_is_sent_when_the_answer_before_it_has_ended(page: Page) -> None:
    ask(page, SLOW)
    page.fill(BOX, "First 50 primes")
    page.press(BOX, "Enter")
    expect(page.locator("#queued")).to_contain_text("First 50 primes")
    url, window = page.url, page.context
    page.close()
    # No tab is open when the answer ends.
    wait_until(lambda: 'data-status="done"' in window.request.get(url).text())
    tab = window.new_page()
    tab.goto(url)
    expect(tab.locator(QUESTION)).to_have_count(2)
    expect(tab.locator(QUESTION).last).to_contain_text("First 50 primes")
    expect(tab.locator("#queued")).to_be_hidden()


def test_waiting_message_is_not_sent_if_the_user_switches_to_another_version_of_the_answer(page: Page) -> None:
    ask_and_wait(page, "First 50 primes")
    change_settings(page, model="scenario-stall")
    page.locator(ANSWER).hover()
    page.locator(f'{ANSWER} button[data-action="regenerate"]').first.click()
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "running")
    page.fill(BOX, "and then?")
    page.press(BOX, "Enter")
    expect(page.locator("#queued")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "stopped")
    page.locator(ANSWER).hover()
    page.locator(f'{ANSWER} button[data-action="switch"]:enabled').first.click()
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
    expect(page.locator(NOTE)).to_contain_text("The page shows other messages now")
    expect(page.locator("#queued")).to_be_visible()
    expect(page.locator(QUESTION)).to_have_count(1)


def test_dialog_of_settings_does_not_overwrite_a_setting_that_was_changed_elsewhere(page: Page) -> None:
    page.click('button[data-action="settings"]')
    change_settings(page, approval="ask")
    page.fill("#system-instruction", "Be brief.")
    page.locator("dialog#conversation-settings button[type=submit]").click()
    expect(page.locator("dialog#conversation-settings")).to_be_hidden()
    page.reload()
    expect(page.locator("#system-instruction")).to_have_value("Be brief.")
    expect(page.locator('input[name="approval"][value="ask"]')).to_be_checked()


class Network:
    """The network between the sockets of a window and the server. It can be cut."""

    def __init__(self, window: BrowserContext) -> None:
        """Route the sockets of all pages that are opened from now on through this network."""
        self._is_cut = False
        self._sockets: list[WebSocketRoute] = []
        window.route_web_socket(re.compile("/ws/"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        if self._is_cut:
            socket.close()
            return
        socket.connect_to_server()
        self._sockets.append(socket)

    def cut(self, *pages: Page) -> None:
        """Cut the connections, and wait until the pages say so."""
        self._is_cut = True
        while self._sockets:
            self._sockets.pop().close()
        for page in pages:
            expect(page.locator("#connection")).to_be_visible()

    def restore(self, *pages: Page) -> None:
        """Let the pages connect again, one after the other."""
        self._is_cut = False
        for page in pages:
            page.evaluate("dispatchEvent(new Event('online'))")
            expect(page.locator("#connection")).to_be_hidden()


@pytest.mark.parametrize("is_copy_cleared", [False, True], ids=["copy-stays", "copy-is-cleared"])
def test_message_sent_offline_is_not_put_back_into_the_box_of_any_tab(
    page: Page, watch: Watch, is_copy_cleared: bool
) -> None:
    watch.expect_lost_server()
    change_settings(page, model="scenario-text")
    network = Network(page.context)
    page.reload()
    other = page.context.new_page()
    other.goto(page.url)
    tabs = (page, other)
    expect(other.locator(BOX)).to_be_focused()
    network.cut(*tabs)
    page.fill(BOX, "sent once")
    expect(other.locator(BOX)).to_have_value("sent once")
    page.press(BOX, "Enter")
    expect(page.locator(NOTE)).to_contain_text("Your message is kept")
    if is_copy_cleared:
        other.fill(BOX, "")
    # The copy has the focus while the message is accepted.
    network.restore(page, other)
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
    for tab in tabs:
        expect(tab.locator(BOX)).to_have_value("")
    network.cut(*tabs)
    network.restore(other, page)
    other.fill(BOX, "my own next thought")
    expect(page.locator(BOX)).to_have_value("my own next thought")
    for tab in tabs:
        expect(tab.locator(QUESTION)).to_have_count(1)
