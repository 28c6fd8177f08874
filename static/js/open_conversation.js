/**
 * The open conversation in the list: it moves to the top with a new message, other tabs learn of its answers, and the server
 * learns that the end of an answer was seen.
 */
import { connection } from "./connection.js";
import { openEntry, refresh, showOpenEntry } from "./conversation_list.js";
import { tabs } from "./list_states.js";
import { holdsEnd } from "./reader.js";
import { isLive, lastAnswer } from "./transcript.js";

const { q, open } = document.getElementById("search").elements;
const archivedBanner = document.getElementById("archived");
const composer = document.getElementById("composer");

const stateOf = (answer) => `${answer?.id} ${answer?.dataset.status}`;
let shown = stateOf(lastAnswer());
/** Whether an answer has ended, and the server does not know yet that it was seen. */
let isUnread = false;
/** The id of the answer for which the list was checked last. */
let checkedId = null;

/** Returns whether the open conversation is the first one below its heading, as the newest has to be. */
function isOnTop() {
  const heading = openEntry()?.previousElementSibling?.dataset.heading;
  return heading === "pinned" || heading === "today";
}

function moveToTop() {
  const id = lastAnswer()?.id;
  // A new message also restores an archived conversation.
  const wasArchived = !archivedBanner.hidden;
  archivedBanner.hidden = true;
  if (id === checkedId && !wasArchived) return;
  checkedId = id;
  if (!q.value && (wasArchived || !isOnTop())) refresh().then(showOpenEntry);
}

const tell = (isNew) => tabs.postMessage({ id: open.value, isNew });

async function markRead() {
  if (!isUnread || document.hidden || !holdsEnd()) return;
  isUnread = false;
  try {
    const headers = { "X-CSRFToken": composer.elements.csrfmiddlewaretoken.value };
    // With `keepalive`, the request is sent even if the reader leaves the page at once.
    const body = new URLSearchParams({ message_id: lastAnswer().dataset.messageId });
    const response = await fetch(`/c/${open.value}/read/`, { method: "POST", headers, body, redirect: "manual", keepalive: true });
    isUnread = response.status >= 500;
  } catch {
    isUnread = true;
  }
  tell(false);
}

connection.addEventListener("frame", () => {
  if (isLive()) moveToTop();
  const state = stateOf(lastAnswer());
  if (state === shown) return;
  shown = state;
  isUnread = lastAnswer() !== null && !isLive();
  if (isUnread && !document.hidden) markRead();
  else tell(true);
});

connection.addEventListener("open", markRead);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) markRead();
});

// The page was opened, so its answer is read now.
tell(false);
