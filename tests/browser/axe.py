"""Checks pages with axe-core in both widths and both color schemes."""

from __future__ import annotations

from typing import Literal, TypeAlias

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOR_RULES = ["color-contrast", "link-in-text-block"]
"""The rules whose result depends on the color scheme."""
LAYOUT_RULES = ["target-size", "scrollable-region-focusable", *COLOR_RULES]
"""The rules whose result depends on the width, where a page has the same elements in each width."""
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
Run: TypeAlias = tuple[ViewportSize, Literal["light", "dark"], dict[str, str | list[str]]]
"""Window, color scheme and rules."""
SOURCE = Axe().axe_script
"""The script. It is evaluated once per page."""

SCRIPT = """async ([runOnly, exclude]) => {
    // The rules about contrast leave out text on a gradient, such as the shade at the end of long lines.
    const boxes = document.querySelectorAll("pre, .table-scroll, .preview-content");
    for (const box of boxes) box.style.backgroundImage = "none";
    // Without `preload`, axe adds no style element, which the content security policy would refuse.
    const options = { runOnly, resultTypes: ["violations"], preload: false };
    const { violations } = await axe.run({ include: [document.documentElement], exclude }, options);
    const describe = (id, { html, failureSummary }) => `${id}: ${html} ${failureSummary}`;
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => describe(id, node)));
}"""


def findings(page: Page, exclude: str = "", *, is_brief: bool = False) -> list[str]:
    """Return the errors that axe finds on a page in two widths and two color schemes.

    In the dark, only the rules about colors are checked again. `is_brief`: in a narrow window, only the rules about the
    layout are checked again. `exclude`: a selector of elements that are not checked.
    """
    page.evaluate(SOURCE)
    tags: dict[str, str | list[str]] = {"type": "tag", "values": TAGS}
    colors: dict[str, str | list[str]] = {"type": "rule", "values": COLOR_RULES}
    layout: dict[str, str | list[str]] = {"type": "rule", "values": LAYOUT_RULES}
    runs: list[Run] = [
        (DESKTOP, "light", tags),
        (DESKTOP, "dark", colors),
        (PHONE, "light", layout if is_brief else tags),
        (PHONE, "dark", colors),
    ]
    found: list[str] = []
    for size, scheme, rules in runs:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        result: list[str] = page.evaluate(SCRIPT, [rules, [[exclude]] if exclude else []])
        found += [f"{page.url}, {size['width']} px, {scheme}: {finding}" for finding in result]
    page.set_viewport_size(DESKTOP)
    page.emulate_media(color_scheme="light")
    return found
