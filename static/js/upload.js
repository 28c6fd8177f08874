/** Sends a request and returns `{isOk, status, data, header, isRedirected}`; `fetch` does not tell how much has been sent. */
export function send(method, url, headers, body, onProgress, signal) {
  const request = new XMLHttpRequest();
  request.open(method, url);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  request.upload.addEventListener("progress", ({ loaded, total }) => onProgress?.(total ? loaded / total : 0));
  signal?.addEventListener("abort", () => request.abort());
  return new Promise((resolve, reject) => {
    request.addEventListener("load", () => {
      const { status } = request;
      const isRedirected = !request.responseURL.endsWith(url);
      resolve({ isOk: status >= 200 && status < 300, status, data: request.response ?? {}, header: (name) => request.getResponseHeader(name), isRedirected });
    });
    request.addEventListener("error", () => reject(new TypeError("no connection")));
    request.addEventListener("abort", () => reject(signal?.reason ?? new TypeError("no connection")));
    request.send(body);
  });
}

/** Posts a form. */
export const post = (url, headers, body, onProgress) => send("POST", url, headers, body, onProgress);

/** Returns the file under a name that is none of these. */
export function withNewName(source, names) {
  const [, stem, suffix] = source.name.match(/^(.*?)(\.[^.]*)?$/s);
  let name = source.name;
  for (let number = 2; names.includes(name); number += 1) name = `${stem}-${number}${suffix ?? ""}`;
  return name === source.name ? source : new File([source], name, { type: source.type });
}

/** Returns whether a text names a file in one of its lines, also as an address or without the suffix. Browsers name pictures `image.png`. */
function hasName(text, { name }) {
  const forms = [name, encodeURI(name), name === "image.png" ? name : name.replace(/\.[^.]*$/, "")].map((form) => form.normalize());
  return text.normalize().split(/[\r\n]+/).some((line) => forms.includes(line.trim().split(/[/\\]/).at(-1)));
}

/**
 * Returns the files of a clipboard; none if they are pictures of its text, which spreadsheets and other programs add. File managers
 * add the names of files as text, and browsers the address of a picture.
 */
export function pastedFiles(clipboard) {
  const pasted = Array.from(clipboard.files);
  const text = clipboard.getData("text/plain");
  const html = clipboard.getData("text/html");
  const isOfText = (file) => file.type.startsWith("image/") && !hasName(text, file);
  const isPicture = html.includes("<img") && !new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
  return text.trim() && !isPicture && pasted.every(isOfText) ? [] : pasted;
}

/**
 * Accepts files that are dropped anywhere on the page, and shows `hint` while files are dragged over it. Without this,
 * the browser would leave the page and open the file.
 */
export function acceptDroppedFiles(hint, add) {
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    hint.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    // Every element that the pointer leaves fires this; outside the page there is no related target.
    if (!event.relatedTarget) hint.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    hint.hidden = true;
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    // A folder cannot be uploaded.
    const items = Array.from(event.dataTransfer.items).filter((item) => item.kind === "file" && !item.webkitGetAsEntry()?.isDirectory);
    if (items.length) add(items.map((item) => item.getAsFile()));
  });
}
