"""The main job in the engines of Firefox and Safari: ten journeys, each with real keys and clicks.

Firefox is the system's `firefox-esr`, WebKit the small browser of WebKitGTK (`webkit2gtk-driver`, `xvfb`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.database import run_in_shell
from tests.engines.firefox import start_firefox
from tests.engines.tab import PlaywrightTab, Tab, WebKitDriver, WebKitTab, until
from tests.kernel_service import running_service
from tests.live_server import LiveServer, running_server

pytestmark = pytest.mark.drill

BOX = "form#composer textarea[name=text]"
LAST_IS_DONE = """
const articles = [...document.querySelectorAll('#transcript article[data-role="model"]')];
return articles.length === Number(a[0]) && articles.at(-1).dataset.status === "done";
"""
IS_READY = "return document.querySelector('[data-htmx-powered]') !== null"
TEXT_OF = "return document.querySelector(a[0])?.textContent.trim() ?? ''"
BELOW = "const s = document.getElementById('scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight"
#: As in `actions.articles`: with times of the reader's zone, and without the lines about numbers, because a tab fills
#: them when they are seen. The focus and the pointer may be elsewhere.
ARTICLES = """
if (![...document.querySelectorAll("#transcript time[datetime]")].every(({ title }) => title)) return "";
return [...document.querySelectorAll('#transcript article')].map((article) => {
    const copy = article.cloneNode(true);
    const line = copy.querySelector('.numbers');
    line?.replaceChildren();
    line?.removeAttribute('data-traced');
    return copy.outerHTML;
}).join('');
"""
FILL = """
const box = document.getElementById("text");
box.value = a[0];
box.dispatchEvent(new Event("input", { bubbles: true }));
box.focus();
"""
FORMULAS = r"$\boxed{x}$ and $\cancel{x}$ and $\overline{AB}$ and $\begin{vmatrix}1\\2\\3\\4\end{vmatrix}$"
CREATE = f"""
from chat.models import User
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_long_conversation, make_model_message
owner = User.objects.get(username="demo")
long = make_long_conversation(owner, messages=80, lines=4)
drawn = make_conversation(owner, title="Formulas")
make_model_message(drawn, parts=[(PartKind.TEXT, {FORMULAS!r})])
print(long.pk, drawn.pk)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with (
        running_service() as service,
        running_server(GEMINI_MODEL="plotline-demo", KERNEL_SERVICE_DIR=str(service.directory)) as running,
    ):
        yield running


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def first_tab(request: pytest.FixtureRequest, server: LiveServer) -> Iterator[Tab]:
    """A tab of the engine, logged in; skips if the engine is not installed."""
    programs = {"firefox": ["firefox-esr"], "webkit": ["WebKitWebDriver", "Xvfb"]}[request.param]
    if missing := [name for name in programs if not shutil.which(name)]:
        pytest.skip(f"{', '.join(missing)} of {request.param} is not installed; see docs/drills.md")
    if request.param == "firefox":
        with sync_playwright() as playwright:
            browser = start_firefox(playwright)
            window = browser.new_context(viewport={"width": 1280, "height": 900})
            yield _log_in(PlaywrightTab(window), server)
            browser.close()
    else:
        driver = WebKitDriver()
        tab = WebKitTab.first(driver)
        tab.resize(1280, 900)
        yield _log_in(tab, server)
        driver.quit()


def _log_in(tab: Tab, server: LiveServer) -> Tab:
    tab.goto(f"{server.url}/")
    tab.type("input[name=login]", "demo")
    tab.type("input[name=password]", "demo")
    tab.click("button[type=submit]")
    until(tab, "return document.querySelector('form#composer') !== null")
    return tab


@pytest.fixture
def tab(first_tab: Tab, server: LiveServer) -> Tab:
    """Open a new conversation."""
    first_tab.goto(f"{server.url}/")
    first_tab.click("#new-conversation button")
    until(first_tab, "return document.querySelector('#transcript')?.children.length === 0")
    until(first_tab, IS_READY)
    return first_tab


def send(tab: Tab, text: str) -> None:
    """Type a message and press Enter."""
    tab.type(BOX, text)
    tab.press("Enter")


def ask_and_wait(tab: Tab, text: str, answers: int = 1) -> None:
    """Send a message, and wait until the last of `answers` answers is done."""
    send(tab, text)
    until(tab, LAST_IS_DONE, str(answers))


def test_graph_is_shown_and_the_page_is_equal_after_a_reload(tab: Tab) -> None:
    ask_and_wait(tab, "Plot a sine wave")
    tab.js("document.querySelector('figure img').scrollIntoView()")
    until(tab, "const i = document.querySelector('figure img'); return i.complete && i.naturalWidth > 100")
    live = until(tab, ARTICLES)
    tab.goto(str(tab.js("return location.href")))
    assert until(tab, ARTICLES) == live


def test_second_tab_shows_the_answer_while_it_is_written(tab: Tab) -> None:
    other = tab.other()
    other.goto(str(tab.js("return location.href")))
    until(other, "return document.querySelector('#transcript') !== null")
    ask_and_wait(tab, "Plot a sine wave")
    until(other, LAST_IS_DONE, "1")
    assert until(other, ARTICLES) == until(tab, ARTICLES)
    other.close()


def test_answer_is_stopped_by_escape_and_continued(tab: Tab) -> None:
    tab.js(FILL, "```python\nimport time\nwhile True: time.sleep(0.1)\n```")
    tab.press("Enter")
    # An answer that has only a thought is not continued.
    until(tab, "return document.querySelector('article[data-status=running] [data-part-kind=text]') !== null")
    tab.press("Escape")
    until(tab, "return document.querySelector('article[data-role=model]')?.dataset.status === 'stopped'")
    until(tab, "return document.querySelector('[data-action=continue]') !== null")


def test_message_that_is_sent_during_an_answer_waits_until_the_answer_ends(tab: Tab) -> None:
    send(tab, "Plot a sine wave")
    until(tab, "return document.querySelector('article[data-status=running]') !== null")
    send(tab, "First 50 primes")
    until(tab, LAST_IS_DONE, "2")
    assert tab.js("return document.getElementById('queued').hidden")


def test_question_is_edited_and_its_versions_are_switched(tab: Tab) -> None:
    ask_and_wait(tab, "Plot a sine wave")
    tab.press("ArrowUp")
    until(tab, "return !document.getElementById('editing').hidden")
    send(tab, " from 0 to 9")
    until(tab, "return document.querySelector('.versions')?.textContent.includes('2/2')")
    until(tab, LAST_IS_DONE, "1")
    tab.click('[data-role="user"] button[data-action="switch"]')
    until(tab, "return document.querySelector('.versions')?.textContent.includes('1/2')")


def test_file_is_attached_previewed_and_sent(tab: Tab, tmp_path: Path) -> None:
    table = tmp_path / "sales.csv"
    table.write_text("day,sales\n1,10\n2,30\n")
    tab.upload("#file", table)
    until(tab, "return document.querySelector('#files li:not([aria-busy])') !== null")
    until(tab, "return document.querySelector('#previews [data-rows=\"2\"]') !== null")
    ask_and_wait(tab, "What is in it?")
    assert "sales.csv" in str(tab.js(TEXT_OF, '[data-role="user"]'))


def test_draft_is_kept_after_a_reload_and_the_box_grows_with_a_long_line(tab: Tab) -> None:
    low = tab.js("return document.getElementById('text').clientHeight")
    tab.type(BOX, "a long line of words that goes on " * 8)
    until(tab, "return document.getElementById('text').clientHeight > 2 * Number(a[0])", str(low))
    tab.goto(str(tab.js("return location.href")))
    until(tab, "return document.getElementById('text')?.value.startsWith('a long line')")
    until(tab, "const b = document.getElementById('text'); return b.clientHeight === b.scrollHeight")
    tab.js(FILL, "")


def test_large_view_opens_and_returns_the_focus_when_it_is_closed(tab: Tab) -> None:
    ask_and_wait(tab, "Plot a sine wave")
    tab.click("#transcript a.zoom")
    until(tab, "return document.getElementById('lightbox').open")
    # A focus ring would mean that the picture was reached by keyboard.
    assert tab.js("return getComputedStyle(document.querySelector('#lightbox .plate')).outlineStyle") == "none"
    tab.press("Escape")
    until(tab, "return document.activeElement.matches('#transcript a.zoom')")


def test_end_key_scrolls_to_the_end_after_earlier_messages_were_loaded(tab: Tab, server: LiveServer) -> None:
    long, _ = run_in_shell(server, CREATE).split()
    tab.goto(f"{server.url}/c/{long}/")
    until(tab, IS_READY)
    tab.js("const s = document.getElementById('scroller'); s.focus(); s.scrollTop = 0")
    until(tab, "return document.querySelectorAll('#transcript article').length > 30")
    tab.press("End")
    until(tab, f"{BELOW} < 2")
    assert tab.js("const l = document.getElementById('conversations'); return l.scrollWidth - l.clientWidth") == 0


def test_formulas_are_drawn_once_and_search_finds_their_conversation(tab: Tab, server: LiveServer) -> None:
    _, drawn = run_in_shell(server, CREATE).split()
    tab.goto(f"{server.url}/c/{drawn}/")
    until(tab, "return document.querySelectorAll('math').length === 4")
    assert tab.js("return document.querySelector('menclose')") is None
    border = "return getComputedStyle(document.querySelector('math .' + a[0]))[a[1]]"
    assert tab.js(border, "boxed", "borderTopStyle") == "solid"
    assert tab.js(border, "overlined", "borderTopStyle") == "solid"
    height = "return document.querySelector(a[0]).getBoundingClientRect().height"
    bar, matrix = (float(str(tab.js(height, selector))) for selector in ("math mo[stretchy]", "math mtable"))
    assert bar >= 0.9 * matrix
    tab.type("#search-box", "Formulas")
    until(tab, "return document.querySelector('#conversations .found') !== null")
