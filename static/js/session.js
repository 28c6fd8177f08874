/** The panel of the Python session: its state, and running blocks of answers again. */
import { call } from "./api.js";
import { connection, isOpen } from "./connection.js";
import { store } from "./drafts.js";
import { refreshFiles } from "./file_states.js";
import { focusInHeader } from "./head_menu.js";
import { connectForm } from "./own_code.js";
import "./session_line.js";
import { words } from "./words.js";

// `forget.js` removes keys that begin like this.
const OPEN_KEY = "plotline:session-open";
const REFRESH_AFTER_MS = 400;
const CHECK_EVERY_MS = 10_000;
const BUSY_AFTER_MS = 700;
const VERDICTS = { reproduced: words("reproduced"), differs: words("differs"), failed: words("failed"), stopped: words("stopped") };
const CALLS = { interrupt: "interrupt", restart: "restart", "end-session": "close" };
const DONE = {
  interrupt: words("Interrupted."),
  restart: words("The session was restarted. Its variables are gone. “Run everything again” restores them."),
  "end-session": words("The session has ended. Its variables are gone. “Run everything again” restores them."),
};
const RUNNING = 'article[data-status="running"] .code-end[data-end=""]';
const RESULTS = '[data-part-kind="code_execution_result"]:not([data-outcome=""])';

const panel = document.getElementById("session");
const error = document.getElementById("session-error");
const opener = document.querySelector('[data-action="open-session"]');
const announcer = document.getElementById("announcer");
const transcript = document.getElementById("transcript");

async function attempt(action) {
  error.textContent = "";
  try {
    await action();
  } catch (failure) {
    error.textContent = failure.message;
    announcer.textContent = failure.message;
  }
}

// --- the panel -----------------------------------------------------------------------------------------------

let shownResults = -1;
let refreshTimer = null;

function refresh() {
  clearTimeout(refreshTimer);
  refreshTimer = null;
  shownResults = transcript.querySelectorAll(RESULTS).length;
  const shown = htmx.ajax("GET", panel.dataset.url, { source: panel, target: "#session-state", swap: "outerMorph" });
  Promise.resolve(shown).then(() => {
    panel.dispatchEvent(new Event("refreshed"));
    refreshSoon();
  });
}

/** Reloads the state if code has ended, or runs and the panel does not show it. */
function refreshSoon() {
  if (panel.hidden || refreshTimer) return;
  const isBusy = panel.querySelector('[data-action="interrupt"]:enabled') !== null;
  if (transcript.querySelectorAll(RESULTS).length !== shownResults) refreshTimer = setTimeout(refresh, REFRESH_AFTER_MS);
  else if (!isBusy && transcript.querySelector(RUNNING)) refreshTimer = setTimeout(refresh, BUSY_AFTER_MS);
}

function setOpen(isOpen) {
  panel.hidden = !isOpen;
  opener.setAttribute("aria-expanded", String(isOpen));
  store(sessionStorage, OPEN_KEY, isOpen ? location.pathname : "");
  if (isOpen) refresh();
}

function close() {
  setOpen(false);
  focusInHeader(opener);
}

connection.addEventListener("frame", refreshSoon);
panel.addEventListener("stale", () => {
  if (!panel.hidden) refresh();
});

/** A kernel may end while no code runs. No frame says so. */
function checkKernel() {
  const { state } = document.getElementById("session-state").dataset;
  if (!panel.hidden && !document.hidden && isOpen() && state !== "stopped") refresh();
}

setInterval(checkKernel, CHECK_EVERY_MS);
connection.addEventListener("open", checkKernel);

function rerunUrl(button) {
  const { messageId } = button.closest("article").dataset;
  return panel.dataset.rerunUrl.replace("00000000-0000-0000-0000-000000000000", messageId).replace("/0/", `/${button.dataset.index}/`);
}

async function runAgain(button) {
  const url = rerunUrl(button);
  const group = button.parentElement;
  for (const one of group.querySelectorAll("button")) one.disabled = true;
  group.setAttribute("aria-busy", "true");
  announcer.textContent = words("Running this code again.");
  await attempt(async () => {
    const { verdict, detail } = await call(url, { from_start: button.dataset.fromStart === "yes" });
    announcer.textContent = `${VERDICTS[verdict] ?? verdict}: ${detail}`;
    if (!panel.hidden) refresh();
  });
  group.removeAttribute("aria-busy");
  for (const one of group.querySelectorAll("button")) one.disabled = false;
  if (error.textContent) setOpen(true);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action } = button?.dataset ?? {};
  if (action === "open-session") setOpen(panel.hidden);
  if (action === "close-session") close();
  if (action in CALLS) {
    attempt(async () => {
      await call(`${panel.dataset.api}${CALLS[action]}/`);
      announcer.textContent = DONE[action];
      // It would hide the new offer.
      if (action !== "interrupt") document.getElementById("own-output").hidden = true;
      refresh();
      refreshFiles();
    });
  }
  if (action === "rerun") runAgain(button);
  if (action === "stop-rerun") {
    button.disabled = true;
    attempt(() => call(`${rerunUrl(button)}stop/`)).then(() => (button.disabled = false));
  }
});

panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing && event.keyCode !== 229) close();
});

connectForm(attempt, refreshSoon);
// Other conversations begin without it.
if (sessionStorage.getItem(OPEN_KEY) === location.pathname && innerWidth > 1152) setOpen(true);
