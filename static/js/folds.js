/** Remembers which code and thoughts the reader has opened, so that a reload shows them open again. */
const KEY = "plotline:open-folds";
const LIMIT = 200;
const FOLDS = "#transcript details.fold[id]";

const opened = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));

/** Opens what the reader had opened; also called for messages that were loaded later. */
export function reopen() {
  for (const fold of document.querySelectorAll(FOLDS)) if (opened.has(fold.id)) fold.open = true;
}

reopen();

// `toggle` does not bubble, so it is caught on its way down.
document.addEventListener("toggle", ({ target }) => {
  if (!target.matches(FOLDS)) return;
  opened.delete(target.id);
  if (target.open) opened.add(target.id);
  localStorage.setItem(KEY, JSON.stringify([...opened].slice(-LIMIT)));
}, true);
