/**
 * Loads modules that few pages need: when a message has what they handle, or at the first click. Such a click is
 * repeated once the module is there. `mark` is how the HTML of a frame shows that it brings something of `selector`.
 */
import { connection } from "./connection.js";
import { files } from "./files.js";
import { lastAnswer } from "./transcript.js";
import { words } from "./words.js";

const FAILED = words("A part of this page could not be loaded. Reload the page and try again.");
const note = document.getElementById("composer-note");
const transcript = document.getElementById("transcript");

const previews = { selector: '[data-action="preview"]', load: () => Promise.all([import("./previews.js"), loadStyles()]) };

/** The modules that are not loaded yet. Without a `mark`, only a click loads them. */
let missing = [
  previews,
  { selector: '[data-action="copy"]', mark: 'data-action="copy"', load: () => import("./copy.js") },
  { selector: ".message", mark: 'class="message"', load: loadStyles },
  { selector: '[data-action="ask"], [data-prompt], [data-text]', load: () => import("./examples.js") },
  { selector: "a.zoom", load: () => import("./lightbox.js") },
  { selector: "figure[data-graph-index]", mark: "data-graph-index=", load: () => import("./graphs.js") },
  { selector: '[data-status="running"] .output', mark: 'class="output"', load: () => import("./output_end.js") },
  { selector: ".numbers", mark: 'class="numbers"', load: () => import("./numbers.js") },
  { selector: ".table-box", mark: "table-box", load: () => import("./tables.js") },
  { selector: ".blocks", mark: 'class="blocks"', load: () => import("./long_texts.js") },
  { selector: '[data-action="read-aloud"]', load: () => import("./read_aloud.js") },
  { selector: ".rating", load: () => import("./feedback.js") },
  { selector: ".approval", mark: 'class="approval"', load: () => import("./approval.js") },
  { selector: "#export-menu a[download]", load: () => import("./exports.js") },
  { selector: '[data-action="share"]', load: () => import("./share.js") },
  { selector: '[data-action="move"]', load: () => import("./move.js") },
  { selector: ".written", mark: 'class="written"', load: () => import("./written_files.js") },
  // Code runs without it, too.
  { selector: ".app:has(> #session[data-exists]) [data-from-start]", mark: "data-from-start=", load: () => import("./session_line.js").catch(() => {}) },
  { selector: '[data-action="open-session"], [data-action="rerun"], [data-action="stop-rerun"], #session', load: () => loadSession() },
  { selector: '[data-action="entry-menu"], [data-action="mark"], [data-action="undo-delete"]', load: () => import("./marks.js") },
];

/** Loads the styles of answers, of tables, their previews and formulas, which a page without messages has left out. */
async function loadStyles() {
  for (const link of document.querySelectorAll("link[data-styles]:not([href])")) Object.assign(link, { rel: "stylesheet", href: link.dataset.styles });
}

async function loadSession() {
  await import("./session.js");
  await import("./written_files.js");
}

/** Loads a module once. A click that comes meanwhile waits for the same module. */
async function load(entry) {
  try {
    await (entry.loading ??= entry.load());
    missing = missing.filter((other) => other !== entry);
    return true;
  } catch {
    entry.loading = null;
    note.textContent = FAILED;
    return false;
  }
}

connection.addEventListener("before", ({ detail: html }) => {
  // Use a separate task: the first and last frames have many marks, and are long tasks already.
  for (const entry of missing) if (entry.mark && html.includes(entry.mark)) setTimeout(load, 0, entry);
});

document.addEventListener("click", async (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const pressed = event.target.closest("a, button");
  const entries = pressed ? missing.filter(({ selector }) => pressed.closest(selector)) : [];
  if (!entries.length) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const areLoaded = await Promise.all(entries.map(load));
  if (areLoaded.every(Boolean)) pressed.dispatchEvent(new MouseEvent("click", event));
}, true);

for (const entry of missing) if (entry.mark && transcript.querySelector(entry.selector)) load(entry);

// Files for the next message, which a draft may have brought back.
function loadPreviews() {
  if (files.list().length) load(previews);
}

// A selection would collapse when the answer that it is in grows.
document.addEventListener("selectionchange", function keep() {
  if (getSelection().isCollapsed) return;
  document.removeEventListener("selectionchange", keep);
  import("./kept_selection.js").catch(() => {});
});

if (localStorage.getItem("plotline:dictation")) import("./dictation.js").catch(() => {});

// What was pasted may be code.
document.addEventListener("paste", () => import("./pasted_code.js").catch(() => {}), { once: true });

for (const name of ["change", "shown"]) files.addEventListener(name, loadPreviews);
loadPreviews();

// What follows an answer while it is written, and the title: speech, marks of tabs, seconds of work. It is loaded before a
// person can ask, or with a frame if the answer or the title comes from another tab.
const FOLLOWED = /class="working|hx-target="#conversation-title"/;
const SIGNS = ["click", "input", "keydown"];

function follow() {
  for (const sign of SIGNS) document.removeEventListener(sign, follow, true);
  connection.removeEventListener("before", followFrame);
  loadStyles();
  const answer = lastAnswer()?.id;
  import("./announcer.js").then(({ begin }) => begin(answer), () => {});
  for (const later of [() => import("./background.js"), () => import("./seconds.js")]) later().catch(() => {});
}

function followFrame({ detail: html }) {
  if (FOLLOWED.test(html)) follow();
}

for (const sign of SIGNS) document.addEventListener(sign, follow, true);
connection.addEventListener("before", followFrame);
if (transcript.querySelector(".working")) follow();
// The page was opened from the result of a search.
if (location.search.includes("q=")) import("./found_words.js").catch(() => {});
// The panel was open before a reload, or its draft is restored; see session.js.
if (sessionStorage.getItem("plotline:session-open") === location.pathname) load(missing.find(({ selector }) => selector.includes("open-session")));
