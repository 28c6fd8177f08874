/** Keys of the review queue and of a conversation's page; labels in use; versions by their arrows. */
const keys = document.getElementById("keys");
const rows = () => Array.from(document.querySelectorAll("#result_list tbody th a"));
const link = (id) => document.getElementById(id)?.click();
const isPage = document.getElementById("history") !== null;

/** One up or down in the list; the first step goes to its beginning. */
function step(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
}

function decide(verdict) {
  document.querySelector(`[data-verdict="${verdict}"]`)?.click();
}

function write() {
  document.getElementById(isPage ? "note" : "searchbar")?.focus();
}

const next = () => (isPage ? link("next-link") : step(1));
const previous = () => (isPage ? link("previous-link") : step(-1));
const showKeys = () => keys?.showModal();

const doings = { n: next, j: next, p: previous, k: previous, "/": write, "?": showKeys };
if (isPage) {
  doings.a = () => decide("approved");
  doings.f = () => decide("flagged");
  doings.e = write;
  doings.u = () => link("queue-link");
}

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target, repeat, isComposing } = event;
  if (ctrlKey || metaKey || altKey || repeat || isComposing) return;
  // Behind an open dialog nothing has the focus, and who types wants letters.
  if (document.querySelector("dialog[open]")) return;
  if (target.closest("input:not([type=checkbox], [type=submit]), textarea, select, [contenteditable]")) return;
  const doing = doings[key];
  if (!doing) return;
  event.preventDefault();
  doing();
});

for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", showKeys);
}

// A form that is on its way is not sent twice.
const form = document.getElementById("verdict-form");
let isSent = false;
form?.addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
// The page as the browser kept it, when one comes back to it.
window.addEventListener("pageshow", () => { isSent = false; });

const labels = document.getElementById("labels");
const words = () => labels.value.split(",").map((word) => word.trim()).filter(Boolean);

function markLabels() {
  const chosen = words().map((word) => word.toLowerCase());
  for (const button of document.querySelectorAll("[data-label]")) {
    button.setAttribute("aria-pressed", chosen.includes(button.dataset.label.toLowerCase()));
  }
}

if (labels) {
  for (const button of document.querySelectorAll("[data-label]")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      const { label } = button.dataset;
      const others = words().filter((word) => word.toLowerCase() !== label.toLowerCase());
      labels.value = (others.length < words().length ? others : [...others, label]).join(", ");
      markLabels();
    });
  }
  labels.addEventListener("input", markLabels);
  markLabels();
}

/** The arrows of a message with versions lead to the page of the other one. */
const transcript = document.getElementById("transcript");
transcript?.addEventListener("click", ({ target }) => {
  const button = target.closest('button[data-action="switch"]');
  if (!button?.dataset.messageId) return;
  const url = new URL(transcript.dataset.here, location.href);
  url.searchParams.set("version", button.dataset.messageId);
  location.assign(url);
});
