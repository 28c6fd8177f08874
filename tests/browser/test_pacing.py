"""The pacing of page changes: waiting frames are merged, stay in order and are never dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypedDict

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect

from tests.browser.actions import articles, ask_and_wait
from tests.live_server import LiveServer

RUN = """async (steps) => {
  const entry = document.querySelector('script[type="module"][src*="conversation"]').src;
  const { Pacing } = await import(entry.replace(/conversation[^/]*$/, "pacing.js"));
  // A clock that only the steps move. On the real one a slow machine would reach the end of a pause between two steps.
  let now = performance.now();
  const realNow = performance.now;
  performance.now = () => now;
  const shown = [];
  let waitingFrames = 0;
  let handleAllShown = () => {};
  const pacing = new Pacing((html, frames) => {
    shown.push({ html, seqs: frames.map(({ seq }) => seq) });
    waitingFrames -= frames.length;
    if (waitingFrames === 0) handleAllShown();
    // A slow change, so that the following frames have to wait.
    now += 20;
  });
  for (const content of steps) {
    if (content === "flush") pacing.flush();
    else if (content === "wait") {
      if (waitingFrames > 0) await new Promise((resolve) => { handleAllShown = resolve; });
    } else {
      waitingFrames += 1;
      pacing.add({ content, seq: steps.indexOf(content) });
    }
  }
  performance.now = realNow;
  return shown;
}"""


def partial(target: str, swap: str, html: str) -> str:
    """Return the HTML of one swap."""
    return f'<hx-partial hx-target="#{target}" hx-swap="{swap}">{html}</hx-partial>'


def tail(html: str, part: str = "part-1") -> str:
    """Return the swap that replaces the tail of a text."""
    return partial(f"{part}-tail", "innerMorph", html)


def closed(html: str) -> str:
    """Return the swap that adds a closed block before the tail."""
    return partial("part-1-tail", "beforebegin", html)


class ShownChange(TypedDict):
    """One change of the page: its HTML, and the indexes of the steps that it contains."""

    html: str
    seqs: list[int]


def run(page: Page, *steps: str) -> list[ShownChange]:
    """Run the steps and return the changes of the page.

    A step is the content of a frame, "flush", or "wait": wait until all frames are shown.
    """
    shown: list[ShownChange] = page.evaluate(RUN, list(steps))
    return shown


@pytest.fixture(scope="module")
def scripts(browser: Browser, server: LiveServer, signed_in: StorageState) -> Iterator[Page]:
    """A page with the product's scripts. Each run has a pacing of its own."""
    window = browser.new_context(storage_state=signed_in)
    tab = window.new_page()
    tab.goto(f"{server.url}/")
    yield tab
    window.close()


def test_waiting_frames_that_extend_the_same_text_are_merged(scripts: Page) -> None:
    growth = [closed("<p>b</p>") + tail("c"), tail("c\nd"), closed("<p>c</p>") + closed("<p>d</p>") + tail("")]
    # The growth waits until the first change is painted, and for a pause that depends on its cost of 20 ms.
    shown = run(scripts, tail("a"), *growth, "wait")
    assert [step["seqs"] for step in shown] == [[0], [1, 2, 3]]
    assert shown[1]["html"] == closed("<p>b</p>") + closed("<p>c</p>") + closed("<p>d</p>") + tail("")


def test_frame_that_cannot_be_merged_is_shown_at_once_after_the_waiting_frames(scripts: Page) -> None:
    other_frames = [
        partial("message-1-parts", "beforeend", "<div>new part</div>"),
        tail("of another part", "part-2") + partial("part-2", "delete", ""),
        partial("part-1", "outerMorph", "<div>whole</div>"),
        "",
    ]
    for content in other_frames:
        shown = run(scripts, tail("a"), tail("ab"), content, tail("abc"))
        assert [step["html"] for step in shown] == [tail("a"), tail("ab") + content]
        assert [step["seqs"] for step in shown] == [[0], [1, 2]]


def test_waiting_frames_that_extend_different_parts_are_not_merged(scripts: Page) -> None:
    shown = run(scripts, tail("a"), tail("ab"), tail("x", "part-2"), "flush")
    assert [step["html"] for step in shown] == [tail("a"), tail("ab"), tail("x", "part-2")]


def test_flush_shows_waiting_frames_exactly_once(scripts: Page) -> None:
    shown = run(scripts, tail("a"), tail("ab"), "flush", "flush", tail("abc"), "wait")
    assert [step["html"] for step in shown] == [tail("a"), tail("ab"), tail("abc")]


def stream_position(payload: str | bytes) -> tuple[str, int] | None:
    """Return the turn and number of a frame, or of its acknowledgement; `None` for any other socket message."""
    message = json.loads(payload)
    return (message["turn"], message["seq"]) if "seq" in message else None


@pytest.mark.drill
def test_every_frame_is_acknowledged_even_if_merged(page: Page, context: BrowserContext) -> None:
    received: list[tuple[str, int]] = []
    acknowledged: list[tuple[str, int]] = []

    def record(payload: str | bytes, positions: list[tuple[str, int]]) -> None:
        if position := stream_position(payload):
            positions.append(position)

    tab = context.new_page()
    with tab.expect_websocket() as opened:
        tab.goto(page.url)
    socket = opened.value
    socket.on("framereceived", lambda payload: record(payload, received))
    socket.on("framesent", lambda payload: record(payload, acknowledged))
    ask_and_wait(tab, "Tell me about markdown")
    html = articles(tab)
    if acknowledged[-1:] != received[-1:]:
        socket.wait_for_event("framesent", lambda payload: stream_position(payload) == received[-1])
    assert received
    assert acknowledged == [position for position in received if position in acknowledged]
    tab.reload()
    expect(tab.locator("article[data-role=model]")).to_have_count(1)
    assert articles(tab) == html
