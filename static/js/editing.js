/** The user's message that is being edited, and the draft that is restored afterwards. */
import { counted } from "./words.js";

const notice = document.getElementById("editing");
const filesNotice = notice.querySelector(".files");

/** `{message_id, draft: {text, files}}`, or null. */
let state = null;

export function editing() {
  return state;
}

function render() {
  notice.hidden = state === null;
  const article = state && document.getElementById(`message-${state.message_id}`);
  const count = article?.querySelectorAll(".end :is(figure, .chip)").length ?? 0;
  if (count === 0) filesNotice.textContent = "";
  else filesNotice.textContent = counted(count, "Its file stays with it.", "Its {number} files stay with it.");
}

/** Starts editing and returns the message's text. If another message was being edited, its draft is kept. */
export function beginEditing(article, draft) {
  state = { message_id: article.dataset.messageId, draft: state?.draft ?? draft };
  render();
  return article.querySelector(".said")?.dataset.source ?? "";
}

/** Ends editing and returns the draft from before; null if no message was being edited. */
export function endEditing() {
  const draft = state?.draft ?? null;
  state = null;
  render();
  return draft;
}

/** Continues editing after a reload. The server rejects the edit if the message is no longer in view. */
export function resumeEditing(savedState) {
  state = savedState;
  render();
}
