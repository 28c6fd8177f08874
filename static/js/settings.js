/**
 * The conversation's settings: two selects in the composer that are saved at once, and a dialog with all settings.
 * `web_search.js` handles the switch beside the selects.
 * Each control remembers its saved value and returns to it if a change is rejected.
 */
import { tenths, words } from "./words.js";

const form = document.getElementById("settings");
const modelChoice = document.querySelector('select[name="model"]');
export const codeChoice = document.querySelector('select[name="code_execution"]');
const dialog = document.getElementById("conversation-settings");
const dialogForm = dialog.querySelector("form");
const instruction = dialogForm.elements.system_instruction;
const size = document.getElementById("instruction-size");
const error = dialog.querySelector(".error");
const note = document.getElementById("composer-note");
const announcer = document.getElementById("announcer");
const transcript = document.getElementById("transcript");

/** Fires `saved` for each setting that the server has saved; `detail` is its name and value. */
export const settings = new EventTarget();

/** Returns what the page knows of the chosen model: the data of its option. */
export const chosenModel = () => modelChoice.selectedOptions[0]?.dataset ?? {};

/** Saves the fields; returns an error message, or an empty string if they were saved. */
export async function save(fields) {
  // Unlike multipart form data, this encoding preserves line breaks.
  const body = new URLSearchParams(fields);
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value, Accept: "text/plain" };
  try {
    const response = await fetch(form.action, { method: "POST", body, headers, redirect: "manual" });
    if (response.status === 204) return "";
    if (response.status === 400) return await response.text();
    if (response.type === "opaqueredirect" || response.status === 403) return words("You are no longer logged in. Reload the page and log in.");
    return words("This could not be saved. Try again.");
  } catch {
    return words("This could not be saved: no connection. Try again.");
  }
}

/** Shows a saved value in all its controls, as the value to return to. */
export function applySaved(name, value) {
  const select = form.elements[name];
  if (select) {
    if (!select.value.startsWith("once-")) select.value = value;
    select.dataset.saved = value;
  }
  for (const field of dialogForm.querySelectorAll(`[name="${name}"]`)) {
    if (field.type === "radio") field.checked = field.defaultChecked = field.value === value;
    else field.defaultValue = field.value = value;
  }
  settings.dispatchEvent(new CustomEvent("saved", { detail: { name, value } }));
}

/** Shows what an empty conversation says about the model and the settings that are saved now. */
function refreshEmptyPage() {
  if (transcript.children.length) return;
  htmx.ajax("GET", location.pathname, { source: form, target: "#empty", select: "#empty", swap: "outerHTML" });
}

async function saveChoice({ currentTarget: select }) {
  const { name, value } = select;
  if (value.startsWith("once-")) return;
  const errorMessage = await save({ [name]: value });
  if (!errorMessage) {
    applySaved(name, value);
    refreshEmptyPage();
  } else if (select.value === value) select.value = select.dataset.saved;
  note.textContent = errorMessage;
}

modelChoice.addEventListener("change", saveChoice);
codeChoice.addEventListener("change", saveChoice);

// --- code for the next message only ------------------------------------------------------------------------------

/** Returns `on` or `off` for the next message only; empty if the conversation's setting applies. */
export function codeOnce() {
  return codeChoice.value.startsWith("once-") ? codeChoice.value.slice("once-".length) : "";
}

export function resumeCodeOnce(mode) {
  if (mode) codeChoice.value = `once-${mode}`;
}

export function endCodeOnce() {
  codeChoice.value = codeChoice.dataset.saved;
}

// --- the dialog --------------------------------------------------------------------------------------------------

function showSize() {
  const limit_bytes = Number(instruction.dataset.limitBytes);
  const size_bytes = new TextEncoder().encode(instruction.value).length;
  size.textContent = words("{size} of {limit} KB", { size: tenths(size_bytes / 1024), limit: limit_bytes / 1024 });
  size.toggleAttribute("data-over", size_bytes > limit_bytes);
}

function isChanged(control) {
  return control.type === "radio" ? control.checked !== control.defaultChecked : control.value !== control.defaultValue;
}

instruction.addEventListener("input", showSize);
dialogForm.addEventListener("reset", () => error.replaceChildren());
document.addEventListener("click", ({ target }) => {
  if (!target.closest('[data-action="settings"]')) return;
  showSize();
  dialog.showModal();
  dialogForm.querySelector('[name="model"]:checked')?.closest("label").scrollIntoView({ block: "nearest" });
});

dialogForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  // The other settings may have been changed in another tab since.
  const changed = new Set(Array.from(dialogForm.elements).filter(isChanged).map(({ name }) => name));
  const fields = Array.from(new FormData(dialogForm)).filter(([name]) => changed.has(name));
  if (changed.has("private_data") && !(await import("./private_data.js")).confirmsPublicData(dialogForm)) return;
  const errorMessage = fields.length ? await save(fields) : "";
  error.textContent = errorMessage;
  if (errorMessage) return;
  for (const [name, value] of fields) applySaved(name, value);
  refreshEmptyPage();
  if (changed.has("private_data")) htmx.ajax("GET", location.pathname, { source: form, target: "#conversation-project", select: "#conversation-project", swap: "outerHTML" });
  // The announcer is silent while a dialog is open.
  dialog.close();
  announcer.textContent = words("Settings saved.");
});
