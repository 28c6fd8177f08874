"""The composer: drafts, the message that waits, keys, and files; and where the page scrolls while an answer grows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, Route, ViewportSize, WebSocketRoute, expect

from tests.browser.actions import ANSWER, BOX, QUESTION, ask, ask_and_wait, change_settings, press, press_in_header
from tests.live_server import LiveServer

ENDLESS = "```python\nimport time\nwhile True:\n    time.sleep(1)\n```"
PHONE = pytest.param(ViewportSize(width=390, height=844), marks=pytest.mark.drill)
DISTANCE_TO_END = "(s => s.scrollHeight - s.scrollTop - s.clientHeight)(document.getElementById('scroller'))"
TABLE: FilePayload = {"name": "first.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}
LONG = "```python\nimport time\nfor i in range(200):\n    print('line', i)\n```"


@pytest.mark.parametrize("size", [ViewportSize(width=1280, height=800), PHONE])
def test_end_of_the_conversation_stays_in_view_over_several_answers(page: Page, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    for question in ("Plot a sine wave", "Show a histogram of 2000 random values"):
        answer = ask_and_wait(page, question)
        expect(answer.locator("img")).to_have_js_property("complete", True)
        page.wait_for_function(f"() => {DISTANCE_TO_END} < 48")
        expect(page.locator("#jump")).to_be_hidden()


@pytest.mark.drill
def test_new_question_is_at_the_top_and_its_answer_grows_below_it(page: Page) -> None:
    top = "q => q.getBoundingClientRect().top - document.getElementById('scroller').getBoundingClientRect().top"
    ask_and_wait(page, "Plot a sine wave")
    ask_and_wait(page, "First 50 primes")
    ask_and_wait(page, "```python\nprint(42)\n1 / 0\n```")
    # This answer now has the empty room that the previous answer had.
    ask_and_wait(page, "```python\nimport time\nfor number in range(3):\n    print(number)\n```")
    assert 0 <= page.locator(QUESTION).last.evaluate(top) < 60
    page.reload()
    # A page that is opened has no empty room at its end.
    assert page.locator(ANSWER).last.evaluate("a => getComputedStyle(a).minHeight") == "0px"


@pytest.mark.drill
def test_page_does_not_scroll_if_the_reader_has_scrolled_up(page: Page) -> None:
    ask_and_wait(page, "Plot a sine wave")
    page.locator("#scroller").hover()
    answer = ask(page, ENDLESS)
    expect(answer).to_contain_text("Running the code")
    page.mouse.wheel(0, -400)
    expect(page.locator("#jump")).to_be_visible()
    before = page.evaluate("document.getElementById('scroller').scrollTop")
    page.keyboard.press("Escape")
    expect(answer).to_have_attribute("data-status", "stopped")
    assert page.evaluate("document.getElementById('scroller').scrollTop") == before
    page.click("#jump")
    page.wait_for_function(f"() => {DISTANCE_TO_END} < 48")


@pytest.mark.drill
def test_draft_is_shared_by_tabs_and_not_lost_when_an_example_question_is_sent(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    # An empty box takes what another tab writes, even while it has the focus.
    expect(other.locator(BOX)).to_be_focused()
    page.fill(BOX, "half a thought")
    expect(other.locator(BOX)).to_have_value("half a thought")
    other.reload()
    expect(other.locator(BOX)).to_have_value("half a thought")
    other.close()
    # The sidebar may hold conversations with this title.
    page.click('[data-prompt="First 50 primes"]')
    expect(page.locator(QUESTION)).to_contain_text("First 50 primes")
    expect(page.locator(BOX)).to_have_value("half a thought")
    page.reload()
    expect(page.locator(BOX)).to_have_value("half a thought")


@pytest.mark.drill
def test_login_page_deletes_drafts(page: Page, server: LiveServer) -> None:
    page.fill(BOX, "for nobody else")
    state = page.context.storage_state()
    window = page.context.browser
    assert window
    assert "for nobody else" in str(state["origins"])
    visitor = window.new_context(storage_state={"cookies": [], "origins": state["origins"]})
    tab = visitor.new_page()
    tab.goto(f"{server.url}/accounts/login/")
    tab.wait_for_function("() => Object.keys(localStorage).length === 0")
    visitor.close()


def test_message_that_is_sent_during_an_answer_waits_until_the_answer_ends(page: Page) -> None:
    answer = ask(page, ENDLESS)
    expect(page.locator('[data-action="stop"]')).to_be_visible()
    page.fill(BOX, "First 50 primes")
    page.press(BOX, "Enter")
    expect(page.locator("#queued")).to_contain_text("First 50 primes")
    expect(page.locator(BOX)).to_have_value("")
    page.reload()
    expect(page.locator("#queued")).to_contain_text("First 50 primes")
    page.click('[data-action="change-queued"]')
    expect(page.locator(BOX)).to_have_value("First 50 primes")
    page.press(BOX, "Enter")
    page.keyboard.press("Escape")
    expect(answer).to_have_attribute("data-status", "stopped")
    # The answer was stopped, so the waiting message is not sent without a click.
    expect(page.locator("#composer-note")).to_contain_text("still waits")
    page.click('[data-action="send-queued"]')
    expect(page.locator(ANSWER).nth(1)).to_have_attribute("data-status", "done")
    expect(page.locator("#queued")).to_be_hidden()


@pytest.mark.drill
def test_stop_pressed_right_after_a_reload_is_sent_once_the_page_is_connected(page: Page) -> None:
    note = page.locator("#composer-note")
    change_settings(page, model="scenario-stall")
    answer = ask(page, "go")

    def connect_late(socket: WebSocketRoute) -> None:
        expect(note).to_have_text("Stopping…")
        socket.connect_to_server()

    page.route_web_socket(re.compile("/ws/"), connect_late)
    page.reload()
    page.keyboard.press("Escape")
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(note).to_be_empty()


@pytest.mark.drill
def test_stop_that_waited_for_the_connection_does_not_stop_the_next_answer(page: Page) -> None:
    change_settings(page, model="scenario-stall")
    answers = page.locator(ANSWER)
    ask(page, "go")
    other = page.context.new_page()
    other.goto(page.url)

    def connect_late(socket: WebSocketRoute) -> None:
        expect(page.locator("#composer-note")).to_have_text("Stopping…")
        other.click('#composer [data-action="stop"]')
        expect(other.locator(ANSWER)).to_have_attribute("data-status", "stopped")
        change_settings(other, model="plotline-demo")
        ask(other, "```python\nimport time\ntime.sleep(3)\n```")
        socket.connect_to_server()

    page.route_web_socket(re.compile("/ws/"), connect_late)
    page.reload()
    page.keyboard.press("Escape")
    expect(answers.nth(1)).to_have_attribute("data-status", "done")
    expect(answers.nth(0)).to_have_attribute("data-status", "stopped")


@pytest.mark.drill
def test_waiting_message_is_sent_after_a_complete_answer(page: Page) -> None:
    ask(page, "```python\nimport time\ntime.sleep(2)\n```")
    page.fill(BOX, "First 50 primes")
    page.press(BOX, "Enter")
    expect(page.locator(QUESTION)).to_have_count(2)
    expect(page.locator(ANSWER).nth(1)).to_have_attribute("data-status", "done")


@pytest.mark.drill
def test_composer_says_how_many_messages_a_new_version_of_an_earlier_answer_will_hide(page: Page) -> None:
    first = ask_and_wait(page, "First 50 primes")
    ask_and_wait(page, "Compute the first 30 Fibonacci numbers")
    hidden = "The 2 messages after it will stay with the old version"
    press(page.locator(QUESTION).first, "edit")
    expect(page.locator("#editing")).to_contain_text(hidden)
    expect(page.locator("#composer-note")).to_be_empty()
    page.click('[data-action="cancel-edit"]')
    expect(page.locator("#editing")).to_be_hidden()
    press(first, "regenerate")
    expect(page.locator("#composer-note")).to_contain_text(hidden)


@pytest.mark.drill
def test_shortcuts_are_listed(page: Page) -> None:
    page.locator("#scroller").focus()
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_contain_text("Start a new line")
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_hidden()


@pytest.mark.drill
def test_hint_about_keys_is_hidden_if_the_composer_is_too_narrow_for_all_of_it(page: Page) -> None:
    hint = page.locator("#keys")
    expect(hint).to_be_visible()
    assert hint.evaluate("hint => hint.scrollWidth <= hint.clientWidth")
    # In a narrow window, the panel of the Python session leaves too little room for the hint.
    page.set_viewport_size({"width": 1160, "height": 800})
    press_in_header(page, 'button[data-action="open-session"]')
    expect(hint).to_be_hidden()
    page.click('#session [data-action="close-session"]')
    expect(hint).to_be_visible()
    # The hint is not shown to a person who has used the keys.
    page.locator(BOX).press("Shift+Enter")
    expect(hint).to_be_hidden()
    page.reload()
    expect(hint).to_be_hidden()


@pytest.mark.drill
def test_file_that_is_dropped_anywhere_on_the_page_is_attached(page: Page, tmp_path: Path) -> None:
    (tmp_path / "rivers.csv").write_text("river,km\nRhine,1230\n")
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(["a,b\\n1,2\\n"], "dropped.csv", { type: "text/csv" }));
        const target = document.getElementById("sidebar");
        target.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
        const isShown = !document.getElementById("drop-hint").hidden;
        target.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        return isShown;
    }"""
    assert page.evaluate(drop)
    expect(page.locator("#files")).to_contain_text("dropped.csv")
    expect(page.locator("#files")).to_contain_text("8 bytes")


@pytest.mark.drill
def test_rejected_waiting_message_is_put_back_before_the_text_of_the_draft(page: Page) -> None:
    # Without the limit on the page, the server refuses the text.
    page.evaluate("delete document.getElementById('composer').dataset.limitBytes")
    ask(page, "```python\nimport time\ntime.sleep(2)\n```")
    page.fill(BOX, "x" * 300_000)
    page.press(BOX, "Enter")
    page.fill(BOX, "my next thought")
    expect(page.locator("#composer-error")).not_to_be_empty()
    expect(page.locator(BOX)).to_have_value("x" * 300_000 + "\n\nmy next thought")
    expect(page.locator(QUESTION)).to_have_count(1)


@pytest.mark.drill
def test_unrelated_error_does_not_reject_a_message_that_is_being_sent(page: Page) -> None:
    error = "<hx-partial hx-target='#composer-error' hx-swap='innerHTML'><p>Another error</p></hx-partial>"

    def relay(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if '"send"' in str(message):
                socket.send(json.dumps({"content": error}))
                # The page has applied the other error before the server accepts the message.
                expect(page.locator("#composer-error")).to_have_text("Another error")
                expect(page.locator(BOX)).not_to_be_editable()
                expect(page.locator("#composer-note")).to_have_text("Sending…")
            server.send(message)

        socket.on_message(pass_on)

    page.route_web_socket(re.compile("/ws/"), relay)
    page.reload()
    change_settings(page, model="scenario-text")
    ask_and_wait(page, "go")
    expect(page.locator(BOX)).to_have_value("")
    expect(page.locator("#composer-error")).to_be_empty()


@pytest.mark.drill
def test_focus_moves_to_the_message_box_when_the_pressed_button_is_hidden(page: Page) -> None:
    change_settings(page, model="scenario-stall")
    page.fill(BOX, "go")
    page.click("form#composer [type=submit]")
    expect(page.locator(QUESTION)).to_have_count(1)
    expect(page.locator(BOX)).to_be_focused()
    page.click('form#composer [data-action="stop"]')
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "stopped")
    expect(page.locator(BOX)).to_be_focused()
    second: FilePayload = {"name": "second.csv", "mimeType": "text/csv", "buffer": b"c\n3\n"}
    page.set_input_files("#file", [TABLE, second])
    expect(page.locator("#files li:not([aria-busy])")).to_have_count(2)
    page.get_by_role("button", name="Remove first.csv").press("Enter")
    expect(page.get_by_role("button", name="Remove second.csv")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_be_focused()


@pytest.mark.drill
def test_file_that_is_being_uploaded_is_kept_when_another_tab_changes_the_draft(page: Page) -> None:
    held: list[Route] = []
    page.route("**/attachments/", lambda route: held.append(route))
    other = page.context.new_page()
    other.goto(page.url)
    page.set_input_files("#file", [TABLE])
    chip = page.locator("#files li")
    expect(chip).to_have_attribute("aria-busy", "true")
    page.evaluate(
        "() => { window.stored = new Promise(done => addEventListener('storage', () => done(true), { once: true })); }"
    )
    other.fill(BOX, "written elsewhere")
    assert page.evaluate("window.stored")
    expect(chip).to_have_count(1)
    held[0].continue_()
    expect(chip).not_to_have_attribute("aria-busy", "true")
    expect(chip).to_contain_text("first.csv")


PASTE = """([selector, text]) => {
    const box = document.querySelector(selector);
    box.focus();
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    // An event that a script makes does not change the box.
    document.execCommand("insertText", false, text.replaceAll("\\r\\n", "\\n"));
}"""
CODE = "import math\nfor n in range(3):\n    print(math.sqrt(n))"
NO_CODE = {
    "prose": "Dear Anna,\n\nit's fine: return it by Friday (or later).\nimport duties",
    "table": "name,age\nAnna,3\nBen,4",
    "shell": "$ python a.py\nTraceback (most recent call last):\n  File 'a.py', line 1\n    print(x)\nNameError: x",
    "settings": 'DEBUG=1\nURL="http://localhost"\nPrivateTmp=yes',
    "list": "# Title\n\n- one\n  - two (2)\n* x = 1",
    "sql": "SELECT a\nFROM t\nWHERE x = 'b' and f(a) = 1",
    "json": '{\n  "a": [1],\n  "b": f(2)\n}',
    "script": 'console.log("a")\nlet x = f(1);\nshow(x)',
    "fenced": f"```python\n{CODE}\n```",
}
"""Texts of several lines that are not offered as Python."""


def paste(page: Page, text: str) -> None:
    page.evaluate(PASTE, [BOX, text])


def test_pasted_python_is_offered_as_code_and_other_text_is_not(page: Page) -> None:
    offer = page.locator("#code-offer")
    button = offer.get_by_role("button", name="As Python code")
    paste(page, CODE.replace("\n", "\r\n"))
    expect(button).to_be_visible()
    top = "document.querySelector('form#composer').getBoundingClientRect().top"
    before = page.evaluate(top)
    page.keyboard.press("Escape")
    expect(offer).to_be_hidden()
    expect(page.locator(BOX)).to_have_value(CODE)
    # No element has moved, and the box has the focus.
    assert page.evaluate(top) == before
    expect(page.locator(BOX)).to_be_focused()
    verdicts = page.evaluate(
        """async (texts) => {
            const { pythonLines } = await import("/static/js/python_lines.js");
            return Object.keys(texts).filter((name) => pythonLines(texts[name]));
        }""",
        NO_CODE,
    )
    assert verdicts == []
    page.fill(BOX, "Run this: ")
    page.press(BOX, "End")
    paste(page, f"What does it print?\n{CODE}\nThanks!")
    expect(button).to_be_visible()
    button.focus()
    page.keyboard.press("Enter")
    fenced = f"Run this: What does it print?\n```python\n{CODE}\n```\n\nThanks!"
    expect(page.locator(BOX)).to_have_value(fenced)
    expect(offer).to_be_hidden()
    page.keyboard.press("Control+z")
    expect(page.locator(BOX)).to_have_value(f"Run this: What does it print?\n{CODE}\nThanks!")
    page.fill(BOX, "")
    paste(page, CODE)
    button.click()
    page.press(BOX, "Enter")
    # The code is shown and run like code that a person writes in a separate block.
    expect(page.locator(f"{QUESTION} .own-code code")).to_contain_text("math.sqrt(n)")
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
    expect(page.locator(ANSWER)).to_contain_text("1.414")
    paste(page, CODE)
    expect(button).to_be_visible()
    page.press(BOX, "Enter")
    expect(offer).to_be_hidden()
