"""Announcements for screen readers while an answer is written, and notifications in another tab when it is done."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.actions import ask, ask_and_wait, change_settings, open_settings
from tests.polling import wait_until

pytestmark = pytest.mark.drill

SPOKEN = "#spoken p"
#: Records all announcements, because the page keeps only the last ones.
RECORD = """() => {
    window.announcements = [];
    new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes) announcements.push(node.textContent);
    }).observe(document.getElementById("spoken"), { childList: true });
}"""
HIDE = """(isHidden) => {
    Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def announcements(page: Page) -> list[str]:
    told: list[str] = page.evaluate("announcements")
    return told


def test_answer_is_announced_to_screen_readers_in_sentences_with_descriptions_of_code_and_graph(page: Page) -> None:
    page.evaluate(RECORD)
    ask_and_wait(page, "Plot a sine wave")
    expect(page.locator(SPOKEN).last).to_have_text("The answer is complete.")
    told = announcements(page)
    assert told[0] == "An answer is being written."
    assert told[-1] == "The answer is complete."
    text = " ".join(told)
    words = (
        "I'll draw (a formula) for x from 0 to (a formula).",
        "Running Python code, 21 lines.",
        "The code ran, 3 lines of output.",
        "Line chart: sin(x)",
    )
    positions = [text.index(one) for one in (*words, "Lowest value: -1 (x = 4.71).", "Make it a cosine")]
    assert positions == sorted(positions)
    assert "import" not in text
    # Each sentence is announced once, and in few announcements, not one for each word.
    assert text.count("Lowest value") == 1
    assert len(told) <= 8
    heading = page.get_by_role("heading", level=2).nth(1)
    expect(heading).to_contain_text("Answer, Demo model")


def test_answer_that_begins_before_the_announcer_has_loaded_is_announced(page: Page) -> None:
    page.evaluate(RECORD)
    held: list[Route] = []
    page.route("**/announcer*.js", lambda route: held.append(route))
    expect(ask(page, "Plot a sine wave")).to_have_attribute("data-status", "running")
    held[0].continue_()
    expect(page.locator(SPOKEN).last).to_have_text("The answer is complete.")
    told = announcements(page)
    assert told[0] == "An answer is being written."
    assert "The code ran" in " ".join(told)


def test_announcements_are_made_once_and_are_removed_from_the_page_later(page: Page) -> None:
    page.clock.install()
    change_settings(page, model="scenario-thought-and-graph")
    page.reload()
    page.evaluate(RECORD)
    answer = ask_and_wait(page, "Plot one period of the sine")
    expect(page.locator(SPOKEN).last).to_have_text("The answer is complete.")
    told = " ".join(announcements(page))
    assert re.fullmatch(
        r"An answer is being written\. (Thinking…|Thought for [\d.]+ s\.) "
        r"I will draw one period of the sine\. The curve has 200 points\. Running Python code, 10 lines\. "
        r"The code ran: maximum 1\.0\. Line chart: One period of the sine\. x axis: x, y axis: sin\(x\)\. "
        r"The curve begins at 0\. Its highest point is at \(a formula\), and its lowest is at 4\.71\. "
        r"The period is 6\.28\. The mean is 0\. You can ask for a cosine next\. The answer is complete\.",
        told,
    ), told
    headings = page.locator("#transcript > article > h2")
    expect(headings).to_have_text([re.compile("^You, "), re.compile("^Answer, scenario-thought-and-graph, ")])
    expect(answer.get_by_role("group", name="Output")).to_have_text("maximum 1.0")
    # A person who reads the page later finds the answer only once.
    page.clock.fast_forward(60_000)
    expect(page.locator(SPOKEN)).to_have_count(0)


def test_nothing_is_announced_to_screen_readers_while_the_tab_is_in_the_background(page: Page) -> None:
    page.evaluate(RECORD)
    answer = ask(page, "Plot a sine wave")
    expect(answer).to_have_attribute("data-status", "running")
    page.evaluate(HIDE, True)
    before = announcements(page)
    wait_until(lambda: 'data-status="done"' in page.request.get(page.url).text(), 30)
    assert announcements(page) == before
    page.evaluate(HIDE, False)
    expect(page.locator(SPOKEN).last).to_have_text("The answer is complete.")


def test_only_complete_sentences_of_a_growing_text_are_announced(page: Page) -> None:
    page.evaluate(
        """async () => {
            const { spokenPieces } = await import("/static/js/spoken_text.js");
            const article = document.createElement("article");
            article.innerHTML = [
                '<div class="parts"><div data-part-kind="display"><pre role="group" aria-label="Output">7</pre></div>',
                '<div data-part-kind="text">',
                '<p>One\\nis. Two is <math alttext="x"></math>. Three is <math alttext="\\\\frac{1}{2}"></math>.</p>',
                '<ul><li>first</li><li>second</li></ul>',
                '<div class="tail"><p>Open\\nsentence. Half a sent</p></div></div></div>',
            ].join("");
            window.live = spokenPieces(article, true);
            window.ended = spokenPieces(article, false);
        }"""
    )
    closed = ["One is.", "Two is x.", "Three is (a formula).", "first", "second", "Open sentence."]
    assert page.evaluate("live") == closed
    assert page.evaluate("ended") == [*closed, "Half a sent"]


#: Stands in for the browser's notifications, and records them. The user has not been asked before.
RECORD_NOTIFICATIONS = """() => {
    window.asked = 0;
    window.shown = [];
    window.Notification = class extends EventTarget {
        static permission = "default";
        static async requestPermission() {
            asked += 1;
            return (Notification.permission = "granted");
        }
        constructor(title, { body }) {
            super();
            shown.push(`${title}: ${body}`);
        }
    };
}"""


def test_hidden_tab_notifies_the_user_when_the_answer_is_done(page: Page) -> None:
    page.add_init_script(f"({RECORD_NOTIFICATIONS})()")
    change_settings(page, title="Waves")
    page.reload()
    assert page.evaluate("asked") == 0
    page.get_by_role("button", name="Conversation settings").click()
    button = page.get_by_role("button", name="Notify me when an answer is done")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator('[data-choice="true"]')).to_be_visible()
    page.keyboard.press("Escape")
    answer = ask(page, "Plot a sine wave")
    expect(answer).to_have_attribute("data-status", "running")
    page.evaluate(HIDE, True)
    expect(page).to_have_title("✓ Waves · Plotline")
    expect(answer).to_have_attribute("data-status", "done")
    assert page.evaluate("[asked, shown]") == [1, ["Waves: The answer is complete."]]
    # The socket of the hidden page is then closed, like that of any idle tab.
    page.wait_for_function("() => import('/static/js/connection.js').then((connection) => !connection.isOpen())")
    page.evaluate(HIDE, False)
    expect(page).to_have_title("Waves · Plotline")
    page.wait_for_function("() => import('/static/js/connection.js').then((connection) => connection.isOpen())")
    # An answer in a visible tab causes no notification. The setting is kept.
    change_settings(page, model="scenario-text")
    page.reload()
    page.evaluate("Notification.permission = 'granted'")
    ask_and_wait(page, "Hello")
    expect(page).to_have_title("Waves · Plotline")
    assert page.evaluate("[asked, shown]") == [0, []]


def test_notifications_can_be_turned_on_in_the_settings_of_the_account(page: Page) -> None:
    page.add_init_script(f"({RECORD_NOTIFICATIONS})()")
    conversation = page.url
    open_settings(page, "Appearance")
    button = page.get_by_role("button", name="Notify me when an answer is done")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.goto(conversation)
    page.evaluate("Notification.permission = 'granted'")
    answer = ask(page, "Plot a sine wave")
    expect(answer).to_have_attribute("data-status", "running")
    page.evaluate(HIDE, True)
    expect(answer).to_have_attribute("data-status", "done")
    page.wait_for_function("() => shown.length === 1")


def test_hidden_tab_stays_connected_even_if_its_background_script_loads_late(page: Page) -> None:
    held: list[Route] = []
    page.route("**/background*.js", lambda route: held.append(route))
    change_settings(page, title="Late")
    page.reload(wait_until="domcontentloaded")
    answer = ask(page, "Plot a sine wave")
    expect(answer).to_have_attribute("data-status", "running")
    [script] = held
    script.continue_()
    # This returns when the module has run.
    page.evaluate("url => import(url).then(() => true)", script.request.url)
    page.evaluate(HIDE, True)
    expect(page).to_have_title("✓ Late · Plotline")
