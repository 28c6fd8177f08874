/**
 * The conversation's settings: two choices in the composer that save themselves, and the dialog that has them all.
 * What was saved is what each control falls back to.
 */
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

/** The sentence that says why `fields` were not saved; empty when they were. */
async function save(fields) {
  // A body of this kind keeps line breaks as they are.
  const body = new URLSearchParams(fields);
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value, Accept: "text/plain" };
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers, redirect: "manual" });
    if (answer.status === 204) return "";
    if (answer.status === 400) return await answer.text();
    if (answer.type === "opaqueredirect" || answer.status === 403) return "You are no longer logged in. Reload the page and log in.";
    return "This could not be saved. Try again.";
  } catch {
    return "This could not be saved: no connection. Try again.";
  }
}

/** Shows a saved value wherever it is shown, as what to fall back to. */
function remember(name, value) {
  const select = form.elements[name];
  if (select) {
    if (!select.value.startsWith("once-")) select.value = value;
    select.dataset.saved = value;
  }
  for (const field of dialogForm.querySelectorAll(`[name="${name}"]`)) {
    if (field.type === "radio") field.checked = field.defaultChecked = field.value === value;
    else field.defaultValue = field.value = value;
  }
}

async function saveChoice({ currentTarget: select }) {
  const { name, value } = select;
  if (value.startsWith("once-")) return;
  const sentence = await save({ [name]: value });
  if (!sentence) remember(name, value);
  else if (select.value === value) select.value = select.dataset.saved;
  note.textContent = sentence;
}

modelChoice.addEventListener("change", saveChoice);
codeChoice.addEventListener("change", saveChoice);

// --- code for the next message only ------------------------------------------------------------------------------

/** `on` or `off` for the next message alone; empty: as the conversation has it. */
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

function count() {
  const limit_bytes = Number(instruction.dataset.limitBytes);
  const size_bytes = new TextEncoder().encode(instruction.value).length;
  size.textContent = `${(size_bytes / 1024).toFixed(1)} of ${limit_bytes / 1024} KB`;
  size.toggleAttribute("data-over", size_bytes > limit_bytes);
}

instruction.addEventListener("input", count);
dialogForm.addEventListener("reset", () => error.replaceChildren());
document.addEventListener("click", ({ target }) => {
  if (!target.closest('[data-action="settings"]')) return;
  count();
  dialog.showModal();
  dialogForm.querySelector('[name="model"]:checked')?.closest("label").scrollIntoView({ block: "nearest" });
});

dialogForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = new FormData(dialogForm);
  fields.delete("csrfmiddlewaretoken");
  const sentence = await save(fields);
  error.textContent = sentence;
  if (sentence) return;
  for (const [name, value] of fields) remember(name, value);
  announcer.textContent = "Settings saved.";
  dialog.close();
});
