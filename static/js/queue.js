/**
 * The message that waits until the answer before it is complete. It is shown above the text box.
 *
 * It is kept in the browser beside the draft, and is the same in all tabs of the conversation. Two tabs may send it, but the
 * server stores it once, because it has one client_id.
 */
import { connection } from "./connection.js";
import { Draft } from "./drafts.js";
import { outbox } from "./outbox.js";
import { holdsEnd } from "./reader.js";
import { box, putBack } from "./text_box.js";
import { isLive, isWaiting, lastAnswer } from "./transcript.js";
import { words } from "./words.js";

const row = document.getElementById("queued");
const label = row.querySelector(".text");
const note = document.getElementById("composer-note");

const storage = new Draft(`queued:${document.getElementById("composer").dataset.conversation}`);

/** The message with its `files`, and with the id of the answer that it waits for as `after`; or null. */
let message = null;

export function queued() {
  return message;
}

/** Shows a message as the waiting one; null: none waits. */
function show(next) {
  message = next;
  row.hidden = message === null;
  if (message) label.textContent = message.text || message.files.map(({ name }) => name).join(", ");
}

/** Shows the message that this tab, or another one, has kept. */
function load() {
  const kept = storage.load();
  show(kept.client_id ? kept : null);
}

function save() {
  storage.save(message ?? { text: "", files: [] });
}

function setQueued(next) {
  show(next);
  save();
}

/** Adds a message to the queue. */
export function enqueue(next) {
  setQueued({ ...next, after: lastAnswer().dataset.messageId });
  note.textContent = isWaiting() ? words("The answer above waits for your decision. Your message is sent after it.") : "";
}

function dequeue() {
  const next = message;
  setQueued(null);
  return next;
}

/** Sends the message. `isAsked`: a person wants it now; otherwise it is sent only after the answer that it waits for. */
function sendQueued({ isAsked }) {
  if (!message || isLive() || outbox.message) return;
  const { messageId, status } = lastAnswer()?.dataset ?? {};
  const isNext = holdsEnd() && messageId === message.after;
  if (isAsked || (isNext && status === "done")) {
    const { after, ...next } = dequeue();
    outbox.put({ ...next, isFromBox: false });
  } else if (isNext) note.textContent = words("The answer did not come to its end, so your message still waits.");
  else note.textContent = words("The page shows other messages now, so your message still waits.");
}

/** Moves the message back into the text box. */
function changeQueued() {
  putBack(dequeue());
  box.dispatchEvent(new Event("input"));
  box.focus();
}

connection.addEventListener("frame", () => sendQueued({ isAsked: false }));
connection.addEventListener("open", () => {
  // A page for logging in, in another tab, may have removed the message.
  save();
  // The answer may have ended while the page was closed.
  sendQueued({ isAsked: false });
});
storage.addEventListener("change", load);

document.addEventListener("click", ({ target }) => {
  const action = target.closest("button")?.dataset.action;
  if (action === "send-queued") sendQueued({ isAsked: true });
  if (action === "change-queued") changeQueued();
  if (action === "remove-queued") {
    dequeue();
    box.focus();
  }
});

load();
