/** Questions that the page offers: examples, those of an answer, and those of an attached table. A click sends them. */
import { newClientId } from "./connection.js";
import { files } from "./files.js";
import { outbox } from "./outbox.js";
import { enqueue, queued } from "./queue.js";
import { isLive } from "./transcript.js";

/** Sends a question with these files; after the answer that is being written. The text of the draft stays as it is. */
function ask(text, list) {
  if (outbox.message || queued() || (list.length && files.isBusy())) return;
  const message = { action: "send", text, attachments: list.map(({ id }) => id), client_id: newClientId(), files: list, isFromBox: false };
  if (list.length) {
    files.clear();
    files.dispatchEvent(new Event("change"));
  }
  if (isLive()) enqueue(message);
  else outbox.put(message);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  const { action, prompt, text } = button?.dataset ?? {};
  const question = action === "ask" ? button.textContent : prompt ?? text;
  if (question) ask(question, button.closest("#previews") ? files.list() : []);
});
