/**
 * How often the page changes while an answer comes: as often as a sixteenth of its main thread's time allows, much as the
 * server does with its core. A slow machine, or one without a graphics card, shows the same text in fewer steps.
 *
 * A frame that only brings more of one text waits for its turn, and what it says is merged with what waits already.
 * Any other frame is shown at once, after what waits: a question, a new part, a graph, the end.
 */
const SHARE = 1 / 16;
/** However slow the machine is. */
const LONGEST_WAIT_MS = 200;

const SWAP = /<hx-partial hx-target="#(\S+)" hx-swap="(\w+)">.*?<\/hx-partial>/gs;

/** Each swap of a frame: its HTML, and what it does where. */
function swapsOf(content) {
  return Array.from(content.matchAll(SWAP), ([html, target, way]) => ({ html, target, way }));
}

/** What a frame adds to the closed blocks before a tail, and its new tail; null where it does anything else. */
function growthIn(content) {
  const swaps = swapsOf(content);
  const tail = swaps.at(-1);
  if (tail?.way !== "innerMorph" || !tail.target.endsWith("-tail")) return null;
  const closed = swaps.slice(0, -1);
  if (closed.some(({ target, way }) => target !== tail.target || way !== "beforebegin")) return null;
  return { target: tail.target, closed: closed.map(({ html }) => html).join(""), tail: tail.html };
}

/** Shows frames in their order by `show`, which is given a frame's HTML and the frames that it stands for. */
export class Pacing {
  #show;
  #growth = null;
  #frames = [];
  #timer = null;
  #drawnAt = 0;
  #costMs = 0;
  #isPainted = true;

  constructor(show) {
    this.#show = show;
  }

  /** Take one frame. */
  take(frame) {
    const growth = growthIn(frame.content);
    if (growth === null || (this.#growth && this.#growth.target !== growth.target)) this.flush();
    if (growth === null) {
      this.#draw(frame.content, [frame]);
      return;
    }
    if (this.#growth) growth.closed = this.#growth.closed + growth.closed;
    this.#growth = growth;
    this.#frames.push(frame);
    this.#plan();
  }

  /** Show what waits, now or when it is due: after the last change has been painted. */
  #plan() {
    const pauseMs = this.#isPainted ? Math.min(this.#costMs / SHARE, LONGEST_WAIT_MS) : LONGEST_WAIT_MS;
    const waitMs = this.#drawnAt + pauseMs - performance.now();
    clearTimeout(this.#timer);
    if (waitMs <= 0) this.flush();
    else this.#timer = setTimeout(() => this.flush(), waitMs);
  }

  /** Show what waits. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#growth === null) return;
    const html = this.#growth.closed + this.#growth.tail;
    const frames = this.#frames;
    this.#growth = null;
    this.#frames = [];
    this.#draw(html, frames);
  }

  #draw(html, frames) {
    this.#drawnAt = performance.now();
    this.#isPainted = false;
    this.#show(html, frames);
    const scriptMs = performance.now() - this.#drawnAt;
    requestAnimationFrame(() => {
      const beganAt = performance.now();
      // The first task after the browser has laid out and painted.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => this.#note(scriptMs + performance.now() - beganAt);
      port2.postMessage(null);
    });
  }

  #note(costMs) {
    // The mean of this one and those before: one graph must not stop the text that follows it.
    this.#costMs = (this.#costMs + costMs) / 2;
    this.#isPainted = true;
    if (this.#growth) this.#plan();
  }
}
