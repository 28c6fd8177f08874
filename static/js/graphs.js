/** The buttons below a graph: they show its code, copy its image, and begin a question about it. */
import { copyImage } from "./clipboard.js";
import { box } from "./text_box.js";

function showCode(fold) {
  fold.open = true;
  fold.scrollIntoView({ block: "start" });
  fold.querySelector("summary").focus({ preventScroll: true });
}

/** Puts the words before the draft, which stays as it is. */
function quote(words) {
  if (box.readOnly) return;
  if (!box.value.startsWith(words)) {
    box.value = words + box.value;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  box.focus();
  box.setSelectionRange(words.length, words.length);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("figure button[data-action]");
  if (!button) return;
  const { action, code, quote: words } = button.dataset;
  if (action === "show-code") showCode(document.getElementById(code));
  else if (action === "copy-image") copyImage(button, button.closest("figure").querySelector("img"));
  else if (action === "change-graph") quote(words);
});
