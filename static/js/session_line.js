/**
 * The line above the message box about the Python session: it ends soon, its variables are gone, or another version has
 * made them. Its button keeps the session, or runs all code of the shown version again. The panel has such buttons, too.
 */
import { call, CallError, read } from "./api.js";
import { connection } from "./connection.js";
import { save } from "./settings.js";
import { words } from "./words.js";

const REFRESH_AFTER_MS = 400;
const SOON_S = 300;
/** Time that the server may need to end an expired session. */
const END_S = 8;

const line = document.getElementById("session-line");
const sentence = document.createElement("span");
const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet" });
const panel = document.getElementById("session");
const transcript = document.getElementById("transcript");
const note = document.getElementById("composer-note");

/** What the server has said about the session. */
let state = {};
/** When it ends if it is not used, or null. The clock of this machine may differ from the server's. */
let endsAt_ms = null;
let isReplaying = false;
let refreshTimer = null;
let endTimer = null;

const blocks = () => transcript.querySelectorAll('[data-action="rerun"][data-from-start]');
const secondsLeft = () => endsAt_ms === null ? Infinity : Math.max(0, Math.ceil((endsAt_ms - Date.now()) / 1000));
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

async function refresh() {
  try {
    state = blocks().length || !panel.hidden ? await read(panel.dataset.api) : {};
  } catch (error) {
    // Keep the last known state.
    if (!(error instanceof CallError)) throw error;
    return;
  }
  endsAt_ms = Number.isFinite(state.seconds_left) ? Date.now() + state.seconds_left * 1000 : null;
  clearTimeout(endTimer);
  const left = secondsLeft();
  if (left < Infinity) endTimer = setTimeout(refresh, (left > SOON_S ? left - SOON_S : left + END_S) * 1000);
  show();
}

/** Returns what the line says, what its button says, and what it does; null if there is nothing to say. */
function content() {
  if (isReplaying) return [words("Running everything again…"), words("Stop"), "stop-replay"];
  if (!blocks().length) return null;
  if (state.can_replay) {
    const what = state.state === "running" ? words("The session was restarted. Its variables are gone.") : words("The session has ended. Its variables are gone.");
    return [what, words("Run everything again"), "replay"];
  }
  if (state.is_other_branch) {
    return [words("The session holds variables of another version."), words("Run this version from the start"), "replay"];
  }
  const left = secondsLeft();
  if (left > SOON_S) return null;
  return [words("The session ends in {time} if it is not used.", { time: clock(left) }), words("Keep it for a day"), "keep"];
}

function show() {
  const shown = content();
  line.hidden = !shown;
  if (shown) [sentence.textContent, button.textContent, button.dataset.action] = shown;
  // Hide a button without words.
  if (!shown) line.replaceChildren();
  else if (!button.isConnected) line.append(sentence, button);
  const inPanel = panel.querySelector("[data-ends-soon]");
  if (inPanel && secondsLeft() <= SOON_S) inPanel.textContent = clock(secondsLeft());
}

setInterval(() => {
  if (secondsLeft() <= SOON_S && !document.hidden) show();
}, 1000);

/** Calls the API about the session, and shows its state afterwards, or why that was refused. */
async function change(name, body = {}) {
  note.textContent = "";
  try {
    return await call(`${panel.dataset.api}${name}/`, body);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    note.textContent = error.message;
    if (!panel.hidden) document.getElementById("session-error").textContent = error.message;
    return null;
  } finally {
    panel.dispatchEvent(new Event("stale"));
    refresh();
  }
}

/** Runs all code again. The last block shows its output meanwhile, and how it compares with the one before. */
async function replay() {
  const last = Array.from(blocks()).at(-1);
  for (let fold = last?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  last?.scrollIntoView({ block: "center" });
  isReplaying = true;
  show();
  const answer = await change("replay").finally(() => { isReplaying = false; });
  if (answer) note.textContent = answer.detail;
}

document.addEventListener("click", async ({ target }) => {
  const pressed = target.closest("button[data-action]");
  const { action, keep, nightly } = pressed?.dataset ?? {};
  if (action === "replay" && !isReplaying) replay();
  if (action === "stop-replay") transcript.querySelector('[data-action="stop-rerun"]')?.click();
  if (action === "nightly") {
    const refusal = await save({ nightly });
    document.getElementById("session-error").textContent = refusal;
    const done = nightly === "true" ? words("All code runs again each night, while this conversation is pinned.") : words("Code does not run again each night any more.");
    note.textContent = refusal || done;
    panel.dispatchEvent(new Event("stale"));
  }
  if (action === "keep" && await change("keep", { keep: keep !== "no" })) {
    note.textContent = keep === "no" ? words("The Python session is not kept any more.") : words("The Python session is kept for a day.");
  }
});

/** Returns what changes with the version, with the end of an answer, and with code that is run again. */
const shownState = () => `${transcript.lastElementChild?.id} ${transcript.lastElementChild?.dataset.status} ${blocks().length}`;
let seenState = shownState();

connection.addEventListener("frame", () => {
  if (shownState() === seenState) return;
  seenState = shownState();
  refreshTimer ??= setTimeout(() => {
    refreshTimer = null;
    refresh();
  }, REFRESH_AFTER_MS);
});

// The panel has read the state: the session may have been restarted, or have ended.
panel.addEventListener("refreshed", refresh);
refresh();
