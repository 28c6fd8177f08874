"""Phones, low windows and enlarged pages: targets for fingers, no sideways scrolling, and room for reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.actions import press_in_header
from tests.browser.sample_conversations import EMPTY_ID, PROJECT_ID, RICH_ID, WAITING_ID
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

RICH, WAITING, EMPTY = (f"/c/{one}/" for one in (RICH_ID, WAITING_ID, EMPTY_ID))
PROJECT = f"/projects/{PROJECT_ID}/"
TARGET_PX = 44
#: Controls that are visible and too small. A link within text is inline. A box to tick is as large as its label.
SMALL_TARGETS = """(limit) => {
    const controls = document.querySelectorAll("button, summary, select, textarea, input:not([type=hidden]), a[href]");
    return Array.from(controls).flatMap((control) => {
        const target = control.matches("[type=checkbox], [type=radio]") ? control.closest("label") ?? control : control;
        const { width, height } = target.getBoundingClientRect();
        const isShown = target.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1;
        const isText = control.tagName === "A" && getComputedStyle(control).display === "inline";
        if (!isShown || isText || control.disabled || Math.min(width, height) >= limit - 0.5) return [];
        return [`${Math.round(width)} x ${Math.round(height)}: ${control.outerHTML.slice(0, 150)}`];
    });
}"""


def open_folds(page: Page) -> None:
    page.evaluate("document.querySelectorAll('#transcript details').forEach((fold) => { fold.open = true; })")


def open_sidebar(page: Page) -> None:
    page.click('button[data-action="open-sidebar"]')
    expect(page.locator("#sidebar")).to_be_in_viewport()


def search(page: Page) -> None:
    open_sidebar(page)
    page.fill("#search-box", "sales")
    expect(page.locator("#conversations .found").first).to_be_visible()


def open_entry_menu(page: Page) -> None:
    open_sidebar(page)
    page.locator('#conversations button[data-action="entry-menu"]').first.click()


def move(page: Page) -> None:
    open_entry_menu(page)
    page.click('#entry-menu [data-action="move"]')
    page.get_by_label("New project…").check()


def open_session(page: Page) -> None:
    press_in_header(page, 'button[data-action="open-session"]')
    expect(page.get_by_role("row", name="frame")).to_be_visible()


def stay(page: Page) -> None:
    """Leave the page as it was loaded."""


TOUCHED: list[tuple[str, Callable[[Page], None]]] = [
    (RICH, open_folds),
    (RICH, open_session),
    (RICH, lambda page: page.locator("#transcript a.zoom").first.click()),
    (WAITING, lambda page: page.click('button[data-action="edit-code"]')),
    (EMPTY, stay),
    (EMPTY, search),
    (EMPTY, open_entry_menu),
    (RICH, lambda page: page.click("button[popovertarget=head-menu]")),
    (EMPTY, lambda page: press_in_header(page, 'button[data-action="settings"]')),
    (EMPTY, lambda page: press_in_header(page, "button[popovertarget=export-menu]")),
    ("/shares/", stay),
    ("/gallery/", stay),
    ("/conversations/", stay),
    ("/accounts/profile/", stay),
    ("/accounts/defaults/", stay),
    ("/accounts/logins/", stay),
    ("/accounts/usage/", stay),
    ("/accounts/delete/", stay),
    ("/accounts/tokens/", stay),
    ("/accounts/readings/", stay),
    ("/accounts/password/change/", stay),
    ("/import/", stay),
    ("/projects/", stay),
    (PROJECT, stay),
    (f"{PROJECT}delete/", stay),
    (EMPTY, move),
]


@pytest.fixture
def phone(browser: Browser, reader_state: StorageState) -> Iterator[Page]:
    """Open a phone's window."""
    window = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=reader_state
    )
    yield window.new_page()
    window.close()


def test_all_controls_are_large_enough_for_fingers(phone: Page, server: LiveServer) -> None:
    small: list[str] = []
    for path, open_state in TOUCHED:
        phone.goto(server.url + path)
        open_state(phone)
        small += [f"{path} {target}" for target in phone.evaluate(SMALL_TARGETS, TARGET_PX)]
    phone.context.clear_cookies()
    for path in ("/accounts/login/", "/accounts/signup/"):
        phone.goto(server.url + path)
        small += [f"{path} {target}" for target in phone.evaluate(SMALL_TARGETS, TARGET_PX)]
    assert not small, "\n".join(dict.fromkeys(small))


@pytest.mark.parametrize(("width", "height"), [(320, 256), (667, 375), (844, 390)])
def test_at_least_half_of_a_low_window_is_left_for_reading(
    browser: Browser, reader_state: StorageState, server: LiveServer, width: int, height: int
) -> None:
    # A page at 400 % in a window of 1280 x 1024 has 320 x 256 CSS pixels and a mouse; the other sizes are of phones.
    window = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=width > 320, storage_state=reader_state
    )
    page = window.new_page()
    for path in (
        RICH,
        WAITING,
        EMPTY,
        "/gallery/",
        "/conversations/",
        "/accounts/usage/",
        "/accounts/readings/",
        PROJECT,
    ):
        page.goto(server.url + path)
        if path == RICH:
            open_folds(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        scroller = page.locator("#scroller")
        if scroller.count():
            assert scroller.evaluate("box => box.scrollWidth <= box.clientWidth"), path
            assert scroller.evaluate("box => box.clientHeight") >= height / 2, path
    page.goto(server.url + EMPTY)
    page.fill("form#composer textarea", "A question of\nseveral\nlines")
    expect(page.get_by_role("button", name="Send")).to_be_in_viewport()
    press_in_header(page, 'button[data-action="settings"]')
    expect(page.locator("#conversation-settings").get_by_role("button", name="Save")).to_be_in_viewport()
    page.goto(server.url + RICH)
    press_in_header(page, 'button[data-action="open-session"]')
    expect(page.locator("#session .state")).to_be_in_viewport(ratio=1)
    page.locator("#own-code").get_by_role("button", name="Run").scroll_into_view_if_needed()
    expect(page.locator("#own-code").get_by_role("button", name="Run")).to_be_in_viewport(ratio=1)
    window.close()


@pytest.mark.parametrize(("width", "room"), [(390, 200), (320, 130)])
def test_header_of_a_phone_has_room_for_the_title(phone: Page, server: LiveServer, width: int, room: int) -> None:
    phone.set_viewport_size({"width": width, "height": 844})
    phone.goto(server.url + RICH)
    about = phone.locator(".about-conversation").bounding_box()
    assert about
    assert about["width"] >= room
    # A dialog that the menu opens gives the focus back to the button of the menu.
    more = phone.get_by_role("button", name="More", exact=True)
    more.press("Enter")
    item = phone.get_by_role("button", name="Conversation settings")
    expect(item).to_be_visible()
    item.press("Enter")
    expect(phone.locator("#conversation-settings")).to_be_visible()
    phone.keyboard.press("Escape")
    expect(more).to_be_focused()
    expect(item).to_be_hidden()
    # So does the panel of the Python session.
    press_in_header(phone, 'button[data-action="open-session"]')
    phone.click('#session [data-action="close-session"]')
    expect(more).to_be_focused()
    press_in_header(phone, "button[popovertarget=export-menu]")
    expect(phone.get_by_role("link", name="Markdown")).to_be_visible()
    phone.keyboard.press("Escape")
    expect(phone.get_by_role("link", name="Markdown")).to_be_hidden()
    phone.keyboard.press("Escape")
    with phone.expect_navigation():
        phone.locator("header").get_by_role("button", name="New conversation").press("Enter")
    expect(phone.locator("#conversation-title")).to_have_text("New conversation")


def test_navigation_of_the_settings_is_one_row_with_the_current_page_in_view(phone: Page, server: LiveServer) -> None:
    for path, name in (("/accounts/profile/", "Profile"), ("/accounts/delete/", "Your data")):
        phone.goto(server.url + path)
        current = phone.locator(".settings-nav [aria-current]")
        expect(current).to_have_text(name)
        expect(current).to_be_in_viewport(ratio=0.99)
        box = phone.locator(".settings-nav").bounding_box()
        assert box
        assert box["height"] <= 2 * TARGET_PX
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
