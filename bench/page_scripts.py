"""JavaScript that the benchmark of one page runs in the browser."""

from __future__ import annotations

#: Runs before the page's own scripts. Records when the socket opened, when the page's script focused the message box
#: (from then on it handles keys), long tasks, and for each key the time to the next painted frame. Times are in ms
#: since the start of the navigation.
OBSERVE_PAGE = """
window.opening = { socket: null, box: null, longTasks: [], keys: [] };
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
  constructor(...args) {
    super(...args);
    this.addEventListener("open", () => { window.opening.socket ??= performance.now(); });
  }
};
document.addEventListener("focusin", ({ target }) => {
  if (target.id === "text") window.opening.box ??= performance.now();
});
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.opening.longTasks.push(duration);
}).observe({ type: "longtask", buffered: true });
addEventListener("keydown", ({ timeStamp }) => {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.opening.keys.push(performance.now() - timeStamp);
    port2.postMessage(null);
  });
}, true);
"""

IS_INTERACTIVE = "() => window.opening.socket !== null && window.opening.box !== null"
READ_OPENING = "() => window.opening"
COUNT_MESSAGES = "() => document.querySelectorAll('#transcript > article').length"

#: Scrolls to the beginning of the loaded messages.
SCROLL_TO_TOP = "() => { document.getElementById('scroller').scrollTop = 0; }"
HAS_MORE_THAN = "(count) => document.querySelectorAll('#transcript > article').length > count"
