/**
 * The user's message that is edited. The composer replaces it meanwhile, and the draft from before is restored
 * afterwards.
 */
import { connection } from "./connection.js";
import { unpin } from "./scrolling.js";

const form = document.getElementById("composer");
const notice = document.getElementById("editing");
/** The element after the composer's usual place. */
const settings = document.getElementById("settings");
const FILE_ID = /^(?:graph|file)-\d+-(.+)$/;

/** `{message_id, draft: {text, files}}`, or null. */
let state = null;

export function editing() {
  return state;
}

let hadFocus = false;

/** Moves the composer to where it belongs. A message that is no longer in view leaves it below all others. */
function place() {
  notice.hidden = state === null;
  const article = state && document.getElementById(`message-${state.message_id}`);
  if (article ? form.parentElement === article : form.nextElementSibling === settings) return;
  // An element that is moved loses the focus, as does one that was removed with its message.
  const hasFocus = form.isConnected ? form.contains(document.activeElement) : hadFocus;
  form.closest(".message")?.classList.remove("has-composer");
  article?.classList.add("has-composer");
  if (article) article.append(form);
  else settings.before(form);
  if (hasFocus) form.elements.text.focus({ preventScroll: true });
}

/** Starts editing and returns the message's text and files. If another message was being edited, its draft is kept. */
export function beginEditing(article, draft) {
  state = { message_id: article.dataset.messageId, draft: state?.draft ?? draft };
  const files = Array.from(article.querySelectorAll(".end [id]"), (file) => {
    const [, id] = file.id.match(FILE_ID);
    return { id, name: (file.closest("a") ?? file.querySelector("a[download]")).download };
  });
  place();
  show();
  return { text: article.querySelector(".said")?.dataset.source ?? "", files };
}

/** Ends editing and returns the draft from before; null if no message was being edited. */
export function endEditing() {
  const draft = state?.draft ?? null;
  state = null;
  place();
  return draft;
}

/** Continues editing after a reload. The server rejects the edit if the message is no longer in view. */
export function resumeEditing(savedState) {
  const wasEditing = state !== null;
  state = savedState;
  place();
  // Another tab may have sent the draft that waits here.
  if (state && !wasEditing) show();
}

/** Scrolls to the composer. The message that it replaces may have been higher. */
function show() {
  unpin();
  form.scrollIntoView({ block: "nearest" });
}

// A message rendered anew loses what scripts have added.
connection.addEventListener("before", () => { hadFocus = form.contains(document.activeElement); });
connection.addEventListener("frame", () => { if (state) place(); });
