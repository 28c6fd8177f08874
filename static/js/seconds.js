/**
 * Shows for how many seconds the code of an answer runs, or the model thinks. A page that is opened meanwhile does not know
 * when that began, and shows none; after a reload, the tab does know.
 */
import { connection } from "./connection.js";
import { words } from "./words.js";

const KEY = "plotline:work-began";
/** Status line -> kind of the last part while it is shown. */
const KINDS = { code: "executable_code", thought: "thought" };
/** How a frame shows that it adds to a live answer. Others bring a message as it is, whenever its work began. */
const ADDITION = '-parts" hx-swap="beforeend"';
/** What is counted, and since when: `{work, at}`, or null. `at` is null if this page does not know. */
let began = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
let isAddition = false;
let timer = null;

/** Returns the line of the status that is shown, and a key of the work that it names; null if nothing is counted. */
function findWork() {
  const lines = [...document.querySelectorAll("#transcript .working:not(.waiting) [data-when]")];
  const line = lines.find((one) => getComputedStyle(one).display !== "none");
  const kind = KINDS[line?.dataset.when];
  if (!kind) return null;
  const article = line.closest("article");
  // Each piece of code, and each thought, is counted on its own.
  const pieces = article.querySelectorAll(`[data-part-kind="${kind}"]`).length;
  return { line, key: `${article.id} ${kind} ${pieces}` };
}

function show() {
  const work = findWork();
  const seconds = work && began?.at ? Math.floor((Date.now() - began.at) / 1000) : 0;
  for (const line of document.querySelectorAll("#transcript [data-seconds]")) if (line !== work?.line) delete line.dataset.seconds;
  if (seconds > 0) work.line.dataset.seconds = words("{seconds} s", { seconds });
  else if (work) delete work.line.dataset.seconds;
}

/** Starts or ends counting. `isNew`: whether the work began just now. */
function update(isNew) {
  const work = findWork();
  if (!work) {
    began = null;
    sessionStorage.removeItem(KEY);
  } else if (work.key !== began?.work) {
    began = { work: work.key, at: isNew ? Date.now() : null };
    sessionStorage.setItem(KEY, JSON.stringify(began));
  }
  clearInterval(timer);
  timer = work ? setInterval(show, 1000) : null;
  show();
}

update(false);
connection.addEventListener("before", ({ detail: html }) => {
  isAddition = html.includes(ADDITION);
});
connection.addEventListener("frame", () => update(isAddition));
