/** What the page holds of the conversation, and where its reader is. */
const scroller = document.getElementById("scroller");
const transcript = document.getElementById("transcript");

/** Returns whether the page holds the newest messages. A page that was opened at an old message may not. */
export function holdsEnd() {
  return document.getElementById("later").hidden;
}

/** Returns the first message in view, or null if there is none. */
export function firstInView() {
  const { top } = scroller.getBoundingClientRect();
  return Array.from(transcript.children).find((article) => article.getBoundingClientRect().bottom > top) ?? null;
}

/** Returns data for the server: indexes of messages, and the id of the first one in view. */
export function held() {
  const { first } = document.getElementById("earlier").dataset;
  const { last } = document.getElementById("later").dataset;
  return { first, last, message_id: firstInView()?.dataset.messageId };
}
