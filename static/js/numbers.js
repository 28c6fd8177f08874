/**
 * The line below an answer that says where its numbers come from: it is filled when it is seen, and the numbers without a
 * source are underlined by a highlight of the browser, which leaves the HTML as it is.
 */
import { connection } from "./connection.js";
import { words } from "./words.js";

const RETRY_MS = 500;
const TRIES = 120;
const FAILED = words("A part of this page could not be loaded. Reload the page and try again.");
const transcript = document.getElementById("transcript");
const highlight = CSS.highlights ? new Highlight() : null;
if (highlight) CSS.highlights.set("unsourced", highlight);

/** URL -> HTML of a list. */
const lists = new Map();
/** Element of a line -> its numbers that the text shows: `{ range, item }`. */
const marked = new WeakMap();

const letters = (text) => text.replace(/\P{L}/gu, "");

/** Returns the text of an element, and for each of its text nodes where it starts. */
function read(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let text = "";
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start: text.length });
    text += walker.currentNode.data;
  }
  return { text, nodes };
}

/** Returns where a number is after a position: not within a longer one, and after the letters that precede it. */
function find(text, { number, before }, from) {
  for (let at = text.indexOf(number, from); at >= 0; at = text.indexOf(number, at + 1)) {
    const end = at + number.length;
    const isWhole = !/[\d.,]/.test(text[at - 1] ?? "") && !/^[.,]?\d/.test(text.slice(end, end + 2));
    if (isWhole && letters(text.slice(Math.max(0, at - 60), at)).endsWith(before)) return at;
  }
  return -1;
}

function rangeOf(nodes, start, end) {
  const range = new Range();
  for (const { node, start: first } of nodes) {
    if (first <= start) range.setStart(node, Math.min(start - first, node.length));
    if (first < end) range.setEnd(node, Math.min(end - first, node.length));
  }
  return range;
}

/** Finds the numbers of a list in the text of its answer. They are in the same order. */
function mark(line) {
  for (const { range } of marked.get(line) ?? []) highlight?.delete(range);
  const items = Array.from(line.querySelectorAll("li"), (item) => ({ item, number: item.firstChild.textContent, before: item.dataset.before }));
  const found = [];
  for (const element of line.closest(".message").querySelectorAll('[data-part-kind="text"]')) {
    const { text, nodes } = read(element);
    let from = 0;
    for (const one of items) {
      const at = one.range ? -1 : find(text, one, from);
      if (at < 0) continue;
      from = at + one.number.length;
      one.range = rangeOf(nodes, at, from);
      found.push(one);
      if (one.item.dataset.verdict === "nowhere") highlight?.add(one.range);
    }
  }
  marked.set(line, found);
}

/** Returns the list of an answer; empty if its numbers were not traced. `begin`: they are traced now. */
async function load(url, begin) {
  for (let tries = 0; !lists.has(url) && tries < TRIES; tries += 1) {
    // A redirect leads to the page for logging in.
    const response = await fetch(begin ? `${url}?begin` : url, { redirect: "error" });
    if (response.status === 200) lists.set(url, await response.text());
    else if (response.status === 202) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    else if (begin) throw new Error(response.status);
    else break;
  }
  return lists.get(url) ?? "";
}

async function fill(line, begin = false) {
  try {
    const html = await load(line.dataset.url, begin);
    if (!html || !line.isConnected || line.childElementCount > 1) return;
    const hasFocus = line.contains(document.activeElement);
    line.innerHTML = html;
    if (hasFocus) line.firstChild.focus();
    mark(line);
  } catch {
    if (begin) document.getElementById("composer-note").textContent = FAILED;
  }
}

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    fill(target);
  }
});

function watch() {
  for (const line of transcript.querySelectorAll(".numbers[data-traced]")) if (line.childElementCount === 1) watcher.observe(line);
}

connection.addEventListener("before", ({ detail: html }) => {
  if (html.includes('class="numbers"')) connection.addEventListener("frame", watch, { once: true });
});

// Parts of a long answer that are loaded later.
transcript.addEventListener("filled", ({ detail: group }) => {
  const line = group.closest(".message").querySelector(".numbers");
  if (line?.childElementCount > 1) mark(line);
});

transcript.addEventListener("click", ({ target, clientX, clientY }) => {
  const line = target.closest(".message")?.querySelector(".numbers");
  if (!line) return;
  if (target.closest("summary")?.parentElement === line) {
    if (line.childElementCount === 1) fill(line, true);
  } else if (!target.closest("a, button, summary") && getSelection().isCollapsed) {
    const caret = document.caretPositionFromPoint?.(clientX, clientY);
    const hit = caret && marked.get(line)?.find(({ range }) => range.isPointInRange(caret.offsetNode, caret.offset));
    if (!hit) return;
    line.open = true;
    hit.item.focus();
  }
});

watch();
