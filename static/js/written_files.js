/** Files that code wrote: downloads, and keeping them as attachments. */
import { call, read } from "./api.js";
import { connection } from "./connection.js";
import { FILES, fileState, refreshFiles, setFileState } from "./file_states.js";
import { words } from "./words.js";

const panel = document.getElementById("session");
const note = document.getElementById("composer-note");

const goneSentence = ({ dataset }) => words("“{name}” is gone: it ended with the Python session. Only files that were kept stay.", { name: dataset.name });

/** Items for which a request is under way. */
const busy = new Set();
/** The item whose button had the focus when it was pressed. */
let keptId = null;

/** Returns whether the session still has the file of an item. */
async function isThere(item) {
  if (fileState(item?.id) === "gone") await refreshFiles();
  return fileState(item?.id) !== "gone";
}

/** Downloads a file that still exists, else shows why not. */
async function download(link, show) {
  const item = link.closest(FILES);
  if (!(await isThere(item))) return show(goneSentence(item));
  const response = await fetch(link.href, { method: "HEAD" }).catch(() => null);
  if (response?.ok) {
    const started = document.createElement("a");
    started.href = link.href;
    started.download = link.download;
    started.click();
    return;
  }
  try {
    // A response to HEAD has no body that says why.
    await read(link.href);
  } catch ({ message, status }) {
    show(message);
    if (item && status === 404) setFileState(item.id, "gone");
  }
}

/** Moves the focus to a kept file once its button, which had the focus, is gone. */
function restoreFocus() {
  const item = keptId && document.getElementById(keptId);
  if (!item || item.querySelector("button")) return;
  keptId = null;
  if (document.activeElement === document.body) item.querySelector("a").focus({ preventScroll: true });
}

async function keep(item, button) {
  const { name } = item.dataset;
  if (!(await isThere(item))) {
    note.textContent = goneSentence(item);
    return;
  }
  keptId = document.activeElement === button ? item.id : null;
  note.textContent = words("Keeping “{name}”…", { name });
  try {
    await call(button.dataset.url);
    note.textContent = words("“{name}” is kept. Later answers can use it, too.", { name });
    setFileState(item.id, "kept");
    restoreFocus();
  } catch ({ message, status }) {
    note.textContent = message;
    keptId = null;
    if (status === 410) setFileState(item.id, "gone");
  }
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest('a[data-action="download-file"]');
  const button = event.target.closest('button[data-action="keep-file"]');
  const source = link ?? button;
  if (!source) return;
  if (link) event.preventDefault();
  const key = source.closest(FILES)?.id ?? link.href;
  if (busy.has(key) || (button && fileState(key) === "kept")) return;
  busy.add(key);
  const place = panel.contains(source) ? document.getElementById("session-error") : note;
  place.textContent = "";
  await (link ? download(link, (message) => { place.textContent = message; }) : keep(button.closest(FILES), button));
  busy.delete(key);
});

connection.addEventListener("frame", restoreFocus);
