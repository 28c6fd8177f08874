"""Rich outputs in Chromium: sorting, CSV, small screens, accessibility, and an export without scripts."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Dialog, Locator, Page, expect

from tests.browser.actions import ANSWER, QUESTION, articles, ask_and_wait
from tests.browser.database import run_in_shell
from tests.chat.page.rendering.test_safety import EXFILTRATION, SCRIPTS
from tests.display_bundles import BUNDLES
from tests.live_server import LiveServer

CONVERSATION_ID = "00000000-0000-4000-8000-0000000d15b1"
HOSTILE_CONVERSATION_ID = "00000000-0000-4000-8000-0000000d15b2"
#: Creates a conversation with a question and an answer that has one display for each bundle.
CREATE_DISPLAYS = """
from django.utils import timezone
from chat.models import Conversation, Message, Part, Turn, User
from chat.vocabulary.parts import Display
from chat.vocabulary.sanitize import sanitize_json
from tests.chat.page.fragments.test_displays import hostile_bundles
from tests.chat.page.rendering.test_safety import EXFILTRATION, SCRIPTS
from tests.display_bundles import BUNDLES
HOSTILE_BUNDLES = [hostile_bundles(payload)[i % 20] for i, payload in enumerate(SCRIPTS + EXFILTRATION)]
conversation = Conversation.objects.create(pk="{conversation_id}", owner=User.objects.get(username="demo"))
question = Message.objects.create(conversation=conversation, index=0, role="user", text="Show it")
answer = Message.objects.create(conversation=conversation, parent=question, index=1, role="model")
now = timezone.now()
Turn.objects.create(
    conversation=conversation, user_message=question, message=answer, status="done", provider="gemini",
    model="plotline-demo", created_at=now, started_at=now, first_part_at=now, ended_at=now,
)
displays = (Display(sanitize_json(bundle)) for bundle in {bundles})  # as everything that is stored
Part.objects.bulk_create(Part.from_value(part, index=index, message=answer) for index, part in enumerate(displays))
"""


@pytest.fixture(scope="module")
def displays_url(server: LiveServer) -> str:
    """Return the address of a conversation whose answer has one display for each bundle."""
    run_in_shell(server, CREATE_DISPLAYS.format(conversation_id=CONVERSATION_ID, bundles="BUNDLES.values()"))
    return f"{server.url}/c/{CONVERSATION_ID}/"


@pytest.fixture
def displays(page: Page, displays_url: str) -> Page:
    """Open the conversation with the displays."""
    page.goto(displays_url)
    expect(page.locator(f"{ANSWER} .display")).to_have_count(len(BUNDLES))
    page.wait_for_load_state("load")
    return page


def display(page: Page, name: str) -> Locator:
    """Return the display of a bundle."""
    return page.locator(f"{ANSWER} .display").nth(list(BUNDLES).index(name))


def column(shown: Locator, number: int) -> list[str]:
    """Return the texts of a column in the rows that are visible."""
    return [cell.inner_text() for cell in shown.locator(f"tbody tr:visible > :nth-child({number + 1})").all()]


@pytest.mark.drill
def test_click_on_a_header_sorts_the_table_and_the_third_click_restores_the_order(displays: Page) -> None:
    shown = display(displays, "small")
    before = articles(displays)
    population = shown.get_by_role("columnheader", name="population")
    for state, order in (
        ("ascending", ["709037.0", "2746984.0", "NaN"]),
        ("descending", ["2746984.0", "709037.0", "NaN"]),
        ("none", ["709037.0", "2746984.0", "NaN"]),
    ):
        population.get_by_role("button").click()
        expect(population).to_have_attribute("aria-sort", state)
        assert column(shown, 2) == order
    # Texts, by keyboard. The other column is no longer the sorted one.
    population.get_by_role("button").click()
    city = shown.get_by_role("columnheader", name="city")
    city.get_by_role("button").press("Enter")
    expect(city).to_have_attribute("aria-sort", "ascending")
    expect(population).to_have_attribute("aria-sort", "none")
    assert column(shown, 1) == ["=1+1", "Oslo", "Rome, Italy"]
    expect(displays.locator("#announcer")).to_have_text("Sorted by city, ascending")
    displays.keyboard.press("Space")
    displays.keyboard.press("Enter")
    assert articles(displays) == before


@pytest.mark.drill
def test_ellipsis_row_stays_last_when_a_table_is_sorted_by_its_index(displays: Page) -> None:
    shown = display(displays, "shortened")
    header = shown.get_by_role("columnheader", name="Index")
    header.get_by_role("button").click()
    header.get_by_role("button").click()
    assert column(shown, 0) == ["99", "98", "97", "96", "95", "4", "3", "2", "1", "0", "..."]


@pytest.mark.drill
def test_button_shows_all_rows_of_a_long_table_and_sorting_applies_to_all_rows(displays: Page) -> None:
    shown = display(displays, "long")
    rows = shown.locator("tbody tr:visible")
    expect(rows).to_have_count(20)
    shown.get_by_role("columnheader", name="column 0").get_by_role("button").click()
    expect(rows).to_have_count(20)
    assert column(shown, 1)[:2] == ["-50", "-50"]
    button = shown.get_by_role("button", name="Show all 134 rows")
    button.click()
    expect(rows).to_have_count(134)
    expect(shown.locator('[data-action="all-rows"]')).to_have_attribute("aria-expanded", "true")
    values = [int(text) for text in column(shown, 1)]
    assert values == sorted(values)
    shown.get_by_role("button", name="Show fewer rows").click()
    expect(rows).to_have_count(20)


@pytest.mark.drill
def test_downloaded_csv_has_all_rows_and_escapes_formulas(displays: Page, tmp_path: Path) -> None:
    with displays.expect_download() as download:
        display(displays, "small").get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "table.csv"
    download.value.save_as(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes().decode("utf-8") == (
        "\ufeff,city,population,area\r\n0,Oslo,709037.0,454.12\r\n"
        '1,"Rome, Italy",2746984.0,1287.36\r\n2,\'=1+1,NaN,-3.50\r\n'
    )
    with displays.expect_download() as download:
        display(displays, "long").get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "long.csv")
    assert len((tmp_path / "long.csv").read_text().splitlines()) == 135
    with displays.expect_download() as download:
        display(displays, "styler").get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "Cities.csv"


@pytest.mark.drill
def test_copied_csv_repeats_spanning_headers_and_omits_the_row_of_column_types(displays: Page) -> None:
    displays.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown = display(displays, "multi_index")
    shown.get_by_role("button", name="Copy CSV").click()
    expect(shown.get_by_role("button", name="Copied")).to_be_visible()
    copied: str = displays.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[:4] == [",what,size,size,cost", ",unit,w,h,eur", "group,key,,,", "p,1,1,2,3"]
    display(displays, "polars").get_by_role("button", name="Copy CSV").click()
    expect(display(displays, "polars").get_by_role("button", name="Copied")).to_be_visible()
    copied = displays.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[0] == "foo,bar"
    assert copied.splitlines()[1].startswith("1,")


#: Applies a frame that replaces the answer, as the last frame of a turn does.
REPLACE_ANSWER = """async () => {
    const text = await (await fetch(location.href)).text();
    const [html, id] = text.match(/<article id="(message-[^"]*)"[^>]* data-role="model".*?<[/]article>/s);
    const page = document.getElementById("conversation");
    const swap = `<hx-partial hx-target="#${id}" hx-swap="outerMorph">${html}</hx-partial>`;
    htmx.swap({ sourceElement: page, target: page, swap: "none", text: swap, transition: false });
}"""


@pytest.mark.drill
def test_sorted_table_returns_to_its_original_order_when_the_answer_is_updated(displays: Page) -> None:
    before = articles(displays)
    shown = display(displays, "long")
    header = shown.get_by_role("columnheader", name="column 1")
    header.get_by_role("button").click()
    shown.get_by_role("button", name="Show all 134 rows").click()
    assert articles(displays) != before
    displays.evaluate(REPLACE_ANSWER)
    assert articles(displays) == before
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(shown.locator("tbody tr:visible")).to_have_count(20)
    assert column(shown, 2)[:3] == ["-50", "-50", "-49"]


CELLS = st.text(max_size=8) | st.sampled_from(
    ["=1+1", "+1", "-1", "-1.5e3", "@a", "\t=1", "-a", "−2", '"', "a,b", "a\r\nb"]
)
ROWS = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=5))


@pytest.mark.drill
def test_csv_keeps_the_text_of_any_cell_and_no_cell_begins_a_formula(displays: Page) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(ROWS)
    def check(rows: list[list[str]]) -> None:
        rows = [[text.encode("utf-8", "replace").decode() for text in row] for row in rows]
        written: str = displays.evaluate("rows => import('/static/js/csv.js').then(csv => csv.toCsv(rows))", rows)
        read = list(csv.reader(io.StringIO(written, newline=""), strict=True))
        # Python reads a row of one empty cell as an empty row.
        read = [row or [""] for row in read]
        assert [[text.removeprefix("'") for text in row] for row in read] == [
            [text.removeprefix("'") for text in row] for row in rows
        ]
        for text in (text for row in read for text in row):
            is_number = re.fullmatch(r"[-+]?[$]?[\d.,]+(e[-+]?\d+)?\s?%?|[-+]?inf(inity)?", text, re.IGNORECASE)
            assert is_number or text.lstrip(" ")[:1] not in tuple("=+-@\t\r\n\0＝＋－＠")

    check()


@pytest.mark.drill
def test_numbers_sort_by_value_and_missing_values_come_last(displays: Page) -> None:
    texts = ["10", "9", "1,000", "-5", "−6", "nan", "1e2", "$3", "50%", ".5", "-inf", "inf", "None"]
    displays.evaluate(
        """(texts) => {
            const box = document.createElement('div');
            box.id = 'numbers';
            box.className = 'table-box';
            box.innerHTML = '<table><thead><tr><th data-column="0" data-type="number" aria-sort="none">' +
                '<button data-action="sort">n</button></th></tr></thead><tbody></tbody></table>';
            texts.forEach((text, number) => {
                const row = box.querySelector('tbody').insertRow();
                row.dataset.row = number;
                row.insertCell().textContent = text;
            });
            document.querySelector('main').prepend(box);
        }""",
        texts,
    )
    displays.locator("#numbers button").dispatch_event("click")
    # The first click may wait for the module.
    expect(displays.locator("#numbers th")).to_have_attribute("aria-sort", "ascending")
    ordered = displays.locator("#numbers td").all_text_contents()
    assert ordered == ["-inf", "−6", "-5", ".5", "$3", "9", "10", "50%", "1e2", "1,000", "inf", "nan", "None"]


@pytest.mark.drill
def test_markdown_table_can_be_sorted_and_saved_as_csv_and_is_equal_after_a_reload(page: Page, tmp_path: Path) -> None:
    text = "Describe this table\n\n| name | share | f |\n|---|--:|---|\n| b | 10 | $P(A|B)$ |\n| a | 9 | `x|y` |\n"
    text += "| =c | – | so $\\frac{1}{2}$ |\n"
    ask_and_wait(page, text)
    table = page.locator(QUESTION).last
    before = articles(page)
    share = table.get_by_role("columnheader", name="share")
    share.get_by_role("button").click()
    expect(share).to_have_attribute("aria-sort", "ascending")
    assert column(table, 0) == ["a", "b", "=c"]
    with page.expect_download() as download:
        table.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "\ufeffname,share,f\na,9,x|y\nb,10,P(A|B)\n'=c,–,so \\frac{1}{2}\n"
    share.get_by_role("button").click()
    assert column(table, 0) == ["b", "a", "=c"]
    share.get_by_role("button").click()
    assert articles(page) == before
    page.reload()
    assert articles(page) == before


@pytest.mark.drill
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_axe_finds_no_error_in_rich_outputs(displays: Page, color_scheme: str) -> None:
    displays.emulate_media(color_scheme=color_scheme)  # type: ignore[arg-type]
    for details in displays.locator(f"{ANSWER} .display details:not([open])").all():
        details.locator("summary").click()
    results = Axe().run(displays, context=".display")
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.drill
def test_wide_table_scrolls_inside_its_box_on_a_phone_and_the_page_does_not_scroll_sideways(displays: Page) -> None:
    displays.set_viewport_size({"width": 360, "height": 740})
    assert displays.evaluate("document.documentElement.scrollWidth") == 360
    shown = display(displays, "wide")
    box = shown.get_by_role("region", name="Table, 6 rows × 40 columns")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    box.focus()
    displays.keyboard.press("ArrowRight")
    displays.wait_for_function("box => box.scrollLeft > 0", arg=box.element_handle())
    narrow = display(displays, "small").locator(".table-scroll")
    assert narrow.evaluate("box => box.scrollWidth == box.clientWidth")
    for name in BUNDLES:
        bounds = display(displays, name).bounding_box()
        assert bounds
        assert bounds["x"] >= 0
        assert bounds["x"] + bounds["width"] <= 360


@pytest.mark.drill
def test_header_stays_in_view_while_the_rows_scroll(displays: Page) -> None:
    shown = display(displays, "long")
    shown.get_by_role("button", name="Show all 134 rows").click()
    box = shown.get_by_role("region")
    box.evaluate("box => { box.scrollTop = 1000; }")
    header = shown.get_by_role("columnheader", name="column 0").bounding_box()
    bounds = box.bounding_box()
    assert header
    assert bounds
    assert abs(header["y"] - bounds["y"]) < 2


@pytest.mark.drill
def test_exported_page_shows_displays_without_scripts_and_network(
    displays: Page, browser: Browser, tmp_path: Path
) -> None:
    displays.click("button[popovertarget=export-menu]")
    with displays.expect_download() as download:
        displays.click("#export-menu a:has-text('Web page')")
    download.value.save_as(tmp_path / "page.html")
    reader = browser.new_context(java_script_enabled=False, offline=True)
    exported = reader.new_page()
    requests: list[str] = []
    messages: list[str] = []
    exported.on("request", lambda request: requests.append(request.url))
    exported.on("console", lambda message: messages.append(message.text))
    exported.goto((tmp_path / "page.html").as_uri())
    expect(display(exported, "long").locator("tbody tr:visible")).to_have_count(134)
    expect(display(exported, "small").locator("thead")).to_contain_text("population")
    expect(exported.locator("button")).to_have_count(0)
    expect(display(exported, "svg").locator("img")).to_be_visible()
    expect(display(exported, "latex").locator("math")).to_be_visible()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert messages == []
    assert len(exported.pdf()) > 10_000
    reader.close()


def test_hostile_rich_outputs_run_no_script_and_load_nothing_from_other_servers(page: Page, server: LiveServer) -> None:
    values = {"conversation_id": HOSTILE_CONVERSATION_ID, "bundles": "HOSTILE_BUNDLES"}
    run_in_shell(server, CREATE_DISPLAYS.format(**values))
    dialogs: list[str] = []
    urls: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.on("request", lambda request: urls.append(request.url))
    # The fixture checks that the console has no report of the content security policy.
    page.goto(f"{server.url}/c/{HOSTILE_CONVERSATION_ID}/")
    shown = page.locator(f"{ANSWER} .display")
    expect(shown).to_have_count(len(SCRIPTS + EXFILTRATION))
    for image in shown.locator("img").all():
        image.scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    assert dialogs == []
    assert [url for url in urls if not url.startswith((f"{server.url}/", "data:image/svg+xml;base64,"))] == []
    assert page.locator("#transcript .display :is(script, iframe, object, embed, svg, style, link, form)").count() == 0
    assert (
        page.locator("#transcript").evaluate(
            "root => Array.from(root.querySelectorAll('*')).flatMap(element => element.getAttributeNames())"
            ".filter(name => /^(on|style$|hx-|data-hx)/.test(name))"
        )
        == []
    )
