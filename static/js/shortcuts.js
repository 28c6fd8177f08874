/** The list of keyboard shortcuts, and the notice about the demo model. */
import { store } from "./drafts.js";

const dialog = document.getElementById("shortcuts");
const demoBanner = document.getElementById("demo"); // null if the page was loaded with another model
const CLOSED_KEY = "plotline:demo-closed";

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (key !== "?" || ctrlKey || metaKey || altKey || target.closest("input, textarea, select, [contenteditable]")) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  dialog.showModal();
});

document.addEventListener("click", ({ target }) => {
  const action = target.closest("button[data-action]")?.dataset.action;
  if (action === "shortcuts") dialog.showModal();
  if (action === "close-demo") {
    store(localStorage, CLOSED_KEY, "");
    demoBanner.dataset.closed = "";
    document.getElementById("text").focus();
  }
});

if (demoBanner && localStorage.getItem(CLOSED_KEY) !== null) demoBanner.dataset.closed = "";
