/** Copy buttons: for a block of code, and for a message, whose text is copied as Markdown. */
import { copy } from "./clipboard.js";

/** Returns the Markdown of a message. The page has that of questions; the server sends that of answers. */
async function messageText({ dataset }, message) {
  if (!dataset.url) return message.querySelector(".said")?.dataset.source ?? "";
  const response = await fetch(dataset.url, { headers: { Accept: "text/plain" }, redirect: "error" });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest('button[data-action="copy"]');
  if (!button) return;
  const code = button.closest(".code-block")?.querySelector("pre");
  copy(button, code ? code.textContent : messageText(button, button.closest("article")));
});
