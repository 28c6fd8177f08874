/**
 * Marks the words of a search in the message that its result leads to, and leads to the next and the previous one. The
 * marks are highlights of the browser, which leave the HTML as it is.
 */
import { findRanges, patternsOf } from "./folded_text.js";

const message = document.getElementById(location.hash.slice(1));
const hits = document.getElementById("hits"); // null if the search does not find the message
const address = new URLSearchParams(location.search);
const patterns = patternsOf(address.get("q") ?? "");
let ranges = [];
let current = 0;

/** Marks the words in the message, in their order. */
function markWords() {
  const texts = Array.from(message.querySelectorAll('.said, [data-part-kind="text"]'));
  ranges = texts.flatMap((text) => findRanges(text, patterns[2]));
  if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
  return texts;
}

function isSame(one, other) {
  return one.startContainer === other.startContainer && one.startOffset === other.startOffset;
}

/** Returns the index of the best match: the phrase, or else a whole word, or else the first. */
function bestIndex(texts) {
  for (const pattern of patterns) {
    const [best] = texts.flatMap((text) => findRanges(text, pattern));
    const index = best ? ranges.findIndex((range) => isSame(range, best)) : -1;
    if (index >= 0) return index;
  }
  return 0;
}

function showCurrent() {
  const range = ranges[current];
  if (!range) return;
  CSS.highlights.set("current", Object.assign(new Highlight(range), { priority: 1 }));
  const { top, bottom } = range.getBoundingClientRect();
  const view = document.getElementById("scroller").getBoundingClientRect();
  if (top < view.top || bottom > view.bottom) range.startContainer.parentElement.scrollIntoView({ block: "center" });
}

/** Leads to the next (1) or previous (-1) words of the message. Returns false if another message has them. */
function step(offset, isAlone) {
  const next = current + offset;
  if (!ranges.length || (!isAlone && !ranges[next])) return false;
  current = (next + ranges.length) % ranges.length;
  showCurrent();
  return true;
}

// Without highlights, a style outlines the message.
if (CSS.highlights && message && patterns) {
  const texts = markWords();
  current = address.get("from") === "end" ? Math.max(0, ranges.length - 1) : bestIndex(texts);
  showCurrent();
  // Parts of a long answer that are loaded later.
  document.getElementById("transcript").addEventListener("filled", ({ detail: group }) => {
    if (!message.contains(group)) return;
    const shown = ranges[current];
    markWords();
    if (shown) current = Math.max(0, ranges.findIndex((range) => isSame(range, shown)));
  });
  hits?.addEventListener("click", (event) => {
    const link = event.target.closest("a[rel]");
    const isAlone = event.currentTarget.dataset.total === "1";
    if (link && step(link.rel === "next" ? 1 : -1, isAlone)) event.preventDefault();
  });
}

document.addEventListener("keydown", (event) => {
  const { key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
  const rel = { ArrowUp: "prev", ArrowDown: "next" }[key];
  if (!rel || !altKey || ctrlKey || metaKey || shiftKey) return;
  // In a field with text, these keys move the cursor.
  if (!hits || target.value || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  // In an empty box, the key alone changes the last message.
  event.stopPropagation();
  hits.querySelector(`[rel=${rel}]`).click();
}, { capture: true });
