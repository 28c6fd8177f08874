/**
 * Code and thoughts that the reader opens: their line stays where it is, and a reload shows them open again.
 */
import { settle, unpin } from "./scrolling.js";

const KEY = "plotline:open-folds";
const LIMIT = 200;
const FOLDS = "#transcript details.fold[id]";

const opened = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));

/** Opens what the reader had opened; also called for messages that were loaded later. */
export function reopen() {
  for (const fold of document.querySelectorAll(FOLDS)) if (opened.has(fold.id)) fold.open = true;
}

reopen();

// What opens appears below its line. Following the end would take the line away from the pointer.
document.addEventListener("click", ({ target }) => {
  if (target.closest("#transcript .parts summary")) unpin();
});

// `toggle` does not bubble, so it is caught on its way down.
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("#transcript details")) settle();
  if (!target.matches(FOLDS)) return;
  opened.delete(target.id);
  if (target.open) opened.add(target.id);
  localStorage.setItem(KEY, JSON.stringify([...opened].slice(-LIMIT)));
}, true);
