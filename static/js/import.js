/** The form that imports a file. The script says why a file is not taken, also if a server in front refuses it. */
import { post, whyNotTaken } from "./upload.js";
import { words } from "./words.js";

const form = document.getElementById("import-form");
const note = document.getElementById("import-note");
const progress = document.getElementById("import-progress");
const button = form.querySelector("[type=submit]");

/** Sends the file, and goes to the page that shows its conversations. Throws an error for the user. */
async function send(file) {
  const limitBytes = Number(form.dataset.limitBytes);
  if (file.size > limitBytes) {
    throw new Error(words("“{name}” is too large: at most {limit} MB can be imported here. Whoever runs this server can import more.", { name: file.name, limit: Math.floor(limitBytes / 1024 ** 2) }));
  }
  const answer = await post(form.action, {}, new FormData(form), (share) => {
    progress.textContent = share < 1 ? `${Math.floor(share * 100)} %` : words("Importing…");
  });
  if (!answer.isOk) throw new Error(whyNotTaken(answer, file.name));
  // Without an address the login has ended, and this page leads to it.
  location.assign(answer.data.url ?? location.href);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [file] = form.elements.file.files;
  button.disabled = note.hidden = true;
  try {
    await send(file);
  } catch (error) {
    note.hidden = false;
    note.textContent = error instanceof TypeError ? words("{name} could not be uploaded: no connection.", { name: file.name }) : error.message;
  }
  button.disabled = false;
  progress.textContent = "";
});
