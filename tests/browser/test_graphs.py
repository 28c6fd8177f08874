"""Graphs: the large view, the code behind a graph, a question about it, and the gallery."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.actions import ANSWER, BOX, articles, ask_and_wait, choose_in_account_menu

TWO_GRAPHS = """```python
import matplotlib.pyplot as plt
plt.plot([1, 3, 2])
plt.title("First steps")
plt.show()
plt.bar([1, 2], [3, 4])
plt.title("Second steps")
plt.show()
```"""


TRANSPARENT_GRAPH = """```python
import matplotlib.pyplot as plt
figure = plt.figure()
figure.patch.set_alpha(0)
plt.plot([1, 3, 2])
plt.show()
```"""
LIGHT = 200
"""Minimum value of each color channel of a light background, on which black text is readable."""


def test_graph_opens_in_a_large_view_with_its_code_and_its_change_button_fills_the_message_box(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = ask_and_wait(page, TWO_GRAPHS)
    live = articles(page)
    page.reload()
    expect(answer).to_have_attribute("data-status", "done")
    assert articles(page) == live
    first, second = answer.locator("figure[data-graph-index]").all()
    expect(first.locator("figcaption > span")).to_have_text("First steps")
    expect(second.locator("img")).to_have_attribute("alt", "Bar chart: Second steps")
    # Drawn twice as dense as it is shown. The kernel trims the margins, so the size is nearly that of the figure.
    first.locator("img").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('figure[data-graph-index] img').naturalWidth > 1000")
    assert first.locator("img").evaluate("image => Math.abs(image.naturalWidth / 2 - image.width) < 1")

    second.locator('button[data-action="copy-image"]').click()
    expect(second.locator('button[data-action="copy-image"]')).to_have_attribute("data-result", "Copied")
    assert page.evaluate("navigator.clipboard.read().then(([item]) => item.types)") == ["image/png"]

    first.locator("a.zoom").click()
    dialog = page.locator("#lightbox")
    expect(dialog.locator("span")).to_have_text("First steps – 1 of 2")
    page.keyboard.press("ArrowRight")
    expect(dialog.locator("span")).to_have_text("Second steps – 2 of 2")
    expect(dialog.locator("a[download]")).to_have_attribute("download", "second-steps.png")
    page.keyboard.press("+")
    expect(dialog.locator("img")).to_have_attribute("style", "transform: translate(0px, 0px) scale(1.4);")
    page.keyboard.press("0")
    dialog.locator(".plate").dblclick(position={"x": 100, "y": 100})
    expect(dialog).to_have_attribute("data-zoomed", "")
    before = dialog.locator("img").get_attribute("style")
    page.mouse.down()
    page.mouse.move(300, 300)
    page.mouse.up()
    expect(dialog.locator("img")).not_to_have_attribute("style", before or "")
    page.mouse.wheel(0, 5000)
    expect(dialog).not_to_have_attribute("data-zoomed", "")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(second.locator("a.zoom")).to_be_focused()

    second.locator('button[data-action="show-code"]').press("Enter")
    code = answer.locator('[data-part-kind="executable_code"]')
    expect(code).to_have_attribute("open", "")
    expect(code.locator("summary")).to_be_focused()

    page.set_viewport_size({"width": 390, "height": 780})
    inline = first.locator("img").bounding_box()
    first.locator("a.zoom").click()
    expect(dialog.locator("span")).to_have_text("First steps – 1 of 2")
    large = dialog.locator("img").bounding_box()
    assert inline
    assert large
    assert large["width"] > inline["width"]
    page.keyboard.press("Escape")
    check_keys_of_enlarged_image(page)

    page.fill(BOX, "use red")
    second.locator('button[data-action="change-graph"]').click()
    expect(page.locator(BOX)).to_have_value("Change the graph “Second steps” (graph 2): use red")
    expect(page.locator(BOX)).to_be_focused()


def check_keys_of_enlarged_image(page: Page) -> None:
    """Check the keys: arrows move an enlarged image, and go from an image that fits to the next one. Two fingers
    enlarge it.
    """
    dialog = page.locator("#lightbox")
    page.locator(f"{ANSWER} figure a.zoom").first.click()
    label, image = dialog.locator("span"), dialog.locator("img")
    expect(label).to_have_text("First steps – 1 of 2")
    for key in ("+", "+", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(image).to_have_attribute("style", re.compile(r"translate\(-[\d.]+px, -[\d.]+px\) scale\(1\.9"))
    expect(label).to_have_text("First steps – 1 of 2")
    page.keyboard.press("0")
    expect(image).to_have_attribute("style", re.compile(r"translate\(0px, 0px\) scale\(1\)"))
    box = dialog.locator(".plate").bounding_box()
    assert box
    middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    fingers = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchEnd", 0)):
        points = [{"x": middle["x"] + side * apart, "y": middle["y"], "id": side} for side in (0, 1)] if apart else []
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(image).to_have_attribute("style", re.compile(r"scale\((1\.[5-9]|2)"))
    page.keyboard.press("0")
    page.keyboard.press("ArrowRight")
    expect(label).to_have_text("Second steps – 2 of 2")
    page.keyboard.press("Escape")
    # The focus returns a moment after the dialog has closed.
    expect(page.locator(f"{ANSWER} figure a.zoom").last).to_be_focused()


@pytest.mark.drill
def test_transparent_graph_has_a_light_background_in_the_dark_theme(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    answer = ask_and_wait(page, TRANSPARENT_GRAPH)
    image = answer.locator("figure img")
    image.scroll_into_view_if_needed()
    page.wait_for_function("image => image.complete && image.naturalWidth > 100", arg=image.element_handle())
    assert min(corner_color(image)) >= LIGHT
    answer.locator("a.zoom").click()
    large = page.locator("#lightbox img")
    page.wait_for_function("image => image.complete && image.naturalWidth > 100", arg=large.element_handle())
    assert min(corner_color(large)) >= LIGHT
    assert max(corner_color(page.locator("#lightbox .plate"))) < LIGHT
    page.keyboard.press("Escape")


def corner_color(shown: Locator) -> tuple[int, ...]:
    """Return the color of the pixel a few pixels from the upper left corner."""
    picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
    color = picture.getpixel((6, 6))
    assert isinstance(color, tuple)
    return tuple(int(value) for value in color)


@pytest.mark.drill
def test_gallery_links_to_the_message_of_a_graph(page: Page) -> None:
    answer = ask_and_wait(page, "Plot a sine wave")
    page.get_by_role("link", name="Graphs and images of this conversation").click()
    tiles = page.locator(".tiles a")
    expect(tiles).to_have_count(1)
    expect(tiles.locator("span")).to_have_text("sin(x)")
    tiles.click()
    expect(answer.locator("figure")).to_be_in_viewport()
    choose_in_account_menu(page, "Graphs and images")
    expect(page.locator('.tiles img[alt^="Line chart: sin(x). x axis: x"]').first).to_be_visible()
