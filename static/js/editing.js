/** Which message of yours the box changes just now, and the draft that waits until that is over. */
const words = document.getElementById("editing");
const filesWords = words.querySelector(".files");

/** `{message_id, draft: {text, files}}`, or null. */
let state = null;

export function editing() {
  return state;
}

function show() {
  words.hidden = state === null;
  const article = state && document.getElementById(`message-${state.message_id}`);
  const count = article?.querySelectorAll(".end :is(figure, .chip)").length ?? 0;
  if (count === 0) filesWords.textContent = "";
  else filesWords.textContent = count === 1 ? "Its file stays with it." : `Its ${count} files stay with it.`;
}

/** Begins, and gives the text to be changed; whoever was changing another message goes on with the first draft. */
export function beginEditing(article, draft) {
  state = { message_id: article.dataset.messageId, draft: state?.draft ?? draft };
  show();
  return article.querySelector(".said")?.textContent ?? "";
}

/** Ends, and gives the draft back that waited; null when nothing was being changed. */
export function endEditing() {
  const draft = state?.draft ?? null;
  state = null;
  show();
  return draft;
}

/** Goes on after a reload. A message that has gone out of view cannot be changed, which the server says. */
export function resumeEditing(kept) {
  state = kept;
  show();
}
