/** The menu of an entry in the list: pins and archives through htmx, and opens the dialogs of sidebar.js. */
import { connection } from "./connection.js";
import { isLive } from "./transcript.js";

const MARGIN_PX = 4;
const NOTICE_MS = 20_000;
const menu = document.getElementById("entry-menu");
const form = menu.querySelector("form");
const list = document.getElementById("conversations");
const notice = document.getElementById("sidebar-notice");
const composerNote = document.getElementById("composer-note");
const [pin, archive, ...dialogs] = menu.querySelectorAll("button");

/** Returns the parameters with which the server renders the current list. */
function listParameters() {
  const { q, open } = document.getElementById("search").elements;
  const group = list.querySelector("[data-group]")?.dataset.group ?? "";
  return { q: q.value, group: q.value ? "" : group, open: open.value };
}

function openMenu(button) {
  const { url, title, name, pinned, archived } = button.dataset;
  for (const item of [pin, archive]) item.dataset.url = url;
  pin.textContent = pinned === undefined ? "Pin" : "Unpin";
  pin.dataset.value = String(pinned === undefined);
  pin.hidden = archived !== undefined;
  archive.textContent = archived === undefined ? "Archive" : "Unarchive";
  archive.dataset.value = String(archived === undefined);
  for (const item of dialogs) {
    const { action } = item.dataset;
    Object.assign(item.dataset, { url: `${url}${action}/`, title: action === "rename" ? title : name });
  }
  menu.showPopover({ source: button });
  const { bottom, right, top } = button.getBoundingClientRect();
  const { offsetHeight, offsetWidth } = menu;
  const isBelow = bottom + offsetHeight + MARGIN_PX < innerHeight;
  menu.style.top = `${isBelow ? bottom + MARGIN_PX : Math.max(MARGIN_PX, top - offsetHeight - MARGIN_PX)}px`;
  menu.style.left = `${Math.max(MARGIN_PX, right - offsetWidth)}px`;
  menu.querySelector("button:not([hidden])").focus();
}

function mark({ url, mark: name, value }) {
  composerNote.textContent = "";
  htmx.ajax("POST", `${url}marks/`, { source: form, swap: "none", values: { [name]: value, ...listParameters() } });
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action } = button?.dataset ?? {};
  if (action === "entry-menu") openMenu(button);
  else if (menu.contains(button)) menu.hidePopover();
  if (action === "mark") mark(button.dataset);
});

let clearTimer = null;

function handleChange() {
  notice.querySelector("button")?.focus();
  clearTimeout(clearTimer);
  // After this time, the list of archived conversations still offers to restore the conversation.
  clearTimer = setTimeout(() => notice.replaceChildren(), NOTICE_MS);
}

form.addEventListener("htmx:after:request", (event) => {
  const { response } = event.detail.ctx;
  if (response.status === 200 && !response.raw.redirected) return;
  event.preventDefault();
  composerNote.textContent = "This could not be saved. Reload the page and try again.";
});
form.addEventListener("htmx:after:swap", handleChange);
form.addEventListener("htmx:error", () => { composerNote.textContent = "This could not be saved: no connection. Try again."; });

// A new message restores an archived conversation.
connection.addEventListener("frame", () => {
  const banner = document.getElementById("archived");
  if (banner.hidden || !isLive()) return;
  banner.hidden = true;
  const parameters = new URLSearchParams(listParameters());
  htmx.ajax("GET", `/conversations/?${parameters}`, { target: list, swap: "innerMorph" });
});
