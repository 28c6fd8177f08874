/**
 * Files chosen for the next message: uploaded at once, shown as chips, sent by id.
 *
 * `files` fires `change`, and `refused` (detail: a sentence).
 */
class Files extends EventTarget {
  #form = document.getElementById("composer");
  #chips = document.getElementById("files");
  #template = document.getElementById("file-template");

  /** Of those that have arrived: `{id, name, size_bytes}`. */
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
    for (const file of list) this.#arrive(this.#chip(file.name), file);
  }

  /** Upload those that may be; of the others one `refused` tells. */
  add(sources) {
    const refusals = [];
    for (const source of sources) {
      const refusal = this.#refusal(source);
      if (refusal) refusals.push(refusal);
      else this.#upload(source);
    }
    if (refusals.length) this.#refuse(refusals.join(" "));
  }

  /** Why the server would not take it: known here, so that nobody waits for an upload in vain. */
  #refusal(source) {
    const { fileLimitBytes, filesLimit } = this.#form.dataset;
    const name = source.name || "pasted file";
    if (source.size > (Number(fileLimitBytes) || Infinity)) {
      return `“${name}” is too large (${sizeInWords(source.size)}): a file may have ${sizeInWords(Number(fileLimitBytes))}.`;
    }
    if (this.#chips.children.length >= (Number(filesLimit) || Infinity)) {
      return `“${name}” was not attached: a message may have ${filesLimit} files.`;
    }
    return null;
  }

  #refuse(sentence) {
    this.dispatchEvent(new CustomEvent("refused", { detail: sentence }));
  }

  async #upload(source) {
    const chip = this.#chip(source.name || "pasted file");
    const body = new FormData();
    body.append("file", source, source.name || "pasted");
    const headers = { "X-CSRFToken": this.#form.elements.csrfmiddlewaretoken.value, Accept: "application/json" };
    try {
      const answer = await fetch(this.#form.dataset.uploadUrl, { method: "POST", body, headers });
      const told = await answer.json().catch(() => ({}));
      if (!answer.ok) throw new Error(told.detail ?? `${chip.file?.name ?? source.name} was refused by the server.`);
      this.#arrive(chip, { id: told.id, name: told.name, size_bytes: told.size_bytes });
    } catch (failure) {
      chip.remove();
      const sentence = failure instanceof TypeError ? `${source.name} could not be uploaded: no connection.` : failure.message;
      this.#refuse(sentence);
    }
    this.dispatchEvent(new Event("change"));
  }

  remove(chip) {
    chip.remove();
    this.dispatchEvent(new Event("change"));
  }

  #chip(name) {
    const chip = this.#template.content.cloneNode(true).firstElementChild;
    chip.querySelector("bdi").textContent = name;
    chip.querySelector(".muted").textContent = "uploading…";
    chip.querySelector("button").setAttribute("aria-label", `Remove ${name}`);
    chip.setAttribute("aria-busy", "true");
    this.#chips.append(chip);
    return chip;
  }

  #arrive(chip, file) {
    chip.file = file;
    chip.removeAttribute("aria-busy");
    chip.querySelector(".muted").textContent = sizeInWords(file.size_bytes);
  }
}

function sizeInWords(size_bytes) {
  if (size_bytes < 1024) return `${size_bytes} bytes`;
  if (size_bytes < 1024 ** 2) return `${(size_bytes / 1024).toFixed(1)} KB`;
  return `${Number((size_bytes / 1024 ** 2).toFixed(1))} MB`;
}

export const files = new Files();

const input = document.getElementById("file");
const area = document.getElementById("conversation");
const frame = document.querySelector("#composer .box");

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

area.addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  frame.dataset.drop = "";
});
area.addEventListener("dragleave", () => delete frame.dataset.drop);
area.addEventListener("drop", (event) => {
  delete frame.dataset.drop;
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  files.add(event.dataTransfer.files);
});
