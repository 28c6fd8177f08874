/** The sidebar, which is a drawer on a phone, its fold of projects, and the dialog that renames a conversation. */
import { showOpenEntry } from "./conversation_list.js";

const FOLD_KEY = "plotline:projects";
const sidebar = document.getElementById("sidebar");
const opener = document.querySelector('[data-action="open-sidebar"]');

function setOpen(isOpen) {
  sidebar.toggleAttribute("data-open", isOpen);
  opener.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) {
    sidebar.querySelector("a, button").focus();
    showOpenEntry();
  } else opener.focus();
}

function openRename({ url, title }) {
  const dialog = document.getElementById("rename");
  const form = dialog.querySelector("form");
  form.action = url;
  form.elements.title.value = title;
  // The menu gives the focus back to its button, to which the dialog then gives it back, too.
  document.getElementById("entry-menu").hidePopover();
  dialog.showModal();
  form.elements.title.select();
}

/** The dialog beside which the pointer went down, or null: a selection may begin inside a dialog and end outside. */
let pressedBackdrop = null;

document.addEventListener("pointerdown", ({ target, clientX, clientY }) => {
  const { left, right, top, bottom } = target.getBoundingClientRect();
  const isBeside = clientX < left || clientX > right || clientY < top || clientY > bottom;
  pressedBackdrop = target.tagName === "DIALOG" && isBeside ? target : null;
});

document.addEventListener("click", ({ target }) => {
  const { action, url, title } = target.closest("[data-action]")?.dataset ?? {};
  if (action === "open-sidebar") setOpen(true);
  if (action === "close-sidebar") setOpen(false);
  if (action === "rename") openRename({ url, title });
  if (action === "close-dialog" || target === pressedBackdrop) target.closest("dialog").close();
});

// Whether the projects are folded is remembered in this browser. Moving a conversation replaces the fold.
const projects = document.getElementById("projects");
const fold = () => projects.querySelector("details");
if (localStorage.getItem(FOLD_KEY) === "folded") fold().open = false;
// This event does not bubble.
projects.addEventListener("toggle", () => {
  if (fold().open) localStorage.removeItem(FOLD_KEY);
  else localStorage.setItem(FOLD_KEY, "folded");
}, true);

const deleted = document.getElementById("deleted"); // null unless a conversation has just been deleted
if (deleted) {
  // A reload of the page does not offer it again.
  history.replaceState(history.state, "", location.pathname);
  setTimeout(() => deleted.remove(), deleted.dataset.seconds * 1000);
}

sidebar.addEventListener("keydown", (event) => {
  // Escape closes an open menu first.
  if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || sidebar.querySelector(":popover-open")) return;
  if (sidebar.hasAttribute("data-open")) setOpen(false);
});

document.addEventListener("keydown", function loadLists({ key }) {
  if (key !== "Tab") return;
  document.removeEventListener("keydown", loadLists);
  import("./one_stop_lists.js").catch(() => {});
});
