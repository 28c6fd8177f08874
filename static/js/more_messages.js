/**
 * Loads the messages before and after those that the page holds, when their link comes near the view or is pressed. What
 * the reader sees keeps its place on the screen, unless the end is followed. Without scripts, the links lead to pages.
 */
import { connection, isOpen, send } from "./connection.js";
import { reopen } from "./folds.js";
import { outbox } from "./outbox.js";
import { firstInView, holdsEnd } from "./reader.js";
import { follows } from "./scrolling.js";
import { counted, words } from "./words.js";

const NEAR_PX = 600;
const LIMIT_MS = 15_000;
const FAILED = words("They could not be loaded.");
const NO_CONNECTION = words("They could not be loaded: no connection.");

const scroller = document.getElementById("scroller");
const transcript = document.getElementById("transcript");
const announcer = document.getElementById("announcer");

/** `{direction, count, timer}` of the messages that were asked for, or null. */
let request = null;
/** The message in view and its place on the screen, before a frame is applied. */
let anchor = null;

const nav = (direction) => document.getElementById(direction);

function load(direction) {
  if (request) return;
  nav(direction).querySelector(".error")?.remove();
  request = { direction, count: transcript.children.length, timer: setTimeout(() => fail(FAILED), LIMIT_MS) };
  nav(direction).setAttribute("aria-busy", "true");
  if (!send({ action: direction })) fail(NO_CONNECTION);
}

/** Ends the request; returns it. */
function end() {
  const ended = request;
  clearTimeout(ended.timer);
  nav(ended.direction).removeAttribute("aria-busy");
  request = null;
  return ended;
}

/** Shows a sentence beside the link, which then tries again. */
function fail(sentence) {
  const { direction } = end();
  const error = document.createElement("span");
  error.className = "error";
  error.setAttribute("role", "alert");
  error.textContent = `${sentence} ${words("Press the button to try again.")}`;
  nav(direction).append(error);
}

const observer = new IntersectionObserver((entries) => {
  const near = entries.find(({ isIntersecting, target }) => isIntersecting && !target.querySelector(".error"));
  if (near && isOpen()) load(near.target.id);
}, { root: scroller, rootMargin: `${NEAR_PX}px 0px` });

/** Observes the links anew, which also tells at once whether they are near the view. */
function observe() {
  observer.disconnect();
  for (const direction of ["earlier", "later"]) if (!nav(direction).hidden) observer.observe(nav(direction));
}

/** Returns whether a frame changes which messages the page holds. Others only change messages, or add one at the end. */
const changesWindow = (html) => html.includes('hx-target="#earlier"') || html.includes('hx-target="#later"');

connection.addEventListener("before", ({ detail: html }) => {
  const article = changesWindow(html) ? firstInView() : null;
  const hasFocus = document.activeElement?.closest("#earlier, #later") != null;
  anchor = changesWindow(html) ? { article, top: article?.getBoundingClientRect().top, hasFocus } : null;
});

connection.addEventListener("frame", () => {
  if (!anchor) return;
  const { article, top, hasFocus } = anchor;
  anchor = null;
  reopen();
  // A reader at the end stays there. After a lost connection, one frame both renews the links and extends the answer.
  if (article?.isConnected && !follows()) scroller.scrollTop += article.getBoundingClientRect().top - top;
  if (request) {
    const { direction, count } = end();
    const added = transcript.children.length - count;
    if (added > 0) announcer.textContent = direction === "earlier"
      ? counted(added, "{number} earlier message loaded.", "{number} earlier messages loaded.")
      : counted(added, "{number} later message loaded.", "{number} later messages loaded.");
  }
  // The link with the focus is gone.
  if (hasFocus && !document.activeElement?.closest("#earlier, #later")) scroller.focus({ preventScroll: true });
  observe();
});

connection.addEventListener("open", observe);
connection.addEventListener("close", () => { if (request) fail(NO_CONNECTION); });

/** Opens the page with the newest messages, if this one does not hold them. */
function openEnd() {
  if (!holdsEnd()) location.assign(location.pathname);
}

outbox.addEventListener("accepted", ({ detail }) => { if (detail.action === "send") openEnd(); });

document.addEventListener("click", (event) => {
  const { action } = event.target.closest("[data-action]")?.dataset ?? {};
  if (action === "jump") openEnd();
  if ((action !== "earlier" && action !== "later") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  load(action);
});
