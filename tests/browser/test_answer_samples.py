"""What a reader sees of answers that a page can easily show wrongly."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, StorageState, expect

from tests.browser.actions import ANSWER, ask_and_wait
from tests.browser.answer_samples import CONVERSATION_ID, SAMPLES
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

ADDRESS = f"/c/{CONVERSATION_ID}/"
IS_LOADED = "image => image.complete && image.naturalWidth === 64"


@pytest.fixture(scope="module")
def samples(browser: Browser, signed_in: StorageState, server: LiveServer) -> Iterator[Page]:
    """Open a conversation with all samples."""
    run_in_shell(server, "from tests.browser.answer_samples import create; create()")
    window = browser.new_context(storage_state=signed_in)
    page = window.new_page()
    page.goto(server.url + ADDRESS)
    expect(page.locator(ANSWER)).to_have_count(len(SAMPLES))
    yield page
    window.close()


def answer_of(page: Page, name: str) -> Locator:
    """Return the answer of a sample."""
    return page.locator(ANSWER).nth(list(SAMPLES).index(name))


@pytest.mark.parametrize(
    ("name", "selector", "texts"),
    [
        ("signature", ".parts strong", ["very likely"]),
        ("signature", ".parts p", ["Rain is very likely today."]),
        ("refused formula", ".parts code", [f"{'{' * 200}x{'}' * 200}"]),
        ("linked image", '.parts a[href="https://example.org/pixel.png"]', ["A pixel"]),
        ("money", ".parts p", ["It costs $5 and $10."]),
        ("tildes", ".parts p", ["From ~5 to ~10, not 7."]),
        ("tildes", ".parts del", ["7"]),
        ("escape codes", ".output pre", ["red and plain"]),
        ("diagram", ".code-head > span", ["mermaid"]),
        ("diagram", ".code-block pre", ["graph TD; A-->B"]),
    ],
)
def test_reader_sees_what_the_answer_means(samples: Page, name: str, selector: str, texts: list[str]) -> None:
    shown = answer_of(samples, name).locator(selector)
    # A message that is not near the view has no inner text.
    shown.first.scroll_into_view_if_needed()
    expect(shown).to_have_text(texts, use_inner_text=True)
    expect(shown.first).to_be_visible()


def test_formula_in_brackets_is_laid_out_as_mathml(samples: Page) -> None:
    power = answer_of(samples, "formula").locator("math msup")
    base, exponent = power.locator("mi").bounding_box(), power.locator("mn").bounding_box()
    assert base
    assert exponent
    assert exponent["y"] < base["y"] + base["height"] / 2
    fraction = answer_of(samples, "display formula").locator('math[display="block"] mfrac > *')
    above, below = (term.bounding_box() for term in fraction.all())
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"]
    expect(answer_of(samples, "money").locator("math")).to_have_count(0)


def test_picture_of_an_image_model_is_shown_and_in_the_gallery(samples: Page, server: LiveServer) -> None:
    picture = answer_of(samples, "image").locator("figure img")
    picture.scroll_into_view_if_needed()
    samples.wait_for_function(IS_LOADED, arg=picture.element_handle())
    # It is shown in its own size.
    assert picture.evaluate("image => [image.width, image.height]") == [64, 48]
    gallery = samples.context.new_page()
    gallery.goto(f"{server.url}{ADDRESS}gallery/")
    expect(gallery.locator(".tiles img")).to_have_count(1)
    gallery.wait_for_function(IS_LOADED, arg=gallery.locator(".tiles img").element_handle())
    gallery.close()


def test_footer_and_exports_name_the_demo_model(page: Page) -> None:
    models = page.locator("#composer select[name=model] option").all_inner_texts()
    assert models
    assert not [name for name in models if "Gemini" in name]
    answer = ask_and_wait(page, "Hello")
    expect(answer.locator("footer .about summary")).to_contain_text("Demo model")
    for file_type in ("md", "html", "ipynb", "json"):
        exported = page.request.get(f"{page.url}export/{file_type}/")
        assert "Demo model" in exported.text(), file_type
    assert json.loads(exported.text())["messages"][1]["turn"]["model_version"] == "plotline-demo"


def test_overview_of_operators_names_the_demo_model(
    page: Page, browser: Browser, reader_state: StorageState, server: LiveServer
) -> None:
    ask_and_wait(page, "Hello")
    window = browser.new_context(storage_state=reader_state)
    overview = window.new_page()
    overview.goto(f"{server.url}/admin/overview/")
    expect(overview.locator("#content")).to_contain_text("plotline-demo")
    expect(overview.locator("#content")).not_to_contain_text("gemini-")
    window.close()
