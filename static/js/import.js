/** The form that imports a file, which may be dropped anywhere on the page. Large files are sent in pieces. The script says why a file is not taken. */
import { acceptDroppedFiles, post } from "./upload.js";
import { whyNotTaken } from "./refusals.js";
import { words } from "./words.js";

const form = document.getElementById("import-form");
const note = document.getElementById("import-note");
const progress = document.getElementById("import-progress");
const button = form.querySelector("[type=submit]");
const cancelButton = document.getElementById("import-cancel");
/** Larger files are imported in the background. HTML takes half a second of work for each megabyte. */
const wholeLimitBytes = ({ name }) => Number(form.dataset.wholeLimitBytes) / (/\.html?$/i.test(name) ? 8 : 1);
const percent = (share) => `${Math.floor(share * 100)} %`;

/** Sends the file, and goes to the page that shows its conversations. Throws an error for the user. */
async function send(file) {
  const limitBytes = Number(form.dataset.limitBytes);
  if (file.size > limitBytes) {
    throw new Error(words("“{name}” is too large: at most {limit} MB can be imported here. Whoever runs this server can import more.", { name: file.name, limit: Math.floor(limitBytes / 1024 ** 2) }));
  }
  if (file.size > wholeLimitBytes(file)) {
    location.assign(await sendInPieces(file));
    return;
  }
  const answer = await post(form.action, {}, new FormData(form), (share) => {
    progress.textContent = share < 1 ? percent(share) : words("Importing…");
  });
  if (!answer.isOk) throw new Error(whyNotTaken(answer, file.name));
  // Without a URL, the login has ended; this page leads to it.
  location.assign(answer.data.url ?? location.href);
}

/** Uploads a large file, and returns the URL of the page with its progress. */
async function sendInPieces(file) {
  const { PieceUpload } = await import("./pieces.js");
  const upload = new PieceUpload(file, form.elements.csrfmiddlewaretoken.value, {
    onProgress: (share) => (progress.textContent = percent(share)),
    onPause: () => (progress.textContent = words("The connection is interrupted. The upload goes on by itself.")),
  });
  const cancel = () => upload.cancel();
  cancelButton.addEventListener("click", cancel);
  cancelButton.hidden = false;
  try {
    return await upload.run(form.dataset.uploadsUrl);
  } finally {
    cancelButton.removeEventListener("click", cancel);
    cancelButton.hidden = true;
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [file] = form.elements.file.files;
  button.disabled = note.hidden = true;
  try {
    await send(file);
  } catch (error) {
    note.hidden = error.name === "AbortError";
    note.textContent = error instanceof TypeError ? words("{name} could not be uploaded: no connection.", { name: file.name }) : error.message;
  }
  button.disabled = false;
  progress.textContent = "";
});

acceptDroppedFiles(document.getElementById("import-drop"), ([file, ...others]) => {
  if (button.disabled) return;
  note.hidden = !others.length;
  note.textContent = words("“{name}” is chosen. Files are imported one at a time: drop the others after it.", { name: file.name });
  const chosen = new DataTransfer();
  chosen.items.add(file);
  form.elements.file.files = chosen.files;
  button.focus();
});
