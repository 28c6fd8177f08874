/**
 * The states of other conversations in the list: an answer is being written, waits for a decision, or was not read yet.
 *
 * The server renders them. This module asks for them while one of these answers is being written, when the tab becomes
 * visible, and when another tab of this browser reports a change; a hidden tab asks for nothing.
 */
import { refresh } from "./conversation_list.js";

const POLL_MS = 3000;
const IDS_LIMIT = 100;
const PREFIX = "entry-";

const list = document.getElementById("conversations");
const { q, open } = document.getElementById("search").elements;
export const tabs = new BroadcastChannel("plotline:conversations");

const idOf = ({ id }) => id.slice(PREFIX.length);
const entryOf = (id) => document.getElementById(`${PREFIX}${id}`);

/** The ids of the entries to ask for. */
const wanted = new Set();
let isAsking = false;
let timer = null;
/** The URL that was asked last, and the ETag of its answer. */
let last = { url: "", etag: "" };

async function ask(ids) {
  const url = `/conversations/states/?ids=${ids.join(",")}`;
  try {
    const headers = url === last.url ? { "If-None-Match": last.etag } : {};
    const response = await fetch(url, { headers, redirect: "manual" });
    if (response.status !== 200) return;
    last = { url, etag: response.headers.get("ETag") ?? "" };
    const html = await response.text();
    if (ids.every(entryOf)) htmx.swap({ sourceElement: list, target: list, swap: "none", text: html, transition: false });
  } catch {
    // Without a connection, the next attempt asks again.
  }
}

async function update(ids) {
  for (const id of ids) if (id !== open?.value && entryOf(id)) wanted.add(id);
  if (isAsking || document.hidden) return;
  isAsking = true;
  while (wanted.size) {
    const next = Array.from(wanted).slice(0, IDS_LIMIT);
    wanted.clear();
    await ask(next);
  }
  isAsking = false;
  schedule();
}

const entries = (state = "") => Array.from(list.querySelectorAll(`li[id^="${PREFIX}"]${state}`), idOf);
const running = () => entries(':has([data-state="running"])');

function schedule() {
  clearTimeout(timer);
  if (!document.hidden && running().length) timer = setTimeout(() => update(running()), POLL_MS);
}

// The list was rendered anew, or extended.
new MutationObserver(schedule).observe(list, { childList: true, subtree: true });

tabs.addEventListener("message", ({ data: { id, isNew } }) => {
  if (entryOf(id)) update([id]);
  else if (isNew && !q.value && !document.hidden) refresh();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else update(entries());
});

schedule();
