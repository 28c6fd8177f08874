/** Exports: if the server refuses a download, the page shows why and stays. */
import { read } from "./api.js";

const note = document.getElementById("composer-note");

document.addEventListener("click", async (event) => {
  const link = event.target.closest("#export-menu a[download]");
  if (!link) return;
  event.preventDefault();
  document.getElementById("export-menu").hidePopover();
  note.textContent = "";
  const response = await fetch(link.href, { method: "HEAD", headers: { Accept: "application/json" }, redirect: "error" }).catch(() => null);
  if (response?.ok) {
    const started = document.createElement("a");
    started.href = link.href;
    started.download = "";
    started.click();
    return;
  }
  try {
    // A response to HEAD has no body that says why.
    await read(link.href);
  } catch ({ message }) {
    note.textContent = message;
  }
});
