"""An answer with formulas, code, a table and footnotes in Chromium: copying, editing, phones and printing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.actions import ANSWER, QUESTION, ask, ask_and_wait, change_settings
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

CONVERSATION_ID = "00000000-0000-4000-8000-0000000d15c1"
QUESTION_TEXT = "Explain *this*:\n- $x^2$\n- `code`"
ANSWER_TEXT = """# Result

The **sum** is $\\frac{n(n+1)}{2}$.[^1]

$$
f(x) = a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + a_5 x^5 + a_6 x^6 + a_7 x^7 + a_8 x^8 + a_9 x^9 + a_{10} x^{10} + c
$$

```python
print("a line that is longer than the column of the page is wide, so that it scrolls in its own box", 1, 2, 3)
```

| a | b | c | d | e | f | g | h |
|---|---|---|---|---|---|---|---|
| first column | second column | third column | fourth column | fifth column | sixth column | seventh | eighth |

- [x] done
- [ ] open

[^1]: A note.

The end.
"""
#: Creates a conversation with a question and an answer in which a signature cuts the bold text.
CREATE = f"""
from django.utils import timezone
from chat.models import Conversation, Message, Part, Turn, User
from chat.vocabulary.parts import Text
conversation = Conversation.objects.create(pk="{CONVERSATION_ID}", owner=User.objects.get(username="demo"))
question = Message.objects.create(conversation=conversation, index=0, role="user", text={QUESTION_TEXT!r})
answer = Message.objects.create(conversation=conversation, parent=question, index=1, role="model")
now = timezone.now()
Turn.objects.create(
    conversation=conversation, user_message=question, message=answer, status="done", provider="gemini",
    model="plotline-demo", created_at=now, started_at=now, first_part_at=now, ended_at=now,
)
text = {ANSWER_TEXT!r}
texts = (Text(text[:20], provider_data={{"thought_signature": "cw=="}}), Text(text[20:]))
Part.objects.bulk_create(Part.from_value(part, index=index, message=answer) for index, part in enumerate(texts))
"""


@pytest.fixture(scope="module")
def url(server: LiveServer) -> str:
    """Return the address of the conversation."""
    run_in_shell(server, CREATE)
    return f"{server.url}/c/{CONVERSATION_ID}/"


@pytest.fixture
def phone(browser: Browser, signed_in: StorageState, url: str) -> Iterator[Page]:
    """Open the conversation on a phone in the dark."""
    window = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark", storage_state=signed_in
    )
    page = window.new_page()
    page.goto(url)
    yield page
    window.close()


#: Whether an element and all that contains it are opaque.
IS_OPAQUE = """(element) => {
    for (let one = element; one; one = one.parentElement) if (getComputedStyle(one).opacity !== "1") return false;
    return element.checkVisibility({ visibilityProperty: true });
}"""
COLOR = "element => getComputedStyle(element).color"


def clipboard(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_markdown_and_code_are_copied_as_they_were_written(page: Page, url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(url)
    answer = page.locator(ANSWER)
    answer.locator(".code-head button").press("Enter")
    expect(answer.locator(".code-head button")).to_have_text("Copied")
    assert clipboard(page).startswith('print("a line')
    copy = answer.locator('.actions [data-action="copy"]')
    copy.click()
    expect(copy).to_have_attribute("data-result", "Copied")
    assert clipboard(page) == ANSWER_TEXT.strip("\n")
    question_copy = page.locator(f'{QUESTION} .actions [data-action="copy"]')
    question_copy.click()
    expect(question_copy).to_have_attribute("data-result", "Copied")
    assert clipboard(page) == QUESTION_TEXT


def test_code_block_has_a_header_above_the_code_and_different_colors_in_both_themes(page: Page, url: str) -> None:
    page.goto(url)
    block = page.locator(f"{ANSWER} .code-block")
    block.scroll_into_view_if_needed()
    page.mouse.move(2, 2)
    expect(block.locator(".code-head > span")).to_have_text("python")
    # The button is visible without a pointer above it, and covers no line.
    button = block.locator("button")
    assert button.evaluate(IS_OPAQUE)
    button_box, code_box = button.bounding_box(), block.locator("pre").bounding_box()
    assert button_box
    assert code_box
    assert button_box["y"] + button_box["height"] <= code_box["y"]
    colors = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colors |= {block.locator(selector).first.evaluate(COLOR) for selector in ("pre", "pre .s", "pre .m")}
    assert len(colors) == 6


def test_answer_fits_a_phone_and_is_accessible(phone: Page) -> None:
    expect(phone.locator(f"{ANSWER} math")).to_have_count(2)
    assert phone.evaluate("document.querySelector('#scroller').scrollWidth") == 390
    for selector in ("pre", ".table-scroll", ".formula-block"):
        box = phone.locator(f"{ANSWER} {selector}").first
        assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")
        assert box.get_attribute("tabindex") == "0"
    button = phone.locator(f"{ANSWER} .code-head button").bounding_box()
    assert button
    assert min(button["width"], button["height"]) >= 44
    phone.locator(f"{ANSWER} sup a").click()
    expect(phone.locator(f"{ANSWER} .footnotes li:target")).to_have_count(1)
    violations = Axe().run(phone, context=f"{ANSWER}").response["violations"]
    assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == []


def test_printed_page_has_the_whole_conversation_and_not_only_the_visible_part(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 800, "height": 300})
    page.goto(url)
    page.emulate_media(media="print")
    expect(page.locator("form#composer")).to_be_hidden()
    expect(page.locator("#print-note")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.querySelector('#scroller')).overflowY") == "visible"
    end = page.locator(f"{ANSWER} p", has_text="The end.")
    assert end.evaluate("(end) => end.getBoundingClientRect().bottom + scrollY") > 300
    assert page.evaluate("document.documentElement.scrollHeight") >= end.evaluate(
        "(end) => end.getBoundingClientRect().bottom + scrollY"
    )


def test_line_above_code_says_how_long_it_ran_and_opened_code_stays_open(page: Page) -> None:
    answer = ask_and_wait(page, "First 50 primes")
    line = answer.locator('details[data-part-kind="executable_code"] > summary')
    expect(line).to_have_text(re.compile(r"^Python\s*\d+ lines, in the sandbox of the demo\s*ran in \d+(\.\d)? s$"))
    # The result is shown without a click, and the code is not.
    expect(answer.locator(".output pre")).to_be_visible()
    expect(answer.locator("details .highlight")).to_be_hidden()
    line.click()
    expect(answer.locator("details .highlight")).to_be_visible()
    page.reload()
    expect(answer.locator("details .highlight")).to_be_visible()


def test_thought_shows_a_timer_and_stays_open_if_it_was_opened_while_being_written(page: Page) -> None:
    change_settings(page, model="scenario-thought-and-graph-300")
    answer = ask(page, "Think")
    fold = answer.locator('details[data-part-kind="thought"]')
    line, text = fold.locator("summary"), fold.locator(".fold-body")
    expect(line).to_have_text("Thoughts")
    expect(text).to_be_hidden()
    expect(answer.locator(".status")).to_have_text(re.compile("Thinking…"), use_inner_text=True)
    expect(answer.locator(".working [data-seconds]")).to_have_attribute("data-seconds", re.compile(r"^[1-9]\d* s$"))
    line.click()
    expect(text).to_contain_text("A sine wave shows")
    page.reload()
    expect(text).to_be_visible()
    page.click('#composer button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(line).to_have_text(re.compile(r"^Thought for \d+(\.\d)? s$"))
    expect(text).to_be_visible()
