"""Answers of 4 MB: their page is usable soon, and no task stops the browser while they are written, read, searched and
scrolled."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Locator, Page, expect

from bench.chromium import READ_STATUS
from bench.page_scripts import IS_INTERACTIVE, OBSERVE_PAGE, READ_OPENING
from tests.browser.actions import ANSWER, ask, change_settings
from tests.browser.conftest import sign_in
from tests.browser.database import run_in_shell
from tests.conftest import Shown
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, running_server

pytestmark = [pytest.mark.drill, pytest.mark.timeout(900)]

INTERACTIVE_LIMIT_MS = 2_000
TASK_LIMIT_MS = 200
LIVE_LIMIT_MS = 300_000

CREATE = r"""
from chat.models import User
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_model_message
paragraphs = [f"Paragraph {n} is *short*, and has `code` and $x_{{{n}}}$." for n in range(60_000)]
paragraphs[30_000] = "Here is the quokka."
rows = lambda table: "\n".join(f"| row {n} | **{n * 7}** | {n / 3:.4f} |" for n in range(table * 40, table * 40 + 40))
tables = [f"## Table {n}\n\n| name | sevenfold | third |\n|---|---|---|\n{rows(n)}" for n in range(3_000)]
lines = "\n".join(f"def f{n}(x):\n    return x + {n}  # line `{n}` | $x$" for n in range(90_000))
texts = {
    "paragraphs": "\n\n".join(paragraphs),
    "tables": "\n\n".join(tables),
    "code": f"The program:\n\n```python\n{lines}\n```\n\nIt has *many* functions.",
}
for name, text in texts.items():
    conversation = make_conversation(User.objects.get(username="demo"), title=f"Many {name}")
    make_model_message(conversation, parts=[(PartKind.TEXT, text)])
"""
SCROLL = """async (top) => {
  const scroller = document.getElementById("scroller");
  for (let step = 0; step < 12; step += 1) {
    scroller.scrollTop += top;
    for (let frames = 0; frames < 10; frames += 1) await new Promise(requestAnimationFrame);
  }
}"""
"""Scrolls by so many pixels, twelve times, while groups of blocks are loaded."""
IS_FILLED = """() => {
  const { left, top, width, height } = document.getElementById("scroller").getBoundingClientRect();
  const shown = document.elementFromPoint(left + width / 2, top + height / 2);
  return shown.closest(".blocks") && !shown.closest("[data-absent]");
}"""
"""Whether the middle of the view shows a group of blocks, and no placeholder."""
GO = "(share) => { const s = document.getElementById('scroller'); s.scrollTop = share * s.scrollHeight; }"


@pytest.fixture(scope="module")
def fast_server() -> Iterator[LiveServer]:
    """A server whose model writes as fast as it can."""
    with running_emulator() as url, running_server(GOOGLE_GEMINI_BASE_URL=url, GEMINI_MODEL="plotline-demo") as running:
        run_in_shell(running, CREATE)
        yield running


@pytest.fixture
def observed_page(context: BrowserContext, fast_server: LiveServer) -> Page:
    """A page that records when it can be used, and its long tasks."""
    page = context.new_page()
    sign_in(page, fast_server)
    context.add_init_script(OBSERVE_PAGE)
    return page


@pytest.fixture
def devtools(context: BrowserContext, observed_page: Page) -> CDPSession:
    """The developer tools of that page."""
    session = context.new_cdp_session(observed_page)
    session.send("Performance.enable")
    return session


def url_of(server: LiveServer, name: str) -> str:
    """Return the URL of a conversation."""
    [[pk]] = server.rows("SELECT id FROM chat_conversation WHERE title = ?", f"Many {name}")
    return f"{server.url}/c/{uuid.UUID(pk)}/"


def take_figures(page: Page, devtools: CDPSession, shown: Shown, name: str) -> None:
    """Show and check what happened since the last call."""
    tasks = page.evaluate("() => opening.longTasks.splice(0)")
    devtools.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    longest = max(tasks, default=0)
    shown(
        f"{name}: longest of {len(tasks)} long tasks {longest:.0f} ms; JavaScript holds"
        f" {metrics['JSHeapUsedSize'] / 2**20:.0f} MiB, page has {metrics['Nodes']:,.0f} nodes"
    )
    assert longest < TASK_LIMIT_MS, name


def open_page(page: Page, url: str, shown: Shown, name: str) -> None:
    """Open a conversation, and check how soon the page can be used."""
    page.goto(url)
    page.wait_for_function(IS_INTERACTIVE)
    box = page.evaluate(READ_OPENING)["box"]
    response = page.evaluate("() => performance.getEntriesByType('navigation')[0].responseEnd")
    shown(f"{name}: interactive after {box:.0f} ms, of which the server took {response:.0f} ms")
    assert box < INTERACTIVE_LIMIT_MS, name


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("paragraphs", "Paragraph 0 is", "Paragraph 59999 is"),
        ("tables", "Table 0", "row 119999"),
        ("code", "The program:", "It has many functions."),
    ],
)
def test_huge_answer_opens_soon_and_scrolls_without_long_tasks_in_the_browser(
    observed_page: Page, devtools: CDPSession, fast_server: LiveServer, shown: Shown, name: str, first: str, last: str
) -> None:
    page = observed_page
    open_page(page, url_of(fast_server, name), shown, name)
    expect(text_of(page, last)).to_be_in_viewport()
    take_figures(page, devtools, shown, f"{name}, opened")
    page.evaluate(SCROLL, -4_000)
    take_figures(page, devtools, shown, f"{name}, scrolled up")
    page.evaluate(GO, 0)
    expect(text_of(page, first)).to_be_in_viewport()
    page.evaluate(SCROLL, 4_000)
    take_figures(page, devtools, shown, f"{name}, at its start")
    page.evaluate(GO, 0.5)
    page.wait_for_function(IS_FILLED)
    page.evaluate(SCROLL, -4_000)
    take_figures(page, devtools, shown, f"{name}, in its middle")
    page.locator("#scroller").press("End")
    expect(text_of(page, last)).to_be_in_viewport()
    take_figures(page, devtools, shown, f"{name}, back at its end")


def text_of(page: Page, text: str) -> Locator:
    """Return the element of the answer with this text."""
    return page.locator(ANSWER).get_by_text(text).first


def test_search_result_opens_a_huge_answer_at_the_matching_text(
    observed_page: Page, devtools: CDPSession, fast_server: LiveServer, shown: Shown
) -> None:
    [[pk]] = fast_server.rows("SELECT m.id FROM chat_message m WHERE m.text LIKE '%quokka%'")
    url = f"{url_of(fast_server, 'paragraphs')}?message={uuid.UUID(pk)}&q=quokka#message-{uuid.UUID(pk)}"
    open_page(observed_page, url, shown, "searched")
    expect(text_of(observed_page, "Here is the quokka.")).to_be_in_viewport()
    observed_page.evaluate(SCROLL, 4_000)
    take_figures(observed_page, devtools, shown, "searched and scrolled")


def test_huge_answer_is_written_without_long_tasks(
    observed_page: Page, devtools: CDPSession, fast_server: LiveServer, shown: Shown
) -> None:
    page = observed_page
    page.goto(f"{fast_server.url}/")
    with page.expect_navigation():
        page.click("text=New conversation")
    change_settings(page, model="scenario-paragraphs-60000")
    ask(page, "Write 60,000 paragraphs.")
    # An expectation would go through the whole page each second, which is a long task itself.
    page.wait_for_function(f"() => ({READ_STATUS})() === 'done'", timeout=LIVE_LIMIT_MS)
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(text_of(page, "Paragraph 59999 is")).to_be_in_viewport()
    take_figures(page, devtools, shown, "written")
    page.evaluate(SCROLL, -4_000)
    take_figures(page, devtools, shown, "written and scrolled")
    open_page(page, page.url, shown, "written and opened again")
    take_figures(page, devtools, shown, "written and opened again")
