/**
 * Keeps the page light while it shows long answers: the groups of blocks near the view are in the page, and all others are
 * placeholders. What the reader sees keeps its place on the screen. A group that this page has shown comes back from its
 * HTML, any other one from the server. A morph leaves a group alone that another one follows, because it has ended. Without scripts, the link of a placeholder leads to a page with the group.
 */
import { connection } from "./connection.js";
import { follows } from "./scrolling.js";
import { words } from "./words.js";

const NEAR_PX = 3000;
const FAR_PX = 6000;
const AT_ONCE = 2;
const ABSENT = ".blocks[data-absent]";
const FAILED = words("This part could not be loaded.");

const scroller = document.getElementById("scroller");
const transcript = document.getElementById("transcript");

/** Placeholders near the view, and those whose groups are being loaded. */
const near = new Set();
const loading = new Set();
/** Ids of groups -> HTML of those that were removed from the page. */
const removed = new Map();

/** Changes a group. What is below it keeps its place, if the reader sees it. */
function change(group, apply) {
  const next = group.nextElementSibling;
  const top = next?.getBoundingClientRect().top;
  apply();
  const isSeen = top < scroller.getBoundingClientRect().bottom && !follows();
  if (isSeen) scroller.scrollTop += next.getBoundingClientRect().top - top;
}

function fill(group, html) {
  change(group, () => {
    group.removeAttribute("data-absent");
    group.removeAttribute("style");
    group.innerHTML = html;
  });
  transcript.dispatchEvent(new CustomEvent("filled", { detail: group }));
}

/** Removes the blocks of a group that has ended: another one follows it. `height`: measured before others were removed. */
function empty(group, height) {
  if (group.matches(ABSENT) || group.nextElementSibling?.className !== "blocks" || group.contains(document.activeElement)) return;
  removed.set(group.id, group.innerHTML);
  group.replaceChildren();
  group.setAttribute("data-absent", "");
  group.style.height = `${height}px`;
}

async function read(group) {
  const response = await fetch(group.firstElementChild.href, { headers: { "HX-Request": "true" }, redirect: "error" });
  if (!response.ok) throw new Error(response.statusText);
  const template = document.createElement("template");
  template.innerHTML = await response.text();
  return template.content.firstElementChild.innerHTML;
}

async function load(group) {
  near.delete(group);
  loading.add(group);
  try {
    const html = removed.get(group.id) ?? await read(group);
    // A frame may have brought it meanwhile.
    if (group.isConnected && group.matches(ABSENT)) fill(group, html);
  } catch {
    if (group.firstElementChild) group.firstElementChild.textContent = `${FAILED} ${words("Press the button to try again.")}`;
  }
  loading.delete(group);
  // One group in each frame.
  requestAnimationFrame(() => setTimeout(loadNext));
}

function loadNext() {
  for (const group of near) {
    if (loading.size >= AT_ONCE) return;
    load(group);
  }
}

const arrivals = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && target.matches(ABSENT) && !loading.has(target)) near.add(target);
    else near.delete(target);
  }
  loadNext();
}, { root: scroller, rootMargin: `${NEAR_PX}px 0px` });

/** Groups that the page was opened with. They stay until the reader reaches them, to be searchable. */
const first = new Set(transcript.querySelectorAll(".blocks"));

const departures = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target, boundingClientRect } of entries) {
    const stays = first.delete(target);
    if (!isIntersecting && !stays) empty(target, boundingClientRect.height);
  }
}, { root: scroller, rootMargin: `${FAR_PX}px 0px` });

/** Observed groups; new ones may be between them. */
let observed = new Set();

function observe() {
  const groups = new Set(transcript.querySelectorAll(".blocks"));
  for (const group of groups) {
    if (observed.has(group)) continue;
    arrivals.observe(group);
    departures.observe(group);
  }
  for (const group of observed) {
    if (groups.has(group)) continue;
    arrivals.unobserve(group);
    departures.unobserve(group);
  }
  observed = groups;
}

connection.addEventListener("frame", observe);
transcript.addEventListener("click", (event) => {
  const group = event.target.closest("a")?.closest(ABSENT);
  if (!group || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (!loading.has(group)) load(group);
});
observe();
