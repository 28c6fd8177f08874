/**
 * Scrolling: a new question goes to the top of the view, and its answer grows beneath it. Once the answer is longer than
 * the view, its end stays in view until the reader scrolls up.
 */
import { connection } from "./connection.js";
import { holdsEnd } from "./reader.js";

const NEAR_PX = 48;
const AT_END_PX = 2;
/** The time that a browser may need from a key or a turn of the wheel to the first change of the position. */
const HOLD_MS = 300;
const KEYS_UP = ["Home", "PageUp", "ArrowUp", " "];
/** The share of the view's height that a long question may take above its answer. */
const QUESTION_SHARE = 0.4;
const scroller = document.getElementById("scroller");
const transcript = document.getElementById("transcript");
const jump = document.getElementById("jump");

/** Whether the end stays in view. */
let isPinned = true;
let lastScrollTop = 0;
let lastScrollHeight = 0;
/** Until then, the position is not set, because that would end a scroll that the reader has just begun. */
let heldUntil_ms = 0;
/** The id of the last message when this tab asked for an answer; its room begins with the next one. Else null. */
let messageBeforeRoom = null;

/** Scrolls to the end and keeps it in view. `hasRoom`: the next answer gets room, so that its question is at the top. */
export function pin({ hasRoom = false } = {}) {
  if (!holdsEnd()) return;
  isPinned = true;
  jump.hidden = true;
  if (hasRoom) messageBeforeRoom = transcript.lastElementChild?.id ?? "";
  scrollToEnd();
}

/** Returns whether the end stays in view. */
export function follows() {
  return isPinned;
}

/** Leaves the scroll position to the reader. */
export function unpin() {
  isPinned = false;
}

/** After the reader opened or closed a fold, follows the end if it is in view; else offers a way to it. */
export function settle() {
  if (isPinned || !holdsEnd()) return;
  isPinned = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_END_PX;
  jump.hidden = isPinned;
}

function scrollToEnd() {
  scroller.scrollTop = scroller.scrollHeight;
  lastScrollTop = scroller.scrollTop;
  lastScrollHeight = scroller.scrollHeight;
}

/** Updates `isPinned` from the scroll position. */
function updatePinned() {
  const { scrollTop, scrollHeight, clientHeight } = scroller;
  const below_px = scrollHeight - scrollTop - clientHeight;
  const up_px = lastScrollTop - scrollTop;
  // Growth never unpins, because only a reader decreases scrollTop. If the content shrinks, the browser decreases it too.
  if (!holdsEnd()) isPinned = false;
  else if (below_px < AT_END_PX) isPinned = true;
  else if (up_px > AT_END_PX && scrollHeight >= lastScrollHeight) isPinned = false;
  else if (below_px < NEAR_PX) isPinned = true;
  // Safari's layout may move the position up by a pixel. A reader's small steps add up.
  if (up_px < 0 || up_px > AT_END_PX) lastScrollTop = scrollTop;
  lastScrollHeight = scrollHeight;
  // The browser treats every assignment as a change, even of the same value.
  if (jump.hidden !== isPinned) jump.hidden = isPinned;
}

function scrollToEndIfPinned() {
  if (performance.now() < heldUntil_ms) return;
  // The reader may have scrolled up before the scroll event was dispatched.
  if (isPinned) updatePinned();
  if (isPinned) scrollToEnd();
}

/** Waits for what the reader has begun. If the position does not change, the end stays in view. */
function hold() {
  heldUntil_ms = performance.now() + HOLD_MS;
  setTimeout(scrollToEndIfPinned, HOLD_MS);
}

/** Gives the last answer the height that is left below its question. */
function makeRoom() {
  const answer = transcript.lastElementChild;
  if (messageBeforeRoom === null || answer?.dataset.role !== "model" || answer.id === messageBeforeRoom) return;
  messageBeforeRoom = null;
  scroller.dataset.room = "";
  measureRoom();
  // The answer before it has lost its room, so the content has shrunk and grown, and the browser has moved the position.
  if (isPinned) scrollToEnd();
}

function measureRoom() {
  const answer = transcript.lastElementChild;
  if (!("room" in scroller.dataset) || !answer) return;
  const { clientHeight, scrollHeight, scrollTop } = scroller;
  const view = scroller.getBoundingClientRect();
  const { top, bottom } = answer.getBoundingClientRect();
  const above_px = parseFloat(getComputedStyle(scroller).paddingTop);
  const below_px = scrollHeight - scrollTop - (bottom - view.top);
  const question_px = top - (answer.previousElementSibling ?? answer).getBoundingClientRect().top;
  const room_px = clientHeight - above_px - below_px - Math.min(question_px, clientHeight * QUESTION_SHARE);
  scroller.style.setProperty("--room", `${Math.floor(room_px)}px`);
}

scroller.addEventListener("scroll", updatePinned);
scroller.addEventListener("wheel", ({ deltaY }) => { if (deltaY < 0) hold(); }, { passive: true });
scroller.addEventListener("touchmove", hold, { passive: true });
scroller.addEventListener("keydown", ({ key, target }) => {
  // Keys in a message that is edited do not scroll.
  if (target.closest("#composer")) return;
  if (KEYS_UP.includes(key)) hold();
  // Messages get their real heights while they come into view, so the browser alone may stop before the end.
  else if (key === "End" && target.matches("#scroller, a, button, summary, .message")) pin();
});
document.addEventListener("click", ({ target }) => {
  if (target.closest('[data-action="jump"]')) pin();
});

const resizeObserver = new ResizeObserver((entries) => {
  if (entries.some(({ target }) => target === scroller)) measureRoom();
  scrollToEndIfPinned();
});
resizeObserver.observe(scroller);
resizeObserver.observe(transcript);
// Scrolls before the browser starts to draw. Scrolling in the resize observer makes it draw a second time.
connection.addEventListener("frame", () => {
  makeRoom();
  scrollToEndIfPinned();
});

// Links from search results and the gallery name a message in the URL's hash; it is shown instead of the end.
const named = document.getElementById(location.hash.slice(1));
const linked = transcript.contains(named) ? named : null;
if (linked || !holdsEnd()) {
  unpin();
  linked?.scrollIntoView();
  jump.hidden = holdsEnd();
} else pin();
