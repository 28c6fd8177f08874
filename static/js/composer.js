/**
 * The composer. A message leaves the box only when the server says that it is stored (`accepted`): until then it is
 * kept in the tab's storage and sent again, with the same client_id, each time the connection comes back.
 */
import { connection, send } from "./connection.js";
import { isLive, pin } from "./transcript.js";
import { files } from "./files.js";

const form = document.getElementById("composer");
const box = form.elements.text;
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");
const editingNote = document.getElementById("editing");
const key = `plotline:${form.dataset.conversation}`;

/** `{text, files}` as in the box, and `pending`: the message on its way, or null. */
const kept = JSON.parse(sessionStorage.getItem(key) ?? "{}");
let pending = kept.pending ?? null;
let editedMessageId = pending?.message_id ?? null;

function keep() {
  sessionStorage.setItem(key, JSON.stringify({ text: box.value, files: files.list(), pending }));
}

function newClientId() {
  // randomUUID does not exist on plain http, where self-hosted servers often live.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fit() {
  // For browsers without field-sizing.
  box.rows = Math.min(10, box.value.split("\n").length);
}

function showEditing(messageId) {
  editedMessageId = messageId;
  editingNote.hidden = messageId === null;
}

function deliver() {
  error.replaceChildren();
  box.readOnly = send(pending);
  note.textContent = box.readOnly ? "Sending…" : "No connection. Your message is kept and is sent when it is back.";
}

/** The message is no longer on its way; what is in the box stays. */
function settle(words = "") {
  pending = null;
  box.readOnly = false;
  note.textContent = words;
  keep();
}

function submit() {
  const text = box.value;
  const attachments = files.list().map(({ id }) => id);
  if (!text.trim() && !attachments.length) return;
  if (pending && box.readOnly) return;
  if (files.isBusy()) note.textContent = "A file is still on its way. Send when it has arrived.";
  else if (isLive()) note.textContent = "An answer is being written. Stop it, or wait for its end; then send.";
  else {
    const action = editedMessageId ? { action: "edit", message_id: editedMessageId } : { action: "send" };
    pending ??= { ...action, text, attachments, client_id: newClientId() };
    keep();
    deliver();
    pin();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});

box.addEventListener("keydown", (event) => {
  // An Enter that ends an input method's composition is not a wish to send; Safari reports it as keyCode 229.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  submit();
});

box.addEventListener("input", () => {
  fit();
  // Changed while it waited for a connection: the new text is another message.
  if (pending) settle();
  else keep();
});

files.addEventListener("change", () => (pending && !box.readOnly ? settle() : keep()));
files.addEventListener("refused", ({ detail }) => { note.textContent = detail; });

connection.addEventListener("open", () => { if (pending) deliver(); });
connection.addEventListener("close", () => {
  if (!pending) return;
  box.readOnly = false;
  note.textContent = "No connection. Your message is kept and is sent when it is back.";
});
connection.addEventListener("accepted", ({ detail }) => {
  if (pending?.client_id !== detail) return;
  box.value = "";
  files.clear();
  showEditing(null);
  fit();
  settle();
});
connection.addEventListener("frame", () => {
  // The server said no: the message stays in the box, to be changed or sent again.
  if (pending && error.textContent.trim()) settle();
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.prompt) {
    box.value = button.dataset.prompt;
    submit();
  } else if (button?.dataset.action === "edit") {
    const message = button.closest("article");
    box.value = message.querySelector(".said")?.textContent ?? "";
    showEditing(message.dataset.messageId);
    fit();
    keep();
    box.focus();
  } else if (button?.dataset.action === "cancel-edit") {
    box.value = "";
    showEditing(null);
    settle();
  }
});

const choice = document.querySelector('select[name="code_execution"]');
choice.addEventListener("change", async () => {
  const saved = await fetch(choice.form.action, { method: "POST", body: new FormData(choice.form) }).then((answer) => answer.ok, () => false);
  if (saved) choice.dataset.saved = choice.value;
  else choice.value = choice.dataset.saved;
  note.textContent = saved ? "" : "That choice could not be saved. Try again.";
});

if (kept.text && !box.value) box.value = kept.text;
files.restore(kept.files ?? []);
showEditing(editedMessageId);
fit();
if (matchMedia("(hover: hover)").matches) box.focus();
