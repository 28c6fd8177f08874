"""Input by touch keyboards, clipboards and input methods, and selecting text while an answer grows."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.actions import BOX, QUESTION
from tests.chat.library.exports.samples import png
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

CHIPS = "#files li:not([aria-busy]) bdi"
SMALL_LETTERS = """() => Array.from(document.querySelectorAll("input, textarea, select, [contenteditable]"))
    .filter((field) => !["checkbox", "radio", "hidden", "file"].includes(field.type))
    .filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16)
    .map((field) => `${getComputedStyle(field).fontSize} ${field.outerHTML.slice(0, 100)}`)"""


@pytest.fixture
def phone(browser: Browser, server: LiveServer, signed_in: StorageState) -> Iterator[Page]:
    """Open a new conversation on a phone."""
    window = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    tab = window.new_page()
    tab.goto(f"{server.url}/")
    tab.wait_for_load_state("load")
    yield tab
    window.close()


def write_two_lines(page: Page) -> None:
    page.locator(BOX).press_sequentially("- first")
    page.press(BOX, "Enter")
    page.locator(BOX).press_sequentially("- second")


def test_enter_makes_a_new_line_on_a_touch_keyboard_unless_the_user_chose_otherwise(
    phone: Page, server: LiveServer
) -> None:
    write_two_lines(phone)
    expect(phone.locator(BOX)).to_have_value("- first\n- second")
    expect(phone.locator(BOX)).to_have_attribute("enterkeyhint", "enter")
    phone.click("#composer button[type=submit]")
    expect(phone.locator(QUESTION).last).to_contain_text("second")
    small: list[str] = phone.evaluate(SMALL_LETTERS)
    for path in ("/conversations/", "/projects/", "/import/", "/accounts/", "/accounts/tokens/", "/accounts/defaults/"):
        phone.goto(server.url + path)
        small += phone.evaluate(SMALL_LETTERS)
    assert not small, small
    phone.goto(f"{server.url}/accounts/appearance/")
    phone.get_by_label("Sends the message.").check()
    phone.goto(f"{server.url}/")
    phone.fill(BOX, "sent by Enter")
    phone.press(BOX, "Enter")
    expect(phone.locator(QUESTION).last).to_contain_text("sent by Enter")
    phone.context.clear_cookies()
    for path in ("/accounts/login/", "/accounts/signup/", "/admin/login/"):
        phone.goto(server.url + path)
        expect(phone.locator("input[type=password]").first).to_be_visible()
        assert phone.evaluate(SMALL_LETTERS) == []


def test_user_with_a_keyboard_can_choose_that_enter_makes_a_new_line(page: Page, server: LiveServer) -> None:
    conversation = page.url
    page.goto(f"{server.url}/accounts/appearance/")
    page.get_by_label("Makes a new line. The button").check()
    page.goto(conversation)
    write_two_lines(page)
    expect(page.locator(BOX)).to_have_value("- first\n- second")
    expect(page.locator("#keys")).to_have_text("Ctrl+Enter: send")
    page.press(BOX, "Control+Enter")
    expect(page.locator(QUESTION).last).to_contain_text("second")


PASTE = """(box, [types, image, name]) => {
    const clipboardData = new DataTransfer();
    for (const [type, text] of Object.entries(types)) clipboardData.setData(type, text);
    const bytes = Uint8Array.from(atob(image), (letter) => letter.charCodeAt(0));
    clipboardData.items.add(new File([bytes], name, { type: "image/png" }));
    return !box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def test_pasted_text_is_preferred_to_a_picture_of_it_and_pasted_pictures_get_different_names(page: Page) -> None:
    page.wait_for_load_state("load")
    image = base64.b64encode(png()).decode()

    def is_taken(types: dict[str, str], name: str = "image.png") -> bool:
        """Return whether the page attaches the picture, so that the browser does not paste the text."""
        taken: bool = page.locator(BOX).evaluate(PASTE, [types, image, name])
        return taken

    cells = "a\tb\n1\t2"
    assert not is_taken({"text/plain": cells, "text/html": "<table></table>"})
    assert not is_taken({"text/plain": cells})
    assert page.locator(CHIPS).count() == 0
    assert is_taken({"text/html": "<img src=x>"})
    assert is_taken({})
    assert not is_taken({"text/plain": "12\timage.png\n13\tb.png", "text/html": "<table><td>image.png</table>"})
    assert not is_taken({"text/plain": "name\nimage\n"})
    # Browsers add the address of a picture.
    address = "https://example.org/cat.png"
    assert is_taken({"text/plain": address, "text/html": f"<meta charset=utf-8><img src={address}>"})
    # File managers copy a file with its name or address.
    assert is_taken({"text/plain": "plot.png"}, "plot.png")
    assert is_taken({"text/plain": "Am Meer"}, "Am Meer.png")
    assert is_taken(
        {"text/plain": "x-special/nautilus-clipboard\ncopy\nfile:///home/a/Bild%20%C3%BC.png"}, "Bild ü.png"
    )
    assert is_taken({"text/plain": "Capture d’e\u0301cran.png"}, "Capture d’écran.png")
    names = ["image.png", "image-2.png", "image-3.png", "plot.png", "Am Meer.png", "Bild ü.png", "Capture d’écran.png"]
    expect(page.locator(CHIPS)).to_have_text(names)
    accepted = (page.get_attribute("#file", "accept") or "").split(",")
    assert {"image/jpeg", "application/pdf", "text/*", ".xlsx"} <= {*accepted}


@pytest.mark.parametrize("box", ["#search-box", "#commands input"])
def test_search_waits_until_the_input_method_has_completed_the_text(page: Page, box: str) -> None:
    page.wait_for_load_state("load")
    if box != "#search-box":
        page.keyboard.press("Control+k")
    page.locator(box).focus()
    queries: list[str] = []
    page.on("request", lambda request: queries.append(request.url) if "q=" in request.url else None)
    devtools = page.context.new_cdp_session(page)
    for text in ("n", "に", "にほn"):
        devtools.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
        # This wait is longer than the pause after which the page searches.
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")
    assert queries == []
    with page.expect_response(re.compile(r"[?&]q=")):
        devtools.send("Input.insertText", {"text": "日本"})
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")
    assert len(queries) == 1
    assert "q=%E6%97%A5%E6%9C%AC" in queries[0]
    page.locator(box).evaluate(
        "(box) => box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', keyCode: 229, bubbles: true }))"
    )
    expect(page.locator(box)).to_have_value("日本")


GROW = """async () => {
    const entry = document.querySelector('script[type="module"][src*="conversation"]').src;
    const load = (name) => import(entry.replace(/conversation[^/]*$/, name));
    const [{ connection }] = [await load("connection.js"), await load("kept_selection.js")];
    const article = document.createElement("article");
    article.id = "message-x";
    const tail = '<div id="part-x-tail"><p>one two <b>thr</b></p></div>';
    article.innerHTML = `<div id="part-x" data-part-kind="text"><p>Done.</p>\\n${tail}</div>`;
    document.getElementById("transcript").append(article);
    const page = document.getElementById("conversation");
    const show = (html) => {
        connection.dispatchEvent(new CustomEvent("before", { detail: html }));
        htmx.swap({ sourceElement: page, target: page, swap: "none", text: html, transition: false });
        connection.dispatchEvent(new CustomEvent("frame"));
    };
    const swap = (how, html) => `<hx-partial hx-target="#part-x-tail" hx-swap="${how}">${html}</hx-partial>`;
    const two = article.querySelector("#part-x-tail p").firstChild;
    getSelection().setBaseAndExtent(two, 7, two, 4);
    const texts = [];
    for (const html of [
        swap("innerMorph", "<p>one two <b>three</b> four</p>"),
        swap("innerMorph", "<p>one two, <b>three</b> four</p>"),
        swap("beforebegin", "<p>one two, <b>three</b>.</p>\\n") + swap("innerMorph", "<pre><code>x = 1</code></pre>"),
        swap("innerMorph", "<pre><code>x = 12\\ny</code></pre>"),
    ]) {
        show(html);
        texts.push(getSelection().toString());
    }
    const code = article.querySelector("code").firstChild;
    getSelection().setBaseAndExtent(code, 0, code, 5);
    show(swap("innerMorph", "<pre><code>x = 12\\nyz</code></pre>"));
    texts.push(getSelection().toString(), getSelection().anchorOffset);
    show(swap("innerMorph", "<p>See [the manual](https</p>"));
    const manual = article.querySelector("#part-x-tail p").firstChild;
    getSelection().setBaseAndExtent(manual, 15, manual, 5);
    show(swap("innerMorph", '<p>See <a href="/x">the manual</a></p>'));
    texts.push(getSelection().toString(), getSelection().anchorOffset);
    article.remove();
    return texts;
}"""


def test_selected_text_stays_selected_while_the_answer_grows(page: Page) -> None:
    page.wait_for_load_state("load")
    assert page.evaluate(GROW) == ["two"] * 4 + ["x = 1", 0, "the manual", 10]
