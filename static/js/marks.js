/**
 * The menu of an entry in the list: pins, archives and deletes through htmx, and opens the dialogs of sidebar.js and move.js.
 * Deletion does not ask first, because it can be undone.
 */
import { listParameters } from "./conversation_list.js";
import { words } from "./words.js";

const MARGIN_PX = 4;
const FAILED = words("This could not be saved. Reload the page and try again.");
const GONE = words("This conversation has been deleted. It cannot be restored any more.");
const NOTICE_MS = 20_000;
const menu = document.getElementById("entry-menu");
const form = menu.querySelector("form");
const notice = document.getElementById("sidebar-notice");
const [pin, archive, rename, move, remove] = menu.querySelectorAll("button");

function openMenu(button) {
  const { url, title, pinned, archived } = button.dataset;
  for (const item of [pin, archive]) item.dataset.url = url;
  pin.lastChild.textContent = pinned === undefined ? words("Pin") : words("Unpin");
  pin.dataset.value = String(pinned === undefined);
  pin.hidden = archived !== undefined;
  archive.lastChild.textContent = archived === undefined ? words("Archive") : words("Unarchive");
  archive.dataset.value = String(archived === undefined);
  Object.assign(rename.dataset, { url: `${url}rename/`, title });
  move.dataset.url = `${url}move/`;
  remove.dataset.url = `${url}delete/`;
  menu.showPopover({ source: button });
  const { bottom, right, top } = button.getBoundingClientRect();
  const { offsetHeight, offsetWidth } = menu;
  const isBelow = bottom + offsetHeight + MARGIN_PX < innerHeight;
  menu.style.top = `${isBelow ? bottom + MARGIN_PX : Math.max(MARGIN_PX, top - offsetHeight - MARGIN_PX)}px`;
  menu.style.left = `${Math.max(MARGIN_PX, right - offsetWidth)}px`;
  menu.querySelector("button:not([hidden])").focus();
}

/** Shows an error below the list. */
export function refuse(sentence) {
  const line = document.createElement("p");
  line.className = "refusal";
  line.textContent = sentence;
  notice.replaceChildren(line);
}

/** Posts to a URL of a conversation. The answer of the server changes the list and the notice below it. */
function post(url, values = {}) {
  notice.querySelector(".refusal")?.remove();
  htmx.ajax("POST", url, { source: form, swap: "none", values: { ...values, ...listParameters() } });
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action } = button?.dataset ?? {};
  if (action === "entry-menu") openMenu(button);
  else if (menu.contains(button)) menu.hidePopover();
  const { url, mark, value } = button?.dataset ?? {};
  if (action === "mark") post(`${url}marks/`, { [mark]: value });
  if (action === "delete" || action === "undo-delete") post(url);
});

let clearTimer = null;

function handleChange() {
  // The panel offers nightly runs of a pinned conversation.
  document.getElementById("session")?.dispatchEvent(new Event("stale"));
  notice.querySelector("button")?.focus();
  clearTimeout(clearTimer);
  // After this time, the list of archived conversations still offers to restore an archived conversation.
  const { seconds } = notice.firstElementChild?.dataset ?? {};
  clearTimer = setTimeout(() => notice.replaceChildren(), seconds ? seconds * 1000 : NOTICE_MS);
}

form.addEventListener("htmx:after:request", (event) => {
  const { response } = event.detail.ctx;
  if (response.status === 200 && !response.raw.redirected) return;
  event.preventDefault();
  refuse(response.status === 404 ? GONE : FAILED);
});
form.addEventListener("htmx:after:swap", handleChange);
form.addEventListener("htmx:error", () => refuse(words("This could not be saved: no connection. Try again.")));
