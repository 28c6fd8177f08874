/**
 * Whether the files that code wrote still exist, and whether those that were kept are in storage.
 *
 * They end with the session. The messages' HTML cannot show this: it must equal the server's. So the server
 * renders all texts, and a style sheet of this module chooses among them.
 */
import { CallError, read } from "./api.js";
import { connection } from "./connection.js";

const REFRESH_AFTER_MS = 400;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
export const FILES = "li[data-name]";

const panel = document.getElementById("session");
const transcript = document.getElementById("transcript");
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** id of a list item -> `here`, `changed` (later code has written it), `gone` or `kept`. */
const states = new Map();
/** id of a list item -> status of the attachment that holds the file. */
const storage = new Map();
/** Whether a file was kept here whose list item does not name the attachment yet. */
let awaitsKept = false;

function render() {
  const rules = [];
  const show = (id, name, value) => rules.push(`#${CSS.escape(id)} [${name}="${value}"] { display: inline; }`);
  for (const [id, state] of states) {
    if (state === "here") continue;
    show(id, "data-when-file", state);
    if (state !== "changed") rules.push(`#${CSS.escape(id)} [data-when-file="here"] { display: none; }`);
    if (state === "gone") rules.push(`#${CSS.escape(id)} :is(a, button) { color: inherit; }`);
    if (state === "gone") rules.push(`#${CSS.escape(id)} a { text-decoration: line-through; }`);
  }
  for (const [id, status] of storage) show(id, "data-when-stored", status);
  sheet.replaceSync(rules.join("\n"));
}

export function fileState(id) {
  return states.get(id);
}

export function setFileState(id, state) {
  states.set(id, state);
  render();
  if (state === "kept") {
    awaitsKept = true;
    followKept();
  }
}

function stateOf({ dataset }, session) {
  const file = session.state === "running" && session.files.find(({ name }) => name === dataset.name);
  if (!file) return "gone";
  return file.modified_at === dataset.modifiedAt && String(file.size_bytes) === dataset.sizeBytes ? "here" : "changed";
}

/** Asks the server which files still exist, if the page shows any. */
export async function refreshFiles() {
  const items = transcript.querySelectorAll(`${FILES}:not([data-state-url])`);
  if (!items.length) return;
  try {
    const session = await read(panel.dataset.api);
    for (const item of items) if (states.get(item.id) !== "kept") states.set(item.id, stateOf(item, session));
    render();
  } catch (error) {
    // Keep the last known state.
    if (!(error instanceof CallError)) throw error;
  }
}

// --- whether kept files are in storage ---------------------------------------------------------------------------

/** Follows an attachment until it is in storage. */
async function followStorage(id, url, wait_ms = FIRST_WAIT_MS) {
  try {
    const { status } = await read(url);
    storage.set(id, status);
    render();
    if (status === "stored") return;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
  }
  setTimeout(() => followStorage(id, url, Math.min(2 * wait_ms, LONGEST_WAIT_MS)), wait_ms);
}

function followKept() {
  for (const { id, dataset } of transcript.querySelectorAll(`${FILES}[data-state-url]`)) {
    if (storage.has(id)) continue;
    awaitsKept = false;
    storage.set(id, "");
    followStorage(id, dataset.stateUrl);
  }
}

// --- changes -----------------------------------------------------------------------------------------------------

/** Returns what changes when an answer begins or ends. Checking all files for each frame would be slow. */
const lastState = () => `${transcript.lastElementChild?.id} ${transcript.lastElementChild?.dataset.status}`;
let seenState = lastState();
let refreshTimer = null;

connection.addEventListener("frame", () => {
  if (awaitsKept) followKept();
  if (lastState() === seenState) return;
  seenState = lastState();
  followKept();
  refreshTimer ??= setTimeout(() => {
    refreshTimer = null;
    refreshFiles();
  }, REFRESH_AFTER_MS);
});

// The session may have ended meanwhile.
document.addEventListener("visibilitychange", () => { if (!document.hidden) refreshFiles(); });

refreshFiles();
followKept();
