/**
 * The composer. Until the server reports that it stored the message (`accepted`), the message is kept in the tab's
 * session storage and is sent again, with the same client_id, each time the connection opens.
 */
import { connection, newClientId, send } from "./connection.js";
import { isLive, pin } from "./transcript.js";
import { beginEditing, editing, endEditing, resumeEditing } from "./editing.js";
import { codeChoice, codeOnce, endCodeOnce, resumeCodeOnce } from "./settings.js";
import { files } from "./files.js";

const NO_CONNECTION = "No connection. Your message is kept and is sent when it is back.";

const form = document.getElementById("composer");
const box = form.elements.text;
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");
const storageKey = `plotline:${form.dataset.conversation}`;

/** State from before a reload: `{text, files, editing, once}` of the composer, and `pending`. */
const savedState = JSON.parse(sessionStorage.getItem(storageKey) ?? "{}");
let pending = savedState.pending ?? null; // the message that was submitted but not accepted, or null

function saveState() {
  const state = { text: box.value, files: files.list(), editing: editing(), once: codeOnce(), pending };
  sessionStorage.setItem(storageKey, JSON.stringify(state));
}

function fitHeight() {
  // For browsers without the CSS property field-sizing.
  box.rows = Math.min(10, box.value.split("\n").length);
}

function fill({ text, files: list }) {
  box.value = text;
  files.clear();
  files.restore(list);
  fitHeight();
}

function deliver() {
  error.replaceChildren();
  box.readOnly = send(pending);
  note.textContent = box.readOnly ? "Sending…" : NO_CONNECTION;
}

/** Discards the pending message; the content of the text box stays. */
function clearPending() {
  pending = null;
  box.readOnly = false;
  note.textContent = "";
  saveState();
}

/** Saves a change of the input. A message that was waiting for the connection is discarded, since it is outdated. */
function handleChange() {
  fitHeight();
  if (pending && !box.readOnly) clearPending();
  else saveState();
}

function buildMessage() {
  const action = editing() ? { action: "edit", message_id: editing().message_id } : { action: "send" };
  const attachments = files.list().map(({ id }) => id);
  const once = codeOnce() ? { code_execution: codeOnce() } : {};
  return { ...action, text: box.value, attachments, client_id: newClientId(), ...once };
}

function submit() {
  if (!box.value.trim() && !files.list().length) return;
  if (pending && box.readOnly) return;
  if (files.isBusy()) note.textContent = "A file is still on its way. Send when it has arrived.";
  else if (isLive()) note.textContent = "An answer is being written. Stop it, or wait for its end; then send.";
  else {
    pending ??= buildMessage();
    saveState();
    deliver();
    pin();
  }
}

function edit(article) {
  if (!article || box.readOnly || isLive()) return;
  if (files.isBusy()) note.textContent = "A file is still on its way. Change messages when it has arrived.";
  else {
    fill({ text: beginEditing(article, { text: box.value, files: files.list() }), files: [] });
    clearPending();
    box.focus();
  }
}

function cancelEdit() {
  if (box.readOnly) return;
  fill(endEditing());
  clearPending();
  error.replaceChildren();
  box.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});

box.addEventListener("keydown", (event) => {
  // Ignores keys of an input method's composition; Safari reports its Enter key with keyCode 229.
  if (event.isComposing || event.keyCode === 229 || event.shiftKey) return;
  if (event.key === "Enter") submit();
  else if (event.key === "Escape" && editing()) cancelEdit();
  else if (event.key === "ArrowUp" && !box.value && !editing()) edit([...document.querySelectorAll('article[data-role="user"]')].at(-1));
  else return;
  event.preventDefault();
});

box.addEventListener("input", handleChange);
files.addEventListener("change", handleChange);
files.addEventListener("refused", ({ detail }) => { note.textContent = detail; });
codeChoice.addEventListener("change", handleChange);

connection.addEventListener("open", () => { if (pending) deliver(); });
connection.addEventListener("close", () => {
  if (!pending) return;
  box.readOnly = false;
  note.textContent = NO_CONNECTION;
});
connection.addEventListener("accepted", ({ detail }) => {
  if (pending?.client_id !== detail) return;
  fill(endEditing() ?? { text: "", files: [] });
  endCodeOnce();
  clearPending();
});
connection.addEventListener("frame", () => {
  // The server rejected the message. It stays in the text box, so that it can be changed or sent again.
  if (pending && error.textContent.trim()) clearPending();
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.prompt) {
    box.value = button.dataset.prompt;
    submit();
  } else if (button?.dataset.action === "edit") edit(button.closest("article"));
  else if (button?.dataset.action === "cancel-edit") cancelEdit();
});

resumeEditing(savedState.editing ?? null);
resumeCodeOnce(savedState.once);
if (savedState.text && !box.value) fill({ text: savedState.text, files: savedState.files ?? [] });
else files.restore(savedState.files ?? []);
if (matchMedia("(hover: hover)").matches) box.focus();
