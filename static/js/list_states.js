/**
 * The states of other conversations in the list: an answer is being written, waits for a decision, or was not read yet.
 *
 * The server renders them. This module asks for them while one of these answers is being written, when the tab becomes
 * visible, and when another tab of this browser tells of a change; a hidden tab asks for nothing. It also tells the server
 * that the end of an answer was seen in the open conversation.
 */
import { connection } from "./connection.js";
import { refresh } from "./conversation_list.js";
import { holdsEnd } from "./reader.js";

const POLL_MS = 3000;
const IDS_LIMIT = 100;
const PREFIX = "entry-";
const LIVE = ["queued", "running", "waiting"];

const list = document.getElementById("conversations");
const page = document.getElementById("conversation");
const composer = document.getElementById("composer");
const { q, open } = document.getElementById("search").elements;
const tabs = new BroadcastChannel("plotline:conversations");

const idOf = ({ id }) => id.slice(PREFIX.length);
const entryOf = (id) => document.getElementById(`${PREFIX}${id}`);

// --- other conversations -----------------------------------------------------------------------------------------

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
    if (ids.every(entryOf)) htmx.swap({ sourceElement: page, target: page, swap: "none", text: html, transition: false });
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

// --- the open conversation ---------------------------------------------------------------------------------------

const lastAnswer = () => document.querySelector('#transcript [data-role="model"]:last-child');
const stateOf = (answer) => `${answer?.id} ${answer?.dataset.status}`;
let shown = stateOf(lastAnswer());
/** Whether an answer has ended, and the server does not know yet that it was seen. */
let isUnread = false;

const tell = (isNew) => tabs.postMessage({ id: open.value, isNew });

async function markRead() {
  if (!isUnread || document.hidden || !holdsEnd()) return;
  isUnread = false;
  try {
    const headers = { "X-CSRFToken": composer.elements.csrfmiddlewaretoken.value };
    // With `keepalive`, the request is sent even if the reader leaves the page at once.
    const body = new URLSearchParams({ message_id: lastAnswer().dataset.messageId });
    const response = await fetch(`/c/${open.value}/read/`, { method: "POST", headers, body, redirect: "manual", keepalive: true });
    isUnread = response.status >= 500;
  } catch {
    isUnread = true;
  }
  tell(false);
}

connection.addEventListener("frame", () => {
  const answer = lastAnswer();
  const state = stateOf(answer);
  if (state === shown) return;
  shown = state;
  isUnread = answer !== null && !LIVE.includes(answer.dataset.status);
  if (isUnread && !document.hidden) markRead();
  else tell(true);
});

connection.addEventListener("open", markRead);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else {
    markRead();
    update(entries());
  }
});

// The page was opened, so its answer is read now.
tell(false);
schedule();
