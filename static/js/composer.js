/** The composer: it sends what is in the text box, or lets it wait for the end of the answer that is being written. */
import { connection, newClientId } from "./connection.js";
import { describeHidden, isLive, stop } from "./transcript.js";
import { store } from "./drafts.js";
import { openDraft } from "./draft_of_tabs.js";
import { outbox } from "./outbox.js";
import { enqueue, queued } from "./queue.js";
import { box, content, draftContent, empty, enterSends, fill, fillForEditing, findRefusal, putBack } from "./text_box.js";
import { editing, endEditing, resumeEditing } from "./editing.js";
import { codeChoice, codeOnce, resumeCodeOnce } from "./settings.js";
import { files } from "./files.js";
import { holdsEnd } from "./reader.js";
import { words } from "./words.js";

const form = document.getElementById("composer");
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");
const hiddenByEdit = document.querySelector("#editing .hidden-by-edit");
const STAYS = hiddenByEdit.textContent;
const ON_ITS_WAY = words("A file is still on its way. Send when it has arrived.");
const storageKey = `plotline:${form.dataset.conversation}`;
const draft = openDraft(form.dataset.conversation, saveState);

function saveState() {
  // A message on its way is no draft. Another tab may have cleared its copy.
  if (!outbox.message?.isFromBox) draft.save(draftContent());
  const edit = editing() ? { ...editing(), ...content() } : null;
  store(sessionStorage, storageKey, JSON.stringify({ edit, once: codeOnce(), pending: outbox.message }));
}

/** Saves a change of the input. A message that was waiting for the connection is discarded, since it is outdated. */
function handleChange() {
  if (note.textContent === ON_ITS_WAY && !files.isBusy()) note.textContent = "";
  if (outbox.message?.isFromBox && !outbox.isSent) outbox.clear();
  else saveState();
}

function buildMessage() {
  const action = editing() ? { action: "edit", message_id: editing().message_id } : { action: "send" };
  const { text, files: list } = content();
  const once = codeOnce() ? { code_execution: codeOnce() } : {};
  return { ...action, text, attachments: list.map(({ id }) => id), client_id: newClientId(), ...once, files: list };
}

/** Returns whether a message is on its way that cannot be changed in the box any more. */
function isOnItsWay() {
  return outbox.message !== null && (outbox.isSent || !outbox.message.isFromBox);
}

function submit() {
  if (isOnItsWay() || (!box.value.trim() && !files.list().length)) return;
  const refusal = findRefusal();
  if (refusal) note.textContent = refusal;
  else if (files.isBusy()) note.textContent = ON_ITS_WAY;
  else if (!isLive() && !queued()) outbox.put(outbox.message ?? { ...buildMessage(), isFromBox: true });
  else if (editing()) note.textContent = words("An answer is being written. Stop it, or wait for its end; then send the change.");
  else if (queued()) note.textContent = words("One message waits already. Change or remove it first.");
  else {
    const message = buildMessage();
    draft.end(message);
    empty();
    enqueue(message);
    saveState();
  }
}

function edit(article) {
  if (!article || isOnItsWay() || isLive()) return;
  if (editing()?.message_id === article.dataset.messageId) box.focus();
  else if (files.isBusy()) note.textContent = words("A file is still on its way. Change messages when it has arrived.");
  else {
    fillForEditing(article);
    outbox.clear();
    note.textContent = "";
    hiddenByEdit.textContent = describeHidden(article.nextElementSibling) || STAYS;
    box.focus();
  }
}

function cancelEdit() {
  if (box.readOnly) return;
  fill(endEditing());
  outbox.clear();
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
  if (event.key === "Enter" && (enterSends || event.ctrlKey || event.metaKey)) form.requestSubmit();
  else if (event.key === "Escape" && editing()) cancelEdit();
  else if (event.key === "ArrowUp" && !box.value && !editing() && holdsEnd()) edit([...document.querySelectorAll('article[data-role="user"]')].at(-1));
  else return;
  event.preventDefault();
});

// Escape stops the answer, unless it closes or cancels something else.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || event.keyCode === 229 || !isLive()) return;
  if (document.querySelector("dialog[open], #sidebar[data-open], :popover-open") || event.target.closest("#search, #session, .approval")) return;
  stop();
});

box.addEventListener("input", handleChange);
files.addEventListener("change", handleChange);
codeChoice.addEventListener("change", handleChange);

outbox.addEventListener("change", () => {
  box.readOnly = outbox.isSent && outbox.message.isFromBox;
  saveState();
});
outbox.addEventListener("accepted", ({ detail }) => {
  if (detail.isFromBox && detail.action === "send") draft.end(detail);
  if (detail.isFromBox) empty();
  saveState();
});
outbox.addEventListener("rejected", ({ detail }) => {
  // The message can be changed and sent again.
  if (!detail.isFromBox) putBack(detail);
  saveState();
});
// A page for logging in, in another tab, may have removed the draft.
connection.addEventListener("open", saveState);

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.action === "edit") edit(button.closest("article"));
  else if (button?.dataset.action === "edit-question") edit(button.closest("article").previousElementSibling);
  else if (button?.dataset.action === "cancel-edit") cancelEdit();
});

// What this tab had before a reload: the message that is edited, code for one message, and the message on its way.
const saved = JSON.parse(sessionStorage.getItem(storageKey) ?? "{}");
const earlier = saved.edit ?? (saved.pending?.isFromBox ? saved.pending : draft.load());
resumeEditing(saved.edit ? { message_id: saved.edit.message_id, draft: saved.edit.draft } : null);
resumeCodeOnce(saved.once);
outbox.message = saved.pending ?? null;
// The browser may have restored the text itself.
fill({ text: box.value || earlier.text, files: earlier.files });
if (matchMedia("(hover: hover)").matches) box.focus();
