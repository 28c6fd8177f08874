/** The list of conversations: the open conversation is in view, and the headings follow the reader's own days. */
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const YEAR_S = 365 * 24 * 3600;
const list = document.getElementById("conversations");
const fields = document.getElementById("search").elements;
const today = () => new Date().toDateString();

let listDay = today();

/** Returns the parameters with which the server renders the current list. */
export function listParameters() {
  const { q, open } = fields;
  const group = list.querySelector("[data-group]")?.dataset.group ?? "";
  return { q: q.value, group: q.value ? "" : group, open: open?.value ?? "" };
}

/** Renders the list anew. */
export function refresh() {
  listDay = today();
  // A list of imported, or of older, conversations stays as it was opened.
  if (/[?&](?:imported|after)=/.test(location.search)) return Promise.resolve();
  const parameters = new URLSearchParams(listParameters());
  return htmx.ajax("GET", `/conversations/?${parameters}`, { target: list, swap: "innerMorph" });
}

export const openEntry = () => document.getElementById(`entry-${fields.open?.value}`);

/** Scrolls the list, and nothing else, until the open conversation is in view. */
export function showOpenEntry() {
  const entry = openEntry()?.getBoundingClientRect();
  if (!entry) return;
  const { top, bottom } = list.getBoundingClientRect();
  if (entry.top < top) list.scrollTop += entry.top - top - entry.height;
  else if (entry.bottom > bottom) list.scrollTop += entry.bottom - bottom + entry.height;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && listDay !== today() && !fields.q.value) refresh();
});

if (!document.cookie.split("; ").includes(`timezone=${ZONE}`)) {
  document.cookie = `timezone=${ZONE}; path=/; max-age=${YEAR_S}; samesite=lax`;
  // The server has grouped the list by days in UTC.
  if (new Date().getTimezoneOffset()) refresh();
}
showOpenEntry();
