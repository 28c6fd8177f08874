/** The message that waits until the answer before it is complete. It is shown above the text box. */
import { connection } from "./connection.js";
import { outbox } from "./outbox.js";
import { box, empty, putBack } from "./text_box.js";
import { isDone, isLive, isWaiting } from "./transcript.js";
import { words } from "./words.js";

const row = document.getElementById("queued");
const label = row.querySelector(".text");
const note = document.getElementById("composer-note");

/** The message with its `files`, or null. */
let message = null;

/** Fires `change`. */
export const queue = new EventTarget();

export function queued() {
  return message;
}

/** Shows a message as the one that waits; null: none does. */
export function setQueued(next) {
  message = next;
  row.hidden = message === null;
  if (message) label.textContent = message.text || message.files.map(({ name }) => name).join(", ");
  queue.dispatchEvent(new Event("change"));
}

/** Takes the message from the text box into the queue. */
export function enqueue(next) {
  empty();
  setQueued(next);
  note.textContent = isWaiting() ? words("The answer above waits for your decision. Your message is sent after it.") : "";
}

function dequeue() {
  const next = message;
  setQueued(null);
  return next;
}

/** Sends the message. `isAsked`: a person wants it now; otherwise it is sent only after a complete answer. */
function sendQueued({ isAsked }) {
  if (!message || isLive() || outbox.message) return;
  if (isAsked || isDone()) outbox.put({ ...dequeue(), isFromBox: false });
  else note.textContent = words("The answer did not come to its end, so your message still waits.");
}

/** Moves the message back into the text box. */
function changeQueued() {
  putBack(dequeue());
  box.dispatchEvent(new Event("input"));
  box.focus();
}

connection.addEventListener("frame", () => sendQueued({ isAsked: false }));

document.addEventListener("click", ({ target }) => {
  const action = target.closest("button")?.dataset.action;
  if (action === "send-queued") sendQueued({ isAsked: true });
  if (action === "change-queued") changeQueued();
  if (action === "remove-queued") {
    dequeue();
    box.focus();
  }
});
