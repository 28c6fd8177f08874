/** Posts a form and returns `{isOk, data}`; `fetch` does not tell how much has been sent. */
export function post(url, headers, body, onProgress) {
  const request = new XMLHttpRequest();
  request.open("POST", url);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
  return new Promise((resolve, reject) => {
    request.addEventListener("load", () => resolve({ isOk: request.status >= 200 && request.status < 300, data: request.response ?? {} }));
    request.addEventListener("error", () => reject(new TypeError("no connection")));
    request.addEventListener("abort", () => reject(new TypeError("no connection")));
    request.send(body);
  });
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
