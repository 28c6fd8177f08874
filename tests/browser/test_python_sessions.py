"""Python sessions in the browser: state over turns, the panel, code of the user, and blocks that are run again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.browser.actions import ANSWER, BOX, articles, ask, ask_and_wait, change_settings, press, press_in_header
from tests.browser.conftest import sign_in
from tests.emulator_server import shared_emulator
from tests.kernel_service import shared_service
from tests.live_server import LiveServer, running_server
from tests.openai_server.server import running_server as running_stand_in

GEMINI, OPENAI = "scenario-function-script", "function-script"
CSV = b"day,sales\n1,10\n2,30\n3,20\n"
OUTPUT = '[data-part-kind="code_execution_result"]'


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with (
        running_stand_in() as stand_in,
        running_server(
            GOOGLE_GEMINI_BASE_URL=shared_emulator(),
            OPENAI_BASE_URL=stand_in.url("ollama"),
            OPENAI_MODELS=OPENAI,
            KERNEL_SERVICE_DIR=str(shared_service().directory),
        ) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def context(browser: Browser, server: LiveServer) -> Iterator[BrowserContext]:
    window = browser.new_context(viewport={"width": 1400, "height": 900})
    window.set_default_timeout(30_000)
    sign_in(window.new_page(), server)
    yield window
    window.close()


def use_session(page: Page, model: str = GEMINI) -> None:
    """Choose a model that runs the code in each question in the session."""
    change_settings(page, model=model, engine="session", code_execution="on")


def open_panel(page: Page) -> Locator:
    """Open the panel of the session."""
    if page.locator("#session").is_hidden():
        press_in_header(page, 'button[data-action="open-session"]')
    panel = page.locator("#session")
    expect(panel).to_be_visible()
    return panel


def run_own_code(page: Page, code: str) -> Locator:
    """Run code of the user, and return the article of its answer."""
    answers = page.locator(ANSWER).count()
    open_panel(page)
    page.fill("#own-code textarea", code)
    page.press("#own-code textarea", "Control+Enter")
    answer = page.locator(ANSWER).nth(answers)
    expect(answer).to_have_attribute("data-status", "done")
    return answer


@pytest.mark.parametrize("model", [GEMINI, pytest.param(OPENAI, marks=pytest.mark.drill)])
def test_table_that_code_of_one_turn_loads_can_be_plotted_in_a_later_turn(page: Page, model: str) -> None:
    use_session(page, model)
    page.set_input_files("#file", {"name": "sales.csv", "mimeType": "text/csv", "buffer": CSV})
    expect(page.locator("#files li:not([aria-busy])")).to_have_count(1)
    ask_and_wait(page, "import pandas as pd\ndf = pd.read_csv('sales.csv')\nlen(df)")
    used = ask_and_wait(page, "print('total', df.sales.sum())")
    expect(used.locator(OUTPUT)).to_contain_text("total 60")
    drawn = ask_and_wait(page, "import matplotlib.pyplot as plt\ndf.plot(x='day', y='sales')\nplt.show()")
    expect(drawn.locator("figure[data-graph-index] img")).to_be_visible()
    expect(ask_and_wait(page, "print('days', len(df))").locator(OUTPUT)).to_contain_text("days 3")
    live = articles(page)
    page.reload()
    expect(page.locator(ANSWER)).to_have_count(4)
    assert articles(page) == live


@pytest.mark.drill
def test_output_appears_while_the_code_runs(page: Page) -> None:
    use_session(page)
    answer = ask(page, "import time\nprint('first', flush=True)\nwhile True: time.sleep(0.1)")
    expect(answer.locator(OUTPUT)).to_contain_text("first")
    expect(answer).to_have_attribute("data-status", "running")
    # The status says that code runs as long as output arrives.
    expect(answer.locator(".status")).to_have_text(re.compile("Running the code…"), use_inner_text=True)
    seconds = answer.locator(".working [data-seconds]")
    expect(seconds).to_have_attribute("data-seconds", "2 s")
    page.reload()
    # The tab knows when the code began.
    expect(seconds).to_have_attribute("data-seconds", re.compile(r"^([3-9]|\d\d) s$"))
    # Another tab does not know it.
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".status").last).to_have_text(re.compile("Running the code…"), use_inner_text=True)
    other.wait_for_function(
        "() => performance.getEntriesByType('resource').some(({ name }) => name.includes('/js/seconds.'))"
    )
    expect(other.locator(".working [data-seconds]")).to_have_count(0)
    other.close()
    page.click('#composer button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    assert "first" in ask_and_wait(page, "print('first and last')").inner_text()


@pytest.mark.drill
def test_panel_shows_variables_and_files(page: Page) -> None:
    use_session(page)
    ask_and_wait(page, "import numpy as np\ngrid = np.zeros((3, 4))\nopen('out.txt', 'w').write('hello')")
    panel = open_panel(page)
    row = panel.get_by_role("row", name="grid")
    expect(row).to_contain_text("ndarray")
    expect(row).to_contain_text("3 × 4")
    with page.expect_download() as download:
        panel.get_by_role("link", name="out.txt").click()
    assert download.value.path().read_text() == "hello"
    ask_and_wait(page, "later = 1")
    expect(panel.get_by_role("row", name="later")).to_be_visible()


@pytest.mark.drill
def test_open_panel_shows_that_the_kernel_died_between_cells(page: Page) -> None:
    code = "import os, signal, threading\nlost = 1\nthreading.Timer(2, os.kill, [os.getpid(), signal.SIGKILL]).start()"
    run_own_code(page, code)
    panel = page.locator("#session")
    expect(panel.get_by_role("row", name="lost")).to_be_visible()
    expect(panel.locator(".state")).to_contain_text("Not running.", timeout=60_000)
    expect(panel.locator("p.notice")).to_contain_text("variables are lost")
    expect(panel.get_by_role("row", name="lost")).to_have_count(0)


@pytest.mark.drill
def test_files_that_code_wrote_can_be_downloaded_and_kept_as_attachments(page: Page) -> None:
    answer = run_own_code(page, "open('out.csv', 'w').write('a,b')\nopen('other.csv', 'w').close()")
    files = answer.locator(".written li")
    expect(files).to_have_count(2)
    expect(files.nth(1)).to_contain_text("out.csv3 bytesnew")
    with page.expect_download() as download:
        files.nth(1).get_by_role("link", name="out.csv").click()
    assert download.value.path().read_text() == "a,b"
    files.nth(1).get_by_role("button", name="Keep as attachment out.csv").press("Enter")
    expect(files.nth(1)).to_contain_text("Kept as attachment")
    expect(files.nth(1).get_by_role("link", name="out.csv")).to_be_focused()
    expect(page.locator("#composer-note")).to_have_text("“out.csv” is kept. Later answers can use it, too.")
    live = articles(page)
    page.locator('#session button[data-action="restart"]').click()
    # The other file was deleted with the session. Its button says so before and after a click. The HTML is the same.
    ended = files.nth(0).get_by_role("button", name="Ended with the session other.csv")
    expect(ended).to_be_visible()
    ended.click()
    expect(page.locator("#composer-note")).to_contain_text("“other.csv” is gone: it ended with the Python session.")
    files.nth(0).get_by_role("link", name="other.csv").click()
    expect(page.locator("#composer-note")).to_contain_text("“other.csv” is gone")
    assert articles(page) == live
    page.reload()
    expect(ended).to_be_visible()
    assert articles(page) == live
    with page.expect_download() as download:
        files.nth(1).get_by_role("link", name="out.csv").click()
    assert download.value.path().read_text() == "a,b"
    expect(run_own_code(page, "print(open('out.csv').read())").locator(OUTPUT)).to_contain_text("a,b")


@pytest.mark.drill
def test_code_that_a_person_ran_is_shown_as_code_and_can_be_edited(page: Page) -> None:
    run_own_code(page, "tick = '```'\nprint(tick)")
    question = page.locator('article[data-role="user"]')
    expect(question.locator(".own-code")).to_contain_text("Your code")
    expect(question.locator(".own-code pre .s")).to_have_text("'```'")
    press(question, "edit")
    expect(page.locator(BOX)).to_have_value("````python\ntick = '```'\nprint(tick)\n````")


@pytest.mark.drill
def test_session_can_be_interrupted_and_restarted(page: Page) -> None:
    use_session(page)
    answer = ask(page, "kept = 5\nprint('on', flush=True)\nwhile True: pass")
    expect(answer.locator(OUTPUT)).to_contain_text("on")
    panel = open_panel(page)
    panel.locator('button[data-action="interrupt"]').click()
    expect(answer).to_have_attribute("data-status", "done")
    expect(answer.locator(OUTPUT)).to_contain_text("KeyboardInterrupt")
    expect(panel.get_by_role("row", name="kept")).to_be_visible()
    panel.locator('button[data-action="restart"]').click()
    expect(panel.get_by_role("row", name="kept")).to_have_count(0)
    expect(run_own_code(page, "'kept' in globals()").locator(OUTPUT)).to_contain_text("False")


def test_session_panel_and_the_line_above_the_composer_explain_the_session_state(page: Page) -> None:
    use_session(page)
    for number in range(3):
        ask_and_wait(page, f"x = {number}\nfor n in range(60): print(n)")
    panel, line = open_panel(page), page.locator("#session-line")
    page.evaluate("document.getElementById('scroller').scrollTop = 0")
    page.fill("#own-code textarea", "print('my own', x, flush=True)\nwhile True: pass")
    page.press("#own-code textarea", "Control+Enter")
    own = panel.locator("#own-output")
    expect(own).to_contain_text("my own 2")
    expect(own).to_contain_text("Your code is running…")
    expect(panel.locator(".state")).to_contain_text("Your code is running.")
    panel.locator('[data-action="interrupt"]').click()
    expect(own).to_contain_text("KeyboardInterrupt")
    expect(own).to_contain_text("Output of your code")
    assert page.evaluate("document.querySelectorAll('#own-output [id]').length") == 0
    expect(page.locator(ANSWER).last.locator("summary").first).to_contain_text("in the Python session")
    panel.get_by_role("button", name="Keep for a day").click()
    expect(panel.locator(".lifetime")).to_contain_text("Kept. Ends without use in 2")
    panel.locator('[data-action="restart"]').click()
    expect(panel.get_by_role("row", name="x", exact=True)).to_have_count(0)
    expect(line).to_contain_text("was restarted")
    line.get_by_role("button", name="Run everything again").click()
    expect(panel.locator(".session-body")).to_contain_text("int")
    expect(line).to_be_hidden()
    panel.locator('[data-action="end-session"]').click()
    expect(line).to_contain_text("has ended")
    page.press("#own-code textarea", "Escape")
    page.reload()
    expect(line.get_by_role("button", name="Run everything again")).to_be_visible()


@pytest.mark.drill
def test_panel_on_a_phone_closes_to_show_an_output_in_the_conversation(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    answer = run_own_code(page, "print('a line')")
    page.get_by_role("button", name="Show in the conversation").click()
    expect(page.locator("#session")).to_be_hidden()
    expect(answer.locator(OUTPUT)).to_be_in_viewport()


@pytest.mark.drill
def test_code_that_a_person_sends_again_after_a_lost_response_runs_only_once(page: Page) -> None:
    run_own_code(page, "n = 0")

    def lose_reply(route: Route) -> None:
        route.fetch()
        route.fulfill(status=400, json={"detail": "The reply was lost."})

    page.route("**/session/run/", lose_reply, times=1)
    page.fill("#own-code textarea", "n += 1\nprint('n is', n)")
    page.press("#own-code textarea", "Control+Enter")
    expect(page.locator("#session-error")).to_have_text("The reply was lost.")
    expect(page.locator(ANSWER).nth(1)).to_have_attribute("data-status", "done")
    page.press("#own-code textarea", "Control+Enter")
    expect(page.locator("#own-code textarea")).to_have_value("")
    assert page.locator(ANSWER).count() == 2
    expect(run_own_code(page, "print('now', n)").locator(OUTPUT)).to_contain_text("now 1")


@pytest.mark.drill
def test_button_runs_a_block_of_code_again_and_shows_the_verdict(page: Page) -> None:
    run_own_code(page, "n = 0")
    answer = run_own_code(page, "n += 1\nprint('n is', n)")
    answer.locator("summary").first.click()
    answer.get_by_role("button", name="Run again", exact=True).click()
    expect(answer.locator("[data-verdict]")).to_have_attribute("data-verdict", "differs")
    answer.get_by_role("button", name="Run again from the start").click()
    expect(answer.locator("[data-verdict]")).to_have_attribute("data-verdict", "reproduced")
    page.reload()
    expect(page.locator(ANSWER).nth(1).locator("[data-verdict]")).to_have_attribute("data-verdict", "reproduced")


@pytest.mark.drill
def test_page_offers_to_run_the_shown_versions_code_if_another_version_made_the_variables(page: Page) -> None:
    use_session(page)
    line = page.locator("#session-line")
    ask_and_wait(page, "kind = 'first'\nprint(kind)")
    press(page.locator('article[data-role="user"]').first, "edit")
    page.fill(BOX, "print('kind' in globals())")
    page.press(BOX, "Enter")
    answer = page.locator(ANSWER).first
    expect(answer.locator(OUTPUT)).to_contain_text("True")
    expect(line).to_contain_text("variables of another version")
    page.reload()
    expect(line).to_be_visible()
    line.get_by_role("button").click()
    expect(answer.locator("[data-verdict]")).to_be_visible()
    expect(answer.locator("[data-verdict]")).to_have_attribute("data-verdict", "differs")
    expect(line).to_be_hidden()
    # The variables now belong to the second version.
    press(page.locator('article[data-role="user"]').first, "switch")
    expect(line).to_be_visible()


@pytest.mark.drill
def test_nightly_runs_of_a_pinned_conversation_can_be_turned_on_by_mouse_and_off_by_keyboard(page: Page) -> None:
    use_session(page)
    ask_and_wait(page, "one = 1")
    panel = open_panel(page)
    switch, note = panel.locator('button[data-action="nightly"]'), page.locator("#composer-note")
    expect(panel.get_by_role("row", name="one")).to_be_visible()
    expect(switch).to_have_count(0)
    page.locator(f'#conversations [data-action="entry-menu"][data-url="{urlsplit(page.url).path}"]').press("Enter")
    page.locator("#entry-menu").get_by_role("button", name="Pin", exact=True).press("Enter")
    switch.click()
    expect(switch).to_have_text("Turn off")
    expect(switch).to_be_focused()
    expect(note).to_have_text("All code runs again each night, while this conversation is pinned.")
    page.reload()
    expect(switch).to_have_text("Turn off")
    switch.press("Space")
    expect(switch).to_have_text("Run everything again each night")
    expect(note).to_have_text("Code does not run again each night any more.")
    page.keyboard.press("Enter")
    expect(switch).to_have_text("Turn off")
    page.set_viewport_size({"width": 390, "height": 844})
    page.route("**/settings/", lambda route: route.fulfill(status=400, body="Not now."))
    switch.click()
    # On a phone, the panel covers the message box.
    expect(page.locator("#session-error")).to_be_in_viewport(ratio=1)
    expect(page.locator("#session-error")).to_have_text("Not now.")


@pytest.mark.drill
def test_panel_is_a_drawer_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    panel = open_panel(page)
    assert panel.bounding_box()["width"] >= 380  # type: ignore[index]  # it is visible
    page.press("#own-code textarea", "Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name="More", exact=True)).to_be_focused()


TOPS_OF_LINES = """(box) => {
    const range = document.createRange();
    const lines = [];
    for (const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT); walker.nextNode();) {
        const node = walker.currentNode;
        for (let start = 0; start < node.length; start += 1) {
            range.setStart(node, start);
            range.setEnd(node, start + 1);
            if (node.data[start] !== "\\n") lines.push(Math.round(range.getBoundingClientRect().top));
        }
    }
    return lines;
}"""


@pytest.mark.drill
def test_error_is_short_and_in_view_and_one_click_asks_for_its_correction(page: Page) -> None:
    use_session(page)
    code = "for i in range(60): print(i)\ndef a(n): return b(n)\ndef b(n): return a(n)\na(1)"
    failed = run_own_code(page, code)
    page.reload()
    output = failed.locator('[data-outcome="error"]')
    expect(output.locator("pre")).to_contain_text("RecursionError: maximum recursion depth exceeded")
    box = output.locator("pre").evaluate("box => [box.scrollHeight - box.clientHeight, box.scrollTop]")
    assert box[0] > 100
    assert box[1] == 0  # the end, where such a box begins
    tops = output.locator("pre").evaluate(TOPS_OF_LINES)
    assert tops == sorted(tops)
    expect(failed.locator(".display details.fold summary")).to_contain_text("Traceback")
    button = page.get_by_role("button", name="Fix this error")
    expect(button).to_have_count(1)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(ANSWER)).to_have_count(2)
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    expect(page.locator(".said").last).to_contain_text("The code failed. Find out why")
    expect(failed.get_by_role("button", name="Fix this error")).to_have_count(0)
    live = articles(page)
    page.reload()
    expect(page.locator(ANSWER)).to_have_count(2)
    assert articles(page) == live
