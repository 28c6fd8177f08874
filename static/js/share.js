/** The dialog with the links of a conversation. Without this module, its button leads to a page with the same content. */
import "./copy_link.js";
import { words } from "./words.js";

const dialog = document.getElementById("share");
const links = document.getElementById("share-links");
const note = document.getElementById("composer-note");

async function open(url) {
  links.replaceChildren();
  try {
    await htmx.ajax("GET", url, { target: "#share-links", swap: "innerHTML" });
  } catch {
    // The page shows the error.
  }
  if (!links.querySelector(".new-share")) location.assign(url);
  else dialog.showModal();
}

links.addEventListener("htmx:after:request", ({ detail }) => {
  const { status, raw } = detail.ctx.response;
  if (status !== 400 && (!raw.ok || raw.redirected)) dialog.close();
  if (!raw.ok && status !== 400) note.textContent = words("This could not be saved. Reload the page and try again.");
});

document.addEventListener("click", (event) => {
  const link = event.target.closest('[data-action="share"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link.href);
});
