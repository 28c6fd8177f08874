/** Moves the focus to the text box when the control that had it is hidden: Send, Stop, an example, Try now, Jump. */
import { connection } from "./connection.js";
import { outbox } from "./outbox.js";
import { box } from "./text_box.js";
import { isLive } from "./transcript.js";

// On other devices, the focus would open the keyboard.
const hasMouse = matchMedia("(hover: hover)");

function recoverFocus() {
  const { activeElement } = document;
  const isLost = !activeElement || activeElement === document.body || !activeElement.getClientRects().length;
  if (isLost && hasMouse.matches) box.focus({ preventScroll: true });
}

let wasLive = isLive();

connection.addEventListener("frame", () => {
  // Send is hidden when an answer begins, and Stop when it ends.
  if (wasLive !== isLive()) recoverFocus();
  wasLive = isLive();
});
connection.addEventListener("open", recoverFocus);
outbox.addEventListener("accepted", recoverFocus);
document.addEventListener("click", ({ target }) => {
  if (target.closest('[data-action="jump"]')) recoverFocus();
});
