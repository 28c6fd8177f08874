"""A tour with axe-core over all pages of users and all states of the conversation page.

Pages that need mail, a second step or a refusal are in `test_account_accessibility`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Browser, Page, Route, StorageState, expect

from tests.browser.axe import PHONE, findings
from tests.browser.sample_conversations import EMPTY_ID, PROJECT_ID, RICH_ID, SHARE_TOKEN, WAITING_ID
from tests.live_server import LiveServer

# A tour of all pages takes three minutes.
pytestmark = [pytest.mark.drill, pytest.mark.timeout(900)]

RICH, WAITING, EMPTY = (f"/c/{one}/" for one in (RICH_ID, WAITING_ID, EMPTY_ID))
PROJECT = f"/projects/{PROJECT_ID}/"
SHARED = f"/s/{SHARE_TOKEN}/"
PAGES = [
    RICH,
    WAITING,
    EMPTY,
    "/gallery/",
    f"{RICH}gallery/",
    f"{EMPTY}gallery/",
    "/conversations/?q=sales",
    "/conversations/?q=missing",
    "/conversations/?group=archived",
    "/conversations/?imported=1",
    "/accounts/profile/",
    "/accounts/appearance/",
    "/accounts/defaults/",
    "/accounts/password/change/",
    "/accounts/two-step/",
    "/accounts/logins/",
    "/accounts/tokens/",
    "/accounts/usage/",
    "/accounts/readings/",
    "/accounts/delete/",
    "/accounts/logout/",
    "/import/",
    "/shares/",
    f"{RICH}shares/",
    f"{EMPTY}shares/",
    "/projects/",
    PROJECT,
    f"{PROJECT}delete/",
    f"{EMPTY}move/",
    SHARED,
    f"{SHARED}continue/",
    "/api/docs/",
]
VISITORS_PAGES = ["/accounts/login/", "/accounts/signup/"]
MANY_CALLS = ".docs > section:nth-of-type(n + 4), .index li:nth-child(n + 4), dl > :nth-child(n + 4)"
"""Selector of all calls and objects but the first on the page about the API: axe takes ten seconds for all of them."""


def open_folds(page: Page) -> None:
    page.evaluate("document.querySelectorAll('#transcript details').forEach((fold) => { fold.open = true; })")


def open_session(page: Page) -> None:
    page.click('button[data-action="open-session"]')
    expect(page.get_by_role("row", name="frame")).to_be_visible()


def open_editor(page: Page) -> None:
    page.click('button[data-action="edit-code"]')


def open_share(page: Page) -> None:
    page.click('[data-action="share"]')
    expect(page.locator("#share")).to_be_visible()


def open_head_menu(page: Page) -> None:
    page.set_viewport_size(PHONE)
    # On a wide window, the panel of the session may be open. It is closed if a page is loaded on a phone.
    page.reload()
    page.click("button[popovertarget=head-menu]")


def start_temporary(page: Page) -> None:
    page.get_by_role("button", name="Temporary conversation").click()
    expect(page.locator("#temporary")).to_be_visible()


def open_account_menu(page: Page) -> None:
    page.click("button[popovertarget=account-menu]")


def open_entry_menu(page: Page) -> None:
    page.locator('#conversations button[data-action="entry-menu"]').first.press("Enter")


def open_move(page: Page) -> None:
    open_dialog(page, "move")
    page.get_by_label("New project…").check()


def open_dialog(page: Page, action: str) -> None:
    open_entry_menu(page)
    page.click(f'#entry-menu [data-action="{action}"]')


def rate_badly(page: Page) -> None:
    page.locator('article[data-role="model"] button[data-action="say-why"]').first.click()


def edit_question(page: Page) -> None:
    page.press("textarea[name=text]", "ArrowUp")
    expect(page.locator("#editing")).to_be_visible()


def serving(html: str) -> Callable[[Route], None]:
    """Return a handler that answers with a page."""
    return lambda route: route.fulfill(body=html, content_type="text/html")


STATES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "folds": (RICH, open_folds),
    "session": (RICH, open_session),
    "code editor": (WAITING, open_editor),
    "settings": (EMPTY, lambda page: page.click('button[data-action="settings"]')),
    "export": (EMPTY, lambda page: page.click("button[popovertarget=export-menu]")),
    "head menu": (RICH, open_head_menu),
    "share": (RICH, open_share),
    "temporary": (EMPTY, start_temporary),
    "shortcuts": (EMPTY, lambda page: page.keyboard.press("?")),
    "account menu": ("/projects/", open_account_menu),
    "entry menu": (EMPTY, open_entry_menu),
    "rename": (EMPTY, lambda page: open_dialog(page, "rename")),
    "move": (EMPTY, open_move),
    "search": (EMPTY, lambda page: page.fill("#search-box", "sales")),
    "feedback": (RICH, rate_badly),
    "large view": (RICH, lambda page: page.locator("#transcript a.zoom").first.click()),
    "editing": (RICH, edit_question),
}
"""Name of a state -> page, and function that opens the state. Only the first state is checked with the transcript."""


WITHOUT_TOOLTIP = r"""() => {
    const roots = [document, ...Array.from(document.querySelectorAll("template"), ({ content }) => content)];
    const controls = roots.flatMap((root) => Array.from(root.querySelectorAll("button, summary, a.icon-only")));
    const icons = controls.filter((one) => one.matches(".icon-only, .round") || !/[\p{L}\p{N}]/u.test(one.textContent));
    const isNamed = (one) => one.title && (one.getAttribute("aria-label") ?? "").startsWith(one.title);
    const found = icons.filter((one) => !one.querySelector("img") && !isNamed(one));
    return [icons.length, found.map(({ outerHTML }) => outerHTML.slice(0, 200))];
}"""
"""Returns the number of controls that show only an icon or a sign, and the HTML of those without name and tooltip."""


@pytest.fixture
def tab(browser: Browser, reader_state: StorageState) -> Iterator[Page]:
    """Open a window without motion, because a color in transition has no contrast that can be measured."""
    window = browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", storage_state=reader_state
    )
    yield window.new_page()
    window.close()


def test_axe_finds_no_error_on_any_page_of_users(tab: Page, server: LiveServer) -> None:
    found: list[str] = []
    for path in PAGES:
        tab.goto(server.url + path)
        found += findings(tab, MANY_CALLS if path == "/api/docs/" else "", is_brief=path.startswith("/accounts/"))
    assert not found, "\n".join(found)


def test_axe_finds_no_error_in_any_state_of_the_conversation_page(tab: Page, server: LiveServer) -> None:
    found: list[str] = []
    for name, (path, open_state) in STATES.items():
        tab.goto(server.url + path)
        open_state(tab)
        exclude = "" if name == "folds" else "#transcript > :not(:has(.approval))"
        found += [f"{name}: {finding}" for finding in findings(tab, exclude)]
    assert not found, "\n".join(found)


def test_scrollable_boxes_have_an_aria_role_and_an_accessible_name(tab: Page, server: LiveServer) -> None:
    # Browsers may ignore the name of a box without a role, and axe does not report this.
    tab.goto(server.url + RICH)
    open_folds(tab)
    boxes = tab.locator('#transcript :is(div, pre, span)[tabindex="0"]')
    assert boxes.count() > 8
    expect(tab.locator('#transcript :is([tabindex="0"], [aria-label]):is(div, pre, span):not([role])')).to_have_count(0)
    expect(tab.locator('#transcript [role][tabindex="0"]:not([aria-label])')).to_have_count(0)
    expect(tab.get_by_role("group", name="Output")).not_to_have_count(0)


def test_controls_that_show_only_an_icon_have_a_name_and_a_tooltip(tab: Page, server: LiveServer) -> None:
    tab.goto(server.url + RICH)
    open_session(tab)
    tab.set_input_files("#file", files={"name": "a.txt", "mimeType": "text/plain", "buffer": b"a"})
    expect(tab.get_by_role("button", name="Remove a.txt")).to_be_visible()
    number, found = tab.evaluate(WITHOUT_TOOLTIP)
    assert number > 25
    assert found == []


def test_axe_finds_no_error_on_pages_of_visitors_and_of_errors(browser: Browser, server: LiveServer) -> None:
    window = browser.new_context(reduced_motion="reduce")
    tab = window.new_page()
    found: list[str] = []
    for path in VISITORS_PAGES:
        tab.goto(server.url + path)
        found += findings(tab)
    tab.goto(f"{server.url}/accounts/login/")
    tab.fill("input[name=login]", "nobody")
    tab.fill("input[name=password]", "wrong")
    tab.click("button[type=submit]")
    expect(tab.get_by_role("alert")).to_be_visible()
    found += findings(tab)
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    for template in ("403.html", "403_csrf.html", "500.html"):
        # In development mode, the server shows Django's own pages for these errors.
        html = render_to_string(template, {"user": request.user}, request)
        tab.route(f"**/{template}", serving(html))
        tab.goto(f"{server.url}/{template}")
        expect(tab.locator("h1")).to_be_visible()
        found += findings(tab)
    window.close()
    assert not found, "\n".join(found)


def test_focus_returns_to_the_button_that_opened_a_dialog(tab: Page, server: LiveServer) -> None:
    tab.goto(server.url + RICH)
    entry = tab.locator('#conversations button[data-action="entry-menu"]').first
    openers = {
        "shortcuts": tab.locator("#keys"),
        "conversation-settings": tab.get_by_role("button", name="Conversation settings"),
        "lightbox": tab.locator("#transcript a.zoom").first,
        "feedback": tab.locator('button[data-action="say-why"]').first,
        "rename": entry,
    }
    for dialog_id, opener in openers.items():
        opener.press("Enter")
        if opener is entry:
            choice = tab.locator(f'#entry-menu [data-action="{dialog_id}"]')
            # A hidden element cannot take the focus, so the key would go to the button again.
            expect(choice).to_be_visible()
            choice.press("Enter")
        expect(tab.locator(f"#{dialog_id}")).to_be_visible()
        tab.keyboard.press("Escape")
        expect(tab.locator(f"#{dialog_id}")).to_be_hidden()
        expect(opener).to_be_focused()
    # A page that does not put the focus into the message box begins with a link to its content.
    tab.goto(f"{server.url}/gallery/")
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(tab.get_by_role("link", name="Skip to the content")).to_be_in_viewport()


def test_two_tab_presses_and_enter_reach_the_messages_and_each_list_is_one_tab_stop(
    tab: Page, server: LiveServer
) -> None:
    tab.goto(server.url + RICH)
    # The message box has the focus. The page begins at its body.
    tab.evaluate("document.body.tabIndex = -1, document.body.focus()")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(tab.locator("#scroller")).to_be_focused()
    for items in ("#conversations li :is(a, button)", "#head-menu > :is(a, button)"):
        tab.wait_for_function(
            "items => [...document.querySelectorAll(items)].filter((one) => one.tabIndex === 0).length === 1", arg=items
        )
    first, second = (tab.locator("#conversations li > a").nth(number) for number in (0, 1))
    first.focus()
    tab.keyboard.press("ArrowDown")
    expect(second).to_be_focused()
    tab.keyboard.press("Tab")
    assert not tab.evaluate("document.getElementById('conversations').contains(document.activeElement)")
    # The focus leaves the list, and returns to the entry where it was.
    tab.keyboard.press("Shift+Tab")
    expect(second).to_be_focused()
