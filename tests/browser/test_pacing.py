"""What waits while the page is paced is merged, kept in order, and never left out."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.browser.actions import ask_and_wait

RUN = """async (steps) => {
  const entry = document.querySelector('script[type="module"][src*="conversation"]').src;
  const { Pacing } = await import(entry.replace(/conversation[^/]*$/, "pacing.js"));
  const shown = [];
  const pacing = new Pacing((html, frames) => {
    shown.push({ html, seqs: frames.map(({ seq }) => seq) });
    // A page that is slow to change, so that what follows has to wait.
    const until = performance.now() + 20;
    while (performance.now() < until);
  });
  for (const content of steps) {
    if (typeof content === "number") await new Promise((resolve) => setTimeout(resolve, content));
    else if (content === "flush") pacing.flush();
    else pacing.take({ content, seq: steps.indexOf(content) });
  }
  return shown;
}"""


def partial(target: str, way: str, html: str) -> str:
    return f'<hx-partial hx-target="#{target}" hx-swap="{way}">{html}</hx-partial>'


def tail(html: str, part: str = "part-1") -> str:
    return partial(f"{part}-tail", "innerMorph", html)


def closed(html: str) -> str:
    return partial("part-1-tail", "beforebegin", html)


def run(page: Page, *steps: str | int) -> list[dict[str, Any]]:
    """What was shown, and which steps that stands for."""
    shown: list[dict[str, Any]] = page.evaluate(RUN, list(steps))
    return shown


def test_growth_of_one_text_waits_and_is_merged(page: Page) -> None:
    growth = [closed("<p>b</p>") + tail("c"), tail("c\nd"), closed("<p>c</p>") + closed("<p>d</p>") + tail("")]
    # Until the first is painted, and longer, as it costs 20 ms.
    shown = run(page, tail("a"), *growth, 400)
    assert [step["seqs"] for step in shown] == [[0], [1, 2, 3]]
    assert shown[1]["html"] == closed("<p>b</p>") + closed("<p>c</p>") + closed("<p>d</p>") + tail("")


def test_anything_else_is_shown_at_once_and_after_what_waits(page: Page) -> None:
    other = [
        partial("message-1-parts", "beforeend", "<div>new part</div>"),
        tail("of another part", "part-2") + partial("part-2", "delete", ""),
        partial("part-1", "outerMorph", "<div>whole</div>"),
        "",
    ]
    for content in other:
        shown = run(page, tail("a"), tail("ab"), content, tail("abc"))
        assert [step["html"] for step in shown] == [tail("a"), tail("ab"), content]


def test_texts_of_two_parts_are_not_merged(page: Page) -> None:
    shown = run(page, tail("a"), tail("ab"), tail("x", "part-2"), "flush")
    assert [step["html"] for step in shown] == [tail("a"), tail("ab"), tail("x", "part-2")]


def test_what_waits_is_shown_when_asked_and_once(page: Page) -> None:
    shown = run(page, tail("a"), tail("ab"), "flush", "flush", 400)
    assert [step["html"] for step in shown] == [tail("a"), tail("ab")]


def test_every_frame_is_acknowledged_whether_merged_or_not(page: Page, context: BrowserContext) -> None:
    came: list[tuple[str, int]] = []
    acknowledged: list[tuple[str, int]] = []

    def relay(tab: WebSocketRoute) -> None:
        server = tab.connect_to_server()

        def take(text: str | bytes) -> None:
            frame = json.loads(text)
            if "seq" in frame:
                came.append((frame["turn"], frame["seq"]))
            tab.send(text)

        def give(text: str | bytes) -> None:
            message = json.loads(text)
            if message.get("action") == "ack":
                acknowledged.append((message["turn"], message["seq"]))
            server.send(text)

        server.on_message(take)
        tab.on_message(give)

    watched = context.new_page()
    watched.route_web_socket("**/ws/conversations/**", relay)
    watched.goto(page.url)
    answer = ask_and_wait(watched, "Tell me about markdown")
    text = answer.inner_html()
    for _ in range(100):
        if acknowledged and acknowledged[-1] == came[-1]:
            break
        watched.wait_for_timeout(50)
    assert acknowledged[-1] == came[-1]
    assert acknowledged == [place for place in came if place in acknowledged]
    watched.reload()
    expect(watched.locator("article[data-role=model]")).to_have_count(1)
    assert watched.locator("article[data-role=model]").inner_html() == text
