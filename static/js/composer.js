/**
 * The composer. A message leaves the box only when the server says that it is stored (`accepted`): until then it is
 * kept in the tab's storage and sent again, with the same client_id, each time the connection comes back.
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
const key = `plotline:${form.dataset.conversation}`;

/** `{text, files, editing, once}` as in the composer, and `pending`: the message on its way, or null. */
const kept = JSON.parse(sessionStorage.getItem(key) ?? "{}");
let pending = kept.pending ?? null;

function keep() {
  const now = { text: box.value, files: files.list(), editing: editing(), once: codeOnce(), pending };
  sessionStorage.setItem(key, JSON.stringify(now));
}

function fit() {
  // For browsers without field-sizing.
  box.rows = Math.min(10, box.value.split("\n").length);
}

function fill({ text, files: list }) {
  box.value = text;
  files.clear();
  files.restore(list);
  fit();
}

function deliver() {
  error.replaceChildren();
  box.readOnly = send(pending);
  note.textContent = box.readOnly ? "Sending…" : NO_CONNECTION;
}

/** The message is no longer on its way; what is in the box stays. */
function settle(words = "") {
  pending = null;
  box.readOnly = false;
  note.textContent = words;
  keep();
}

/** What would be sent has changed; if it waited for a connection, it is another message now. */
function change() {
  fit();
  if (pending && !box.readOnly) settle();
  else keep();
}

function message() {
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
    pending ??= message();
    keep();
    deliver();
    pin();
  }
}

function edit(article) {
  if (!article || box.readOnly || isLive()) return;
  if (files.isBusy()) note.textContent = "A file is still on its way. Change messages when it has arrived.";
  else {
    fill({ text: beginEditing(article, { text: box.value, files: files.list() }), files: [] });
    settle();
    box.focus();
  }
}

function cancelEdit() {
  if (box.readOnly) return;
  fill(endEditing());
  settle();
  error.replaceChildren();
  box.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});

box.addEventListener("keydown", (event) => {
  // What an input method's composition takes is not meant for us; Safari reports its Enter as keyCode 229.
  if (event.isComposing || event.keyCode === 229 || event.shiftKey) return;
  if (event.key === "Enter") submit();
  else if (event.key === "Escape" && editing()) cancelEdit();
  else if (event.key === "ArrowUp" && !box.value && !editing()) edit([...document.querySelectorAll('article[data-role="user"]')].at(-1));
  else return;
  event.preventDefault();
});

box.addEventListener("input", change);
files.addEventListener("change", change);
files.addEventListener("refused", ({ detail }) => { note.textContent = detail; });
codeChoice.addEventListener("change", change);

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
  } else if (button?.dataset.action === "edit") edit(button.closest("article"));
  else if (button?.dataset.action === "cancel-edit") cancelEdit();
});

resumeEditing(kept.editing ?? null);
resumeCodeOnce(kept.once);
if (kept.text && !box.value) fill({ text: kept.text, files: kept.files ?? [] });
else files.restore(kept.files ?? []);
if (matchMedia("(hover: hover)").matches) box.focus();
