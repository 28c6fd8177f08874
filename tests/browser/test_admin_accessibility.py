"""A tour with axe-core over the admin: every list, a page of each list, forms, the review pages and the overviews."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState

from tests.browser.axe import findings
from tests.browser.sample_conversations import RICH_ID
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

REVIEW = f"/admin/chat/conversation/{RICH_ID}/change/"
SINGLE_PAGES = [
    "/admin/",
    "/admin/chat/",
    "/admin/overview/",
    "/admin/python-service/",
    f"{REVIEW}?as=sent",
    "/admin/password_change/",
]
REPEATED = (
    "#nav-sidebar, tbody tr:nth-child(n + 4), #changelist-filter li:nth-child(n + 4), [id^=id_] > div:nth-child(n + 4)"
)
"""Elements that are checked only on the first page: the navigation, and all but the first rows, filters and boxes."""


@pytest.fixture
def tab(browser: Browser, reader_state: StorageState) -> Iterator[Page]:
    """Open a window without motion, because a color in transition has no contrast that can be measured."""
    window = browser.new_context(reduced_motion="reduce", storage_state=reader_state)
    yield window.new_page()
    window.close()


def hrefs(page: Page, selector: str) -> list[str]:
    """Return the paths that the links of a page lead to."""
    paths: list[str] = page.eval_on_selector_all(selector, "links => links.map((link) => new URL(link.href).pathname)")
    return list(dict.fromkeys(paths))


def test_axe_finds_no_error_on_single_pages_of_the_admin(tab: Page, server: LiveServer) -> None:
    found: list[str] = []
    for path in SINGLE_PAGES:
        tab.goto(server.url + path)
        found += findings(tab, "" if path == SINGLE_PAGES[0] else REPEATED)
    assert not found, "\n".join(found)


def test_axe_finds_no_error_on_lists_and_forms_of_the_admin(tab: Page, server: LiveServer) -> None:
    tab.goto(f"{server.url}/admin/")
    lists = hrefs(tab, "#content-main th a")
    assert "/admin/chat/conversation/" in lists
    forms: list[str] = []
    found: list[str] = []
    for path in lists:
        tab.goto(server.url + path)
        # The form of a new row has the same fields as that of a row, so it is checked only if there is none.
        rows = "#result_list tbody tr:first-child th a"
        forms += hrefs(tab, rows) or hrefs(tab, ".object-tools a.addlink")
        found += findings(tab, REPEATED, is_brief=True)
    for path in forms:
        tab.goto(server.url + path)
        found += findings(tab, REPEATED, is_brief=True)
    assert not found, "\n".join(found)
