/**
 * The line above the message box about variables that another version has made, and its button, which runs the code of the
 * shown version again from the start. It is there only if the shown version has code.
 */
import { CallError, read } from "./api.js";
import { connection } from "./connection.js";

const REFRESH_AFTER_MS = 400;

const line = document.getElementById("other-variables");
const panel = document.getElementById("session");
const transcript = document.getElementById("transcript");

const blocks = () => transcript.querySelectorAll('[data-action="rerun"][data-from-start]');

async function refresh() {
  try {
    const isOther = blocks().length > 0 && (await read(panel.dataset.api)).is_other_branch;
    line.hidden = !isOther;
  } catch (error) {
    // The last state that is known stays.
    if (!(error instanceof CallError)) throw error;
  }
}

/** Returns what changes with the version, with the end of an answer, and with code that is run again. */
const shownState = () => `${transcript.lastElementChild?.id} ${transcript.lastElementChild?.dataset.status} ${blocks().length}`;
let seenState = shownState();
let refreshTimer = null;

connection.addEventListener("frame", () => {
  if (shownState() === seenState) return;
  seenState = shownState();
  refreshTimer ??= setTimeout(() => {
    refreshTimer = null;
    refresh();
  }, REFRESH_AFTER_MS);
});

line.querySelector("button").addEventListener("click", () => {
  const last = Array.from(blocks()).at(-1);
  if (!last) return;
  for (let fold = last.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  last.scrollIntoView({ block: "center" });
  // Its result, or why it cannot run, is shown there and in the panel, as for a click on it.
  last.click();
});

// The panel has asked, too: the session may have been restarted, or have ended.
panel.addEventListener("refreshed", refresh);
refresh();
