/**
 * Previews of attached tables: a card for each file in the composer, and a dialog for the files of messages. Their controls
 * change how a table is read; the answer is the new preview.
 */
import { files } from "./files.js";
import { words } from "./words.js";

const form = document.getElementById("composer");
const cards = document.getElementById("previews");
const dialog = document.getElementById("preview");
const newer = dialog.querySelector("a[data-url]");
const announcer = document.getElementById("announcer");
const FOLD = "details:not(.reading)";
const suffixes = form.dataset.tableSuffixes.split(" ");

/** id of an attachment -> promise of the HTML of its preview, which is empty if there is none. */
const previews = new Map();

function load(id) {
  if (!previews.has(id)) previews.set(id, request(id));
  return previews.get(id);
}

function post(id, call, body) {
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  // A redirect leads to the page for logging in.
  return fetch(`${form.dataset.uploadUrl}${id}/${call}/`, { method: "POST", headers, body, redirect: "error" });
}

async function request(id) {
  try {
    const response = await post(id, "preview");
    if (response.status === 200) return await response.text();
  } catch {
    // Without a connection there is no preview.
  }
  previews.delete(id);
  return "";
}

function unfold(preview) {
  const fold = preview.querySelector(FOLD);
  if (fold) fold.open = true;
}

const isTable = ({ name }) => suffixes.includes(name.toLowerCase().split(".").at(-1));

// --- cards in the composer -----------------------------------------------------------------------------------------

async function addCard({ id, name }) {
  const card = document.createElement("div");
  card.dataset.id = id;
  cards.append(card);
  card.innerHTML = await load(id);
  if (!card.isConnected || !card.firstChild) return;
  announcer.textContent = words("Preview of {name} is shown.", { name });
}

let isUpdating = false;

/** Shows the cards of the files that are attached now. */
function update() {
  if (isUpdating) return;
  isUpdating = true;
  // A new draft first removes all files and then adds its own.
  queueMicrotask(() => {
    isUpdating = false;
    const tables = files.list().filter(isTable);
    const ids = new Set(tables.map(({ id }) => id));
    for (const card of Array.from(cards.children)) if (!ids.delete(card.dataset.id)) card.remove();
    for (const file of tables) if (ids.has(file.id)) addCard(file);
  });
}

files.addEventListener("change", update);
files.addEventListener("shown", update);
update();

// --- the dialog ----------------------------------------------------------------------------------------------------

async function show({ id, name }, question) {
  newer.hidden = !question;
  newer.href = newer.dataset.url.replace("00000000-0000-0000-0000-000000000000", id);
  const content = dialog.querySelector(".content");
  content.textContent = words("Reading “{name}”…", { name });
  dialog.dataset.id = id;
  dialog.showModal();
  const html = await load(id);
  if (dialog.dataset.id !== id) return;
  if (html) {
    content.innerHTML = html;
    unfold(content);
  } else content.textContent = words("There is no preview of “{name}” now.", { name });
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest('button[data-action="preview"], #preview button[data-text]');
  if (button?.dataset.action === "preview") show(button.dataset, button.closest('[data-role="user"]'));
  else if (button) dialog.close();
});

// --- how a table is read -------------------------------------------------------------------------------------------

const READ_AGAIN = words("The table was read again.");
const NOT_SAVED = words("This could not be saved. Reload the page and try again.");

/** Sends the choices, or resets them, and shows the table as it is then read. */
async function choose(preview, isAutomatic) {
  const id = preview.dataset.file;
  const controls = Array.from(preview.querySelectorAll(".reading :is(select, input)"));
  const body = new URLSearchParams(isAutomatic ? { automatic: "1" } : controls.map(({ name, value }) => [name, value]));
  const focused = document.activeElement?.id;
  preview.setAttribute("aria-busy", "true");
  for (const control of controls) control.disabled = true;
  let html = "";
  try {
    const response = await post(id, "reading", body);
    // A refusal shows the former table and an alert.
    if ([200, 400].includes(response.status)) html = await response.text();
    announcer.textContent = response.status === 200 ? READ_AGAIN : html ? "" : NOT_SAVED;
  } catch {
    announcer.textContent = NOT_SAVED;
  }
  previews.delete(id);
  if (html) {
    preview.insertAdjacentHTML("afterend", html);
    unfold(preview.nextElementSibling);
    preview.remove();
  } else {
    preview.removeAttribute("aria-busy");
    for (const control of controls) control.disabled = false;
  }
  const again = document.getElementById(focused) ?? document.querySelector(`[data-file="${id}"] .reading > summary`);
  again?.focus({ preventScroll: true });
}

document.addEventListener("change", ({ target }) => {
  if (target.closest(".table-preview .reading")) choose(target.closest(".table-preview"), false);
});

// A card is low, so the controls would open below its end.
document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.matches(".table-preview .reading")) target.scrollIntoView({ block: "nearest" });
}, true);

document.addEventListener("click", ({ target }) => {
  const button = target.closest('.table-preview button[data-action="automatic"]');
  if (button) choose(button.closest(".table-preview"), true);
});
