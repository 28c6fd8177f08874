/** The transcript's behaviour: staying at its end, buttons of messages, words for screen readers. */
import { connection, send } from "./connection.js";

const NEAR_PX = 48;
const LIVE = '[data-status="queued"], [data-status="running"]';
const transcript = () => document.getElementById("transcript");
const scroller = document.getElementById("scroller");
const jump = document.getElementById("jump");
const announcer = document.getElementById("announcer");
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");

/** Whether an answer is being written. */
export function isLive() {
  return transcript().querySelector(LIVE) !== null;
}

// --- the end stays in view until the reader scrolls up ------------------------------------------------------------

let pinned = true;
let lastTop = 0;

/** Shows the end and stays there. */
export function pin() {
  pinned = true;
  jump.hidden = true;
  scroller.scrollTop = scroller.scrollHeight;
}

/** Whether the reader still wants the end. */
function look() {
  const { scrollTop, scrollHeight, clientHeight } = scroller;
  // Growth alone never unpins: only a reader makes scrollTop smaller.
  if (scrollHeight - scrollTop - clientHeight < NEAR_PX) pinned = true;
  else if (scrollTop < lastTop) pinned = false;
  lastTop = scrollTop;
  // Setting what is set already would be a change to the browser.
  if (jump.hidden !== pinned) jump.hidden = pinned;
}

function follow() {
  // A reader may have scrolled up whose event is still to come.
  if (pinned) look();
  if (!pinned) return;
  scroller.scrollTop = scroller.scrollHeight;
  lastTop = scroller.scrollTop;
}

scroller.addEventListener("scroll", look);

const grown = new ResizeObserver(follow);
grown.observe(scroller);
grown.observe(transcript());
// Before the browser draws a frame, not while it does: what scrolls then has a second one drawn, for its event.
connection.addEventListener("frame", follow);
// An address that names a message, as search's do, is of a reader who wants to see that one.
const named = location.hash && document.getElementById(location.hash.slice(1));
if (named) {
  pinned = false;
  named.scrollIntoView();
} else pin();

// --- what a screen reader hears: the state, not each word ---------------------------------------------------------

const lastStatus = () => transcript().querySelector('[data-role="model"]:last-child')?.dataset.status ?? "";
let announced = lastStatus();

function announce() {
  const status = lastStatus();
  if (status === announced) return;
  announced = status;
  const words = { queued: "An answer is being written.", running: "An answer is being written.", done: "The answer is complete." };
  announcer.textContent = words[status] ?? transcript().querySelector(".message:last-child .status p")?.textContent ?? "";
  if (!isLive()) note.textContent = "";
}

connection.addEventListener("frame", () => {
  announce();
  const title = `${document.getElementById("conversation-title").textContent} · Plotline`;
  if (document.title !== title) document.title = title;
});

// --- versions: the article whose arrow was used stays where it is, and its arrow keeps the focus ----------------------

let turning = null;

function keepPlace() {
  const article = turning && document.getElementById(`message-${turning.message_id}`);
  if (error.textContent.trim()) turning = null;
  if (!turning || !article) return;
  pinned = false;
  scroller.scrollTop += article.getBoundingClientRect().top - turning.top;
  const arrows = Array.from(article.querySelectorAll('[data-action="switch"]:enabled'));
  (arrows.find(({ dataset }) => dataset.way === turning.way) ?? arrows[0])?.focus({ preventScroll: true });
  announcer.textContent = `Version ${article.querySelector(".versions span").textContent}`;
  turning = null;
}

connection.addEventListener("frame", keepPlace);

// --- buttons -------------------------------------------------------------------------------------------------------

const SENT = ["stop", "regenerate", "continue", "switch"];

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action, messageId, codeExecution, way } = button?.dataset ?? {};
  if (action === "jump") pin();
  if (!SENT.includes(action)) return;
  error.replaceChildren();
  // What is undefined is not in the JSON.
  if (!send({ action, message_id: messageId, code_execution: codeExecution })) note.textContent = "No connection. Try again when it is back.";
  else if (action === "stop") note.textContent = "Stopping…";
  else if (action === "switch") turning = { message_id: messageId, way, top: button.closest("article").getBoundingClientRect().top };
  else pin();
});
