/**
 * Shows for how many seconds the code of an answer runs, or the model thinks. A page that is opened meanwhile does not know
 * when that began, and shows none; after a reload, the tab does know.
 */
import { connection } from "./connection.js";
import { words } from "./words.js";

const KEY = "plotline:work-began";
const COUNTED = new Set(["code", "thought"]);
/** What is counted, and since when: `{work, at}`. `at` is null if this page does not know. */
let began = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
let timer = null;

/** Returns the line of the status that is shown, and a key of the work that it names. */
function findWork() {
  const line = document.querySelector("#transcript .working:not(.waiting)");
  const shown = line && [...line.querySelectorAll("[data-when]")].find((one) => getComputedStyle(one).display !== "none");
  if (!shown || !COUNTED.has(shown.dataset.when)) return {};
  const article = line.closest("article");
  // Each piece of code, and each thought, is counted on its own.
  const pieces = article.querySelectorAll(`[data-part-kind="${shown.dataset.when === "code" ? "executable_code" : "thought"}"]`);
  return { line, work: `${article.id} ${shown.dataset.when} ${pieces.length}` };
}

function show() {
  const { line, work } = findWork();
  if (!work) return;
  const seconds = began.at === null ? 0 : Math.floor((Date.now() - began.at) / 1000);
  if (seconds > 0) line.dataset.seconds = words("{seconds} s", { seconds });
  else delete line.dataset.seconds;
}

/** Begins or ends to count. `isNew`: whether the work began just now. */
function update(isNew) {
  const { work } = findWork();
  if (work && work !== began?.work) {
    began = { work, at: isNew ? Date.now() : null };
    sessionStorage.setItem(KEY, JSON.stringify(began));
  }
  if (!work) document.querySelector("#transcript .working[data-seconds]")?.removeAttribute("data-seconds");
  clearInterval(timer);
  timer = work ? setInterval(show, 1000) : null;
  if (work) show();
}

update(false);
connection.addEventListener("frame", () => update(true));
