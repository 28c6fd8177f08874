/** The buttons that copy the links of shares: in the dialog, and on the pages that list them. */
import { copy } from "./clipboard.js";

document.addEventListener("click", ({ target }) => {
  const button = target.closest('[data-action="copy-link"]');
  if (button) copy(button, button.dataset.url);
});
