/** The files of a project: uploads them one after the other, adds them to the project, and shows the new list. */
import { confirmsPublicData } from "./private_data.js";
import { acceptDroppedFiles, post } from "./upload.js";
import { whyNotTaken } from "./refusals.js";
import { words } from "./words.js";

const button = document.getElementById("project-add");
const input = document.getElementById("project-input");
const note = document.getElementById("project-note");
const dropHint = document.getElementById("project-drop");
const token = () => document.querySelector("[name=csrfmiddlewaretoken]").value;

/** Sends a form that leads back to this page, and replaces the list of files. Throws an error for the user. */
async function send(url, fields) {
  let response;
  try {
    response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": token() }, body: new URLSearchParams(fields) });
  } catch {
    throw new Error(words("No connection. Try again."));
  }
  const text = await response.text();
  if (response.status === 400) throw new Error(text);
  const list = new DOMParser().parseFromString(text, "text/html").getElementById("project-files");
  if (!response.ok || !list) throw new Error(words("This could not be saved. Reload the page and try again."));
  document.getElementById("project-files").replaceWith(list);
}

/** Uploads one file and adds it. Throws an error for the user. */
async function add(file) {
  const { uploadUrl, url, limitBytes } = button.dataset;
  if (file.size > Number(limitBytes)) throw new Error(words("“{name}” is too large.", { name: file.name }));
  const body = new FormData();
  body.append("file", file, file.name);
  const answer = await post(uploadUrl, { "X-CSRFToken": token() }, body, (share) => {
    note.textContent = `${file.name}: ${Math.floor(share * 100)} %`;
  });
  if (!answer.data.id) throw new Error(whyNotTaken(answer, file.name));
  await send(url, { attachment: answer.data.id });
}

async function addAll(files) {
  const errors = [];
  button.disabled = true;
  for (const file of files) {
    try {
      await add(file);
    } catch (error) {
      errors.push(error instanceof TypeError ? words("{name} could not be uploaded: no connection.", { name: file.name }) : error.message);
    }
  }
  button.disabled = false;
  note.toggleAttribute("data-error", errors.length > 0);
  note.textContent = errors.length ? [...new Set(errors)].join(" ") : words("Added.");
}

const settings = document.querySelector(".project-page form:has(fieldset[data-confirm])");
settings.addEventListener("submit", (event) => confirmsPublicData(settings) || event.preventDefault());
button.addEventListener("click", () => input.click());
input.addEventListener("change", async () => {
  await addAll(Array.from(input.files));
  input.value = "";
});

document.addEventListener("submit", async (event) => {
  if (!event.target.closest("#project-files")) return;
  event.preventDefault();
  try {
    await send(event.target.action, {});
    note.removeAttribute("data-error");
    note.textContent = words("Removed.");
    button.focus();
  } catch (error) {
    note.setAttribute("data-error", "");
    note.textContent = error.message;
  }
});

acceptDroppedFiles(dropHint, addAll);
