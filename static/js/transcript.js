/** The transcript: scrolling with its end, the buttons of messages, and announcements for screen readers. */
import { connection, send } from "./connection.js";

const NEAR_PX = 48;
const LIVE = '[data-status="queued"], [data-status="running"], [data-status="waiting"]';
const transcript = () => document.getElementById("transcript");
const scroller = document.getElementById("scroller");
const jump = document.getElementById("jump");
const announcer = document.getElementById("announcer");
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");

/** Returns whether an answer is being written or waits for a decision. */
export function isLive() {
  return transcript().querySelector(LIVE) !== null;
}

// --- scrolling: the end stays in view until the reader scrolls up -------------------------------------------------

let isPinned = true;
let lastScrollTop = 0;

/** Scrolls to the end and keeps it in view. */
export function pin() {
  isPinned = true;
  jump.hidden = true;
  scroller.scrollTop = scroller.scrollHeight;
}

/** Updates `isPinned` from the scroll position. */
function updatePinned() {
  const { scrollTop, scrollHeight, clientHeight } = scroller;
  // Growth alone never unpins, because only a reader decreases scrollTop.
  if (scrollHeight - scrollTop - clientHeight < NEAR_PX) isPinned = true;
  else if (scrollTop < lastScrollTop) isPinned = false;
  lastScrollTop = scrollTop;
  // The browser treats every assignment as a change, even of the same value.
  if (jump.hidden !== isPinned) jump.hidden = isPinned;
}

function scrollToEndIfPinned() {
  // The reader may have scrolled up before the scroll event was dispatched.
  if (isPinned) updatePinned();
  if (!isPinned) return;
  scroller.scrollTop = scroller.scrollHeight;
  lastScrollTop = scroller.scrollTop;
}

scroller.addEventListener("scroll", updatePinned);

const resizeObserver = new ResizeObserver(scrollToEndIfPinned);
resizeObserver.observe(scroller);
resizeObserver.observe(transcript());
// Scrolls before the browser starts to draw. Scrolling in the resize observer makes it draw a second time.
connection.addEventListener("frame", scrollToEndIfPinned);
// Links from search results name a message in the URL's hash; it is shown instead of the end.
const linkedMessage = location.hash && document.getElementById(location.hash.slice(1));
if (linkedMessage) {
  isPinned = false;
  linkedMessage.scrollIntoView();
} else pin();

// --- announcements for screen readers: the status, not each word --------------------------------------------------

const lastStatus = () => transcript().querySelector('[data-role="model"]:last-child')?.dataset.status ?? "";
let announcedStatus = lastStatus();

function announce() {
  const status = lastStatus();
  if (status === announcedStatus) return;
  announcedStatus = status;
  const announcements = { queued: "An answer is being written.", running: "An answer is being written.", done: "The answer is complete." };
  announcer.textContent = announcements[status] ?? transcript().querySelector(".message:last-child .status p")?.textContent ?? "";
  if (!isLive()) note.textContent = "";
}

connection.addEventListener("frame", () => {
  announce();
  const title = `${document.getElementById("conversation-title").textContent} · Plotline`;
  if (document.title !== title) document.title = title;
});

// --- versions: after a switch, the message keeps its position on the screen, and its button keeps the focus ---------

/** `{message_id, way, top}` of the message that is being switched, or null. */
let versionSwitch = null;

function restorePosition() {
  const article = versionSwitch && document.getElementById(`message-${versionSwitch.message_id}`);
  if (error.textContent.trim()) versionSwitch = null;
  if (!versionSwitch || !article) return;
  isPinned = false;
  scroller.scrollTop += article.getBoundingClientRect().top - versionSwitch.top;
  const buttons = Array.from(article.querySelectorAll('[data-action="switch"]:enabled'));
  (buttons.find(({ dataset }) => dataset.way === versionSwitch.way) ?? buttons[0])?.focus({ preventScroll: true });
  announcer.textContent = `Version ${article.querySelector(".versions span").textContent}`;
  versionSwitch = null;
}

connection.addEventListener("frame", restorePosition);

// --- buttons -------------------------------------------------------------------------------------------------------

const SOCKET_ACTIONS = ["stop", "regenerate", "continue", "switch"];

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action, messageId, codeExecution, way } = button?.dataset ?? {};
  if (action === "jump") pin();
  if (!SOCKET_ACTIONS.includes(action)) return;
  error.replaceChildren();
  // JSON.stringify omits undefined values.
  if (!send({ action, message_id: messageId, code_execution: codeExecution })) note.textContent = "No connection. Try again when it is back.";
  else if (action === "stop") note.textContent = "Stopping…";
  else if (action === "switch") versionSwitch = { message_id: messageId, way, top: button.closest("article").getBoundingClientRect().top };
  else pin();
});
