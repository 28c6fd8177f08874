/**
 * Limits how often the page changes while an answer streams, so that changes take at most a sixteenth of the main
 * thread's time. A slow machine, or one without a graphics card, shows the same text in fewer steps.
 *
 * A frame that only extends one text waits, and is merged with the frames that already wait. Any other frame (such as a
 * question, a new part, a graph or the end) is shown at once, together with the waiting frames: one change is one layout.
 */
const SHARE = 1 / 16;
/** Upper limit for the pause between two changes, for very slow machines. */
const PAUSE_LIMIT_MS = 200;

const SWAP = /<hx-partial hx-target="#(\S+)" hx-swap="(\w+)">.*?<\/hx-partial>/gs;

/** Returns the swaps of a frame: the HTML, target and method (`hx-swap`) of each. */
function parseSwaps(content) {
  return Array.from(content.matchAll(SWAP), ([html, target, method]) => ({ html, target, method }));
}

/** Returns the closed blocks and the new tail of a frame that only extends one text; null for any other frame. */
function parseGrowth(content) {
  const swaps = parseSwaps(content);
  const tail = swaps.at(-1);
  if (tail?.method !== "innerMorph" || !tail.target.endsWith("-tail")) return null;
  const closed = swaps.slice(0, -1);
  if (closed.some(({ target, method }) => target !== tail.target || method !== "beforebegin")) return null;
  return { target: tail.target, closedHtml: closed.map(({ html }) => html).join(""), tailHtml: tail.html };
}

/** Shows frames in order by calling `show(html, frames)` with the HTML of one or more merged frames. */
export class Pacing {
  #show;
  /** The merged growth that waits, or null. */
  #growth = null;
  /** The frames that wait. */
  #frames = [];
  #timer = null;
  #shownAt = 0;
  /** Mean cost of a change in main-thread time. */
  #costMs = 0;
  #isPainted = true;

  constructor(show) {
    this.#show = show;
  }

  /** Adds a frame, which is shown now or later. */
  add(frame) {
    const growth = parseGrowth(frame.content);
    if (growth === null) {
      this.flush(frame);
      return;
    }
    if (this.#growth && this.#growth.target !== growth.target) this.flush();
    if (this.#growth) growth.closedHtml = this.#growth.closedHtml + growth.closedHtml;
    this.#growth = growth;
    this.#frames.push(frame);
    this.#schedule();
  }

  /** Shows the waiting frames now, or when the pause after the last painted change is over. */
  #schedule() {
    const pauseMs = this.#isPainted ? Math.min(this.#costMs / SHARE, PAUSE_LIMIT_MS) : PAUSE_LIMIT_MS;
    const delayMs = this.#shownAt + pauseMs - performance.now();
    clearTimeout(this.#timer);
    // A hidden page paints nothing, and its timers may be late by up to a minute.
    if (delayMs <= 0 || document.hidden) this.flush();
    else this.#timer = setTimeout(() => this.flush(), delayMs);
  }

  /** Shows the waiting frames now, and `last` after them. */
  flush(last = null) {
    clearTimeout(this.#timer);
    this.#timer = null;
    const html = (this.#growth ? this.#growth.closedHtml + this.#growth.tailHtml : "") + (last?.content ?? "");
    const frames = last ? [...this.#frames, last] : this.#frames;
    this.#growth = null;
    this.#frames = [];
    if (frames.length) this.#showNow(html, frames);
  }

  #showNow(html, frames) {
    this.#shownAt = performance.now();
    this.#isPainted = false;
    this.#show(html, frames);
    const scriptMs = performance.now() - this.#shownAt;
    requestAnimationFrame(() => {
      const frameStart = performance.now();
      // The message arrives in the first task after the browser's layout and paint.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => this.#recordCost(scriptMs + performance.now() - frameStart);
      port2.postMessage(null);
    });
  }

  #recordCost(costMs) {
    // A running mean: a single expensive change, such as a graph, must not delay the text after it for long.
    this.#costMs = (this.#costMs + costMs) / 2;
    this.#isPainted = true;
    if (this.#growth) this.#schedule();
  }
}
