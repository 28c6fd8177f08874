"""JavaScript functions that the browser benchmark runs in Plotline's page."""

from __future__ import annotations

#: Returns the status of the newest message, or undefined.
READ_STATUS = "() => document.querySelector('article:last-child')?.dataset.status"

#: Records layout shifts in `window.shifts`. `nodes` holds the ids of the elements that moved.
OBSERVE_LAYOUT_SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const nodes = sources.map(({ node }) => node?.parentElement?.closest("[id]")?.id ?? node?.nodeName ?? "removed");
      window.shifts.push({ value, hadRecentInput, nodes });
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""
READ_LAYOUT_SHIFTS = "() => window.shifts"

#: Counts in `window.graphs` the graphs that were laid out (`shown`) and those whose image was decoded only later
#: (`late`), and sums their height changes after the first layout (`resizedPx`).
OBSERVE_GRAPHS = """() => {
  window.graphs = { shown: 0, late: 0, resizedPx: 0 };
  const heights = new WeakMap();
  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (!target.isConnected) continue;
      if (heights.has(target)) {
        window.graphs.resizedPx += Math.abs(contentRect.height - heights.get(target));
      } else {
        window.graphs.shown += 1;
        window.graphs.late += target.querySelector("img").naturalHeight === 0;
      }
      heights.set(target, contentRect.height);
    }
  });
  new MutationObserver((records) => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(node instanceof Element)) continue;
      for (const graph of node.querySelectorAll("figure[data-graph-index]")) sizes.observe(graph);
      if (node.matches("figure[data-graph-index]")) sizes.observe(node);
    }
  }).observe(document.body, { childList: true, subtree: true });
}"""
READ_GRAPHS = "() => window.graphs"

COUNT_ANSWER_NODES = "() => document.querySelectorAll('article:last-child *').length"

#: Scrolls up like a reader who turns the mouse wheel.
SCROLL_UP = """() => {
  const scroller = document.getElementById("scroller");
  scroller.dispatchEvent(new WheelEvent("wheel", { deltaY: -400 }));
  scroller.scrollTop -= 400;
}"""

#: Returns the vertical position of the block that was the first visible one at the first call, or null if there is
#: no visible block.
READ_BLOCK_POSITION = """() => {
  const scroller = document.getElementById("scroller");
  const view = scroller.getBoundingClientRect();
  const blocks = document.querySelectorAll('article:last-child [data-part-kind="text"] > *, article:last-child figure');
  const first = Array.from(blocks).find((block) => block.getBoundingClientRect().top >= view.top);
  if (!first) return null;
  window.observedBlock ??= first;
  return window.observedBlock.getBoundingClientRect().top;
}"""
