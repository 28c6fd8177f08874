/**
 * Keeps the list of conversations right: the open conversation is in view, moves to the top with a new message, and
 * the headings follow the reader's own days.
 */
import { connection } from "./connection.js";
import { isLive } from "./transcript.js";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const YEAR_S = 365 * 24 * 3600;
const list = document.getElementById("conversations");
const fields = document.getElementById("search").elements;
const archivedBanner = document.getElementById("archived");
const today = () => new Date().toDateString();

let listDay = today();

/** Returns the parameters with which the server renders the current list. */
export function listParameters() {
  const { q, open } = fields;
  const group = list.querySelector("[data-group]")?.dataset.group ?? "";
  return { q: q.value, group: q.value ? "" : group, open: open.value };
}

/** Renders the list anew. */
export function refresh() {
  listDay = today();
  const parameters = new URLSearchParams(listParameters());
  return htmx.ajax("GET", `/conversations/?${parameters}`, { target: list, swap: "innerMorph" });
}

const openEntry = () => document.getElementById(`entry-${fields.open.value}`);

/** Scrolls the list, and nothing else, until the open conversation is in view. */
export function showOpenEntry() {
  const entry = openEntry()?.getBoundingClientRect();
  if (!entry) return;
  const { top, bottom } = list.getBoundingClientRect();
  if (entry.top < top) list.scrollTop += entry.top - top - entry.height;
  else if (entry.bottom > bottom) list.scrollTop += entry.bottom - bottom + entry.height;
}

/** Returns whether the open conversation is the first one below its heading, as the newest has to be. */
function isOnTop() {
  const heading = openEntry()?.previousElementSibling?.dataset.heading;
  return heading === "pinned" || heading === "today";
}

/** The id of the answer for which the list was checked last. */
let checkedId = null;

connection.addEventListener("frame", () => {
  if (!isLive()) return;
  const { id } = document.querySelector('#transcript [data-role="model"]:last-child') ?? {};
  // A new message also restores an archived conversation.
  const wasArchived = !archivedBanner.hidden;
  archivedBanner.hidden = true;
  if (id === checkedId && !wasArchived) return;
  checkedId = id;
  if (!fields.q.value && (wasArchived || !isOnTop())) refresh().then(showOpenEntry);
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && listDay !== today() && !fields.q.value) refresh();
});

if (!document.cookie.split("; ").includes(`timezone=${ZONE}`)) {
  document.cookie = `timezone=${ZONE}; path=/; max-age=${YEAR_S}; samesite=lax`;
  // The server has grouped the list by days in UTC.
  if (new Date().getTimezoneOffset()) refresh();
}
showOpenEntry();
