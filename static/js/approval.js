/**
 * Decisions about function calls: a waiting answer shows its question, with buttons that approve and deny it. The code
 * can be changed first.
 *
 * The server renders the question. The editor is added by this script, and again after each frame that renders the question
 * anew. What was typed is kept in the tab's session storage until the question has an answer.
 */
import { connection } from "./connection.js";
import { decidedId, forgetDecision, sendDecision } from "./decisions.js";
import { store } from "./drafts.js";
import { fitHeight, follow } from "./text_box.js";
import { pin } from "./scrolling.js";
import { words } from "./words.js";

const composer = document.getElementById("composer");
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");
const scroller = document.getElementById("scroller");
const storageKey = `plotline:approval:${composer.dataset.conversation}`;
const question = () => document.querySelector("#transcript > :last-child > .approval");

const editor = document.createElement("div");
// With an id, a morph removes it and does not turn it into another element.
editor.id = "code-editor";
const box = document.createElement("textarea");
box.setAttribute("aria-label", words("Code to run"));
box.setAttribute("aria-describedby", "code-keys");
box.spellcheck = false;
box.autocapitalize = "off";
follow(box);
const keys = document.createElement("p");
keys.id = "code-keys";
keys.className = "muted";
keys.textContent = words("Ctrl+Enter runs this code, Escape goes back to the model's.");
editor.append(box, keys);

/** `{id, code, isOpen}`: code typed for the question with this id, and whether its editor is shown; or null. */
let draft = JSON.parse(sessionStorage.getItem(storageKey) ?? "null");

function saveDraft(newDraft) {
  draft = newDraft;
  store(sessionStorage, storageKey, draft && JSON.stringify(draft));
}

/** Returns whether the editor of this question is shown. */
function isEditing(section) {
  return draft?.id === section.dataset.approval && draft.isOpen;
}

/** Shows the question as the state of this tab says: with the editor or without, and its buttons usable or not. */
function render() {
  const section = question();
  if (!section) return;
  const isOpen = isEditing(section);
  const code = section.querySelector("pre:has(> code)");
  const [run, edit] = section.querySelectorAll('[data-action="approve"], [data-action="edit-code"]');
  if (edit) {
    run.textContent = isOpen ? words("Run changed code") : words("Run");
    edit.textContent = isOpen ? words("Cancel") : words("Edit and run");
    code.hidden = isOpen;
    if (!isOpen) editor.remove();
    else if (editor.parentElement !== section) code.after(editor);
  }
  for (const button of section.querySelectorAll("button")) button.disabled = section.dataset.approval === decidedId();
}

function openEditor(section) {
  const { approval: id } = section.dataset;
  if (draft?.id !== id) box.value = section.querySelector("pre code").textContent;
  saveDraft({ id, code: box.value, isOpen: true });
  render();
  fitHeight(box);
  box.focus();
}

/** Shows the model's code again. What was typed comes back when the editor is opened again. */
function closeEditor(section) {
  saveDraft({ ...draft, isOpen: false });
  render();
  section.querySelector('[data-action="edit-code"]').focus();
}

function decide(section, action) {
  const { approval: id } = section.dataset;
  const code = action === "approve" && isEditing(section) ? box.value : undefined;
  error.replaceChildren();
  note.textContent = "";
  // JSON.stringify omits undefined values.
  sendDecision({ action, call_id: id, message_id: section.closest("article").dataset.messageId, code });
  render();
  pin();
}

document.addEventListener("click", ({ target, detail }) => {
  const button = target.closest(".approval button[data-action]");
  // The second click of a double click may hit the next question, still unread.
  if (!button || detail > 1) return;
  const section = button.closest(".approval");
  if (button.dataset.action !== "edit-code") decide(section, button.dataset.action);
  else if (isEditing(section)) closeEditor(section);
  else openEditor(section);
});

box.addEventListener("input", () => {
  saveDraft({ ...draft, code: box.value });
});

box.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decide(editor.closest(".approval"), "approve");
  else if (event.key === "Escape") closeEditor(editor.closest(".approval"));
  else return;
  event.preventDefault();
});

connection.addEventListener("frame", () => {
  const id = question()?.dataset.approval;
  if (draft && draft.id !== id) saveDraft(null);
  const hasLostFocus = document.activeElement === document.body;
  if (decidedId() && decidedId() !== id) {
    forgetDecision();
    // The button that had the focus is gone.
    if (hasLostFocus) scroller.focus({ preventScroll: true });
  }
  render();
  if (draft?.isOpen && hasLostFocus) box.focus({ preventScroll: true });
});

connection.addEventListener("close", render);

if (draft && question()?.dataset.approval === draft.id) {
  box.value = draft.code;
}
render();
fitHeight(box);
