/** Updates the draft of a tab after another tab of the conversation has changed or sent it. */
import { Draft } from "./drafts.js";
import { editing, resumeEditing } from "./editing.js";
import { files } from "./files.js";
import { outbox } from "./outbox.js";
import { box, draftContent, fill } from "./text_box.js";

const NOTHING = { text: "", files: [] };

/** Returns whether two drafts have the same text and the same files. */
function areEqual(one, other) {
  const [name, otherName] = [one, other].map(({ text, files: list }) => JSON.stringify([text, list.map(({ id }) => id)]));
  return name === otherName;
}

/** Returns the draft of a conversation, and lets the text box follow the other tabs. `save` stores what this tab has. */
export function openDraft(conversationId, save) {
  const draft = new Draft(conversationId);
  draft.addEventListener("change", () => {
    const isInUse = box.value && document.activeElement === box && document.hasFocus();
    if (!isInUse && !editing() && !outbox.message && !files.isBusy()) fill(draft.load());
  });
  // A copy of what was sent would be sent twice. Anything else is this tab's own draft.
  draft.addEventListener("sent", ({ detail: sent }) => {
    if (!areEqual(draftContent(), sent)) save();
    else if (editing()) resumeEditing({ ...editing(), draft: NOTHING });
    else if (!outbox.message) fill(NOTHING);
  });
  return draft;
}
