/**
 * Files for the next message: each is uploaded at once, shown as a chip, and sent by its id.
 *
 * `files` fires `change` and `refused` (`detail` is a message for the user).
 */
class Files extends EventTarget {
  #form = document.getElementById("composer");
  #chips = document.getElementById("files");
  #template = document.getElementById("file-template");

  /** Returns the uploaded files: `{id, name, size_bytes}`. */
  list() {
    return Array.from(this.#chips.children).filter(({ file }) => file).map(({ file }) => file);
  }

  isBusy() {
    return this.#chips.querySelector('[aria-busy="true"]') !== null;
  }

  clear() {
    this.#chips.replaceChildren();
  }

  restore(list) {
    for (const file of list) this.#setUploaded(this.#addChip(file.name), file);
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
    const name = source.name || "pasted file";
    if (source.size > (Number(fileLimitBytes) || Infinity)) {
      return `“${name}” is too large (${formatSize(source.size)}): a file may have ${formatSize(Number(fileLimitBytes))}.`;
    }
    if (this.#chips.children.length >= (Number(filesLimit) || Infinity)) {
      return `“${name}” was not attached: a message may have ${filesLimit} files.`;
    }
    return null;
  }

  #refuse(message) {
    this.dispatchEvent(new CustomEvent("refused", { detail: message }));
  }

  async #upload(source) {
    const chip = this.#addChip(source.name || "pasted file");
    const body = new FormData();
    body.append("file", source, source.name || "pasted");
    const headers = { "X-CSRFToken": this.#form.elements.csrfmiddlewaretoken.value, Accept: "application/json" };
    try {
      const response = await fetch(this.#form.dataset.uploadUrl, { method: "POST", body, headers });
      const data = await response.json().catch(() => ({}));
      if (!response.ok) throw new Error(data.detail ?? `${chip.file?.name ?? source.name} was refused by the server.`);
      this.#setUploaded(chip, { id: data.id, name: data.name, size_bytes: data.size_bytes });
    } catch (failure) {
      chip.remove();
      const isNetworkError = failure instanceof TypeError;
      this.#refuse(isNetworkError ? `${source.name} could not be uploaded: no connection.` : failure.message);
    }
    this.dispatchEvent(new Event("change"));
  }

  remove(chip) {
    chip.remove();
    this.dispatchEvent(new Event("change"));
  }

  #addChip(name) {
    const chip = this.#template.content.cloneNode(true).firstElementChild;
    chip.querySelector("bdi").textContent = name;
    chip.querySelector(".muted").textContent = "uploading…";
    chip.querySelector("button").setAttribute("aria-label", `Remove ${name}`);
    chip.setAttribute("aria-busy", "true");
    this.#chips.append(chip);
    return chip;
  }

  #setUploaded(chip, file) {
    chip.file = file;
    chip.removeAttribute("aria-busy");
    chip.querySelector(".muted").textContent = formatSize(file.size_bytes);
  }
}

function formatSize(size_bytes) {
  if (size_bytes < 1024) return `${size_bytes} bytes`;
  if (size_bytes < 1024 ** 2) return `${(size_bytes / 1024).toFixed(1)} KB`;
  return `${Number((size_bytes / 1024 ** 2).toFixed(1))} MB`;
}

export const files = new Files();

const input = document.getElementById("file");
const dropArea = document.getElementById("conversation");
const box = document.querySelector("#composer .box");

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
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  files.add(event.clipboardData.files);
});

dropArea.addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  box.dataset.drop = "";
});
dropArea.addEventListener("dragleave", () => delete box.dataset.drop);
dropArea.addEventListener("drop", (event) => {
  delete box.dataset.drop;
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  files.add(event.dataTransfer.files);
});
