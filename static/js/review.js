/** The review queue and the review page: keyboard shortcuts, label buttons and links to other versions. */
const isReviewPage = document.getElementById("history") !== null;

// Keyboard shortcuts

const shortcutsDialog = document.getElementById("keys");

function clickElement(id) {
  document.getElementById(id)?.click();
}

/** Move the focus up or down in the list. If no row has the focus, focus the first one. */
function moveFocus(offset) {
  const rows = Array.from(document.querySelectorAll("#result_list tbody th a"));
  const current = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(current + offset, 0), rows.length - 1)]?.focus();
}

function decide(verdict) {
  document.querySelector(`[data-verdict="${verdict}"]`)?.click();
}

function focusTextField() {
  document.getElementById(isReviewPage ? "note" : "searchbar")?.focus();
}

function openNext() {
  if (isReviewPage) clickElement("next-link");
  else moveFocus(1);
}

function openPrevious() {
  if (isReviewPage) clickElement("previous-link");
  else moveFocus(-1);
}

function showShortcuts() {
  shortcutsDialog?.showModal();
}

const shortcuts = {
  n: openNext,
  j: openNext,
  p: openPrevious,
  k: openPrevious,
  "/": focusTextField,
  "?": showShortcuts,
};
if (isReviewPage) {
  shortcuts.a = () => decide("approved");
  shortcuts.f = () => decide("flagged");
  shortcuts.e = focusTextField;
  shortcuts.u = () => clickElement("queue-link");
}

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target, repeat, isComposing } = event;
  if (ctrlKey || metaKey || altKey || repeat || isComposing) return;
  // A key belongs to an open dialog, or to the text field that has the focus.
  if (document.querySelector("dialog[open]")) return;
  if (target.closest("input:not([type=checkbox], [type=submit]), textarea, select, [contenteditable]")) return;
  const runShortcut = shortcuts[key];
  if (!runShortcut) return;
  event.preventDefault();
  runShortcut();
});

for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", showShortcuts);
}

// Verdict form

const form = document.getElementById("verdict-form");
let isSubmitted = false;
form?.addEventListener("submit", (event) => {
  // A second click must not submit the same verdict twice.
  if (isSubmitted) event.preventDefault();
  isSubmitted = true;
});
// The browser may restore the page from its back/forward cache, with `isSubmitted` still set.
window.addEventListener("pageshow", () => { isSubmitted = false; });

const labelsInput = document.getElementById("labels");

function enteredLabels() {
  return labelsInput.value.split(",").map((label) => label.trim()).filter(Boolean);
}

function updateLabelButtons() {
  const entered = enteredLabels().map((label) => label.toLowerCase());
  for (const button of document.querySelectorAll("[data-label]")) {
    button.setAttribute("aria-pressed", entered.includes(button.dataset.label.toLowerCase()));
  }
}

/** Add a label to the text field, or remove it if it is there. */
function toggleLabel(label) {
  const entered = enteredLabels();
  const others = entered.filter((word) => word.toLowerCase() !== label.toLowerCase());
  labelsInput.value = (others.length < entered.length ? others : [...entered, label]).join(", ");
  updateLabelButtons();
}

if (labelsInput) {
  for (const button of document.querySelectorAll("[data-label]")) {
    button.disabled = false;
    button.addEventListener("click", () => toggleLabel(button.dataset.label));
  }
  labelsInput.addEventListener("input", updateLabelButtons);
  updateLabelButtons();
}

// Versions: the arrows of a message open the review page of the other version.

const transcript = document.getElementById("transcript");
transcript?.addEventListener("click", ({ target }) => {
  const button = target.closest('button[data-action="switch"]');
  if (!button?.dataset.messageId) return;
  const url = new URL(transcript.dataset.pageUrl, location.href);
  url.searchParams.set("version", button.dataset.messageId);
  location.assign(url);
});
