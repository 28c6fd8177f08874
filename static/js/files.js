/**
 * Files for the next message: each is uploaded at once, shown as a chip, and sent by its id.
 *
 * `files` fires `change`, `shown` after another draft was put into the box, and `refused` (`detail` is a message for the
 * user).
 */
import { acceptDroppedFiles, pastedFiles, post, withNewName } from "./upload.js";
import { tenths, words } from "./words.js";

class Files extends EventTarget {
  #form = document.getElementById("composer");
  #chips = document.getElementById("files");
  #template = document.getElementById("file-template");

  /** Returns the uploaded files: `{id, name, size_bytes?}`. */
  list() {
    return Array.from(this.#chips.children).filter(({ file }) => file).map(({ file }) => file);
  }

  /** Returns the file under a name that no other file of this message has. Browsers call every pasted picture `image.png`. */
  named(source) {
    return withNewName(source, Array.from(this.#chips.querySelectorAll("bdi"), ({ textContent }) => textContent));
  }

  isBusy() {
    return this.#chips.querySelector('[aria-busy="true"]') !== null;
  }

  /** Removes the uploaded files. The others belong to the next message. */
  clear() {
    for (const chip of Array.from(this.#chips.children)) if (chip.file) chip.remove();
    this.dispatchEvent(new Event("shown"));
  }

  restore(list) {
    for (const file of list) this.#setUploaded(this.#addChip(file.name), file);
    this.dispatchEvent(new Event("shown"));
  }

  /** Uploads the files that are allowed, and fires one `refused` event for all others. */
  add(sources) {
    const refusals = [];
    for (const source of sources) {
      const refusal = this.#findRefusal(source);
      if (refusal) refusals.push(refusal);
      else this.#upload(source);
    }
    if (refusals.length) this.#refuse(refusals.join(" "));
  }

  /** Returns why the server would refuse the file, or null, so that users do not wait for a useless upload. */
  #findRefusal(source) {
    const { fileLimitBytes, filesLimit } = this.#form.dataset;
    const name = source.name || words("pasted file");
    if (source.size > (Number(fileLimitBytes) || Infinity)) {
      return words("“{name}” is too large ({size}): a file may have {limit}.", { name, size: formatSize(source.size), limit: formatSize(Number(fileLimitBytes)) });
    }
    if (this.#chips.children.length >= (Number(filesLimit) || Infinity)) {
      return words("“{name}” was not attached: a message may have {limit} files.", { name, limit: filesLimit });
    }
    return null;
  }

  #refuse(message) {
    this.dispatchEvent(new CustomEvent("refused", { detail: message }));
  }

  async #upload(source) {
    const chip = this.#addChip(source.name || words("pasted file"));
    const body = new FormData();
    body.append("file", source, source.name || "pasted");
    const headers = { "X-CSRFToken": this.#form.elements.csrfmiddlewaretoken.value, Accept: "application/json" };
    try {
      const answer = await post(this.#form.dataset.uploadUrl, headers, body, (share) => {
        chip.querySelector(".muted").textContent = share < 1 ? `${Math.floor(share * 100)} %` : words("storing…");
      });
      // A proxy may answer with its login page.
      if (!answer.data.id) throw new Error((await import("./refusals.js")).whyNotTaken(answer, source.name));
      const { id, name, size_bytes } = answer.data;
      this.#setUploaded(chip, { id, name, size_bytes });
    } catch (failure) {
      chip.remove();
      const isNetworkError = failure instanceof TypeError;
      this.#refuse(isNetworkError ? words("{name} could not be uploaded: no connection.", { name: source.name }) : failure.message);
    }
    this.dispatchEvent(new Event("change"));
  }

  remove(chip) {
    const next = chip.nextElementSibling ?? chip.previousElementSibling;
    chip.remove();
    (next?.querySelector("button") ?? this.#form.elements.text).focus();
    this.dispatchEvent(new Event("change"));
  }

  #addChip(name) {
    const chip = this.#template.content.cloneNode(true).firstElementChild;
    chip.querySelector("bdi").textContent = name;
    chip.querySelector(".muted").textContent = words("uploading…");
    const button = chip.querySelector("button");
    button.title = words("Remove {name}", { name });
    button.setAttribute("aria-label", button.title);
    chip.setAttribute("aria-busy", "true");
    this.#chips.append(chip);
    return chip;
  }

  #setUploaded(chip, file) {
    chip.file = file;
    // The server converts some pictures.
    chip.querySelector("bdi").textContent = file.name;
    chip.removeAttribute("aria-busy");
    // The size of an earlier message's file is unknown.
    chip.querySelector(".muted").textContent = file.size_bytes === undefined ? "" : formatSize(file.size_bytes);
  }
}

function formatSize(size_bytes) {
  if (size_bytes < 1024) return words("{number} bytes", { number: size_bytes });
  if (size_bytes < 1024 ** 2) return `${tenths(size_bytes / 1024)} KB`;
  return `${tenths(size_bytes / 1024 ** 2, 0)} MB`;
}

export const files = new Files();

const input = document.getElementById("file");
const dropHint = document.getElementById("drop-hint");

input.addEventListener("change", () => {
  files.add(input.files);
  input.value = "";
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  if (button?.dataset.action === "attach") input.click();
  if (button?.dataset.action === "remove-file") files.remove(button.closest("li"));
});

document.getElementById("text").addEventListener("paste", (event) => {
  const pasted = pastedFiles(event.clipboardData);
  if (!pasted.length) return;
  event.preventDefault();
  for (const file of pasted) files.add([files.named(file)]);
});

acceptDroppedFiles(dropHint, (dropped) => files.add(dropped));
