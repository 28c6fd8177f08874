/**
 * Writes times in the zone of the reader and in the language of the page. The server writes them in UTC, as it does in
 * each frame. Times that a frame brings or a morph restores are written again before they are painted.
 */
const language = document.documentElement.lang || "en";
const DAY = /\d{4}-\d{2}-\d{2}/;
const CLOCK = /\d{2}:\d{2}/;
const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const full = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" });

/** Rewrites a text of the server: a day, a time of day, or both. */
function rewrite(element) {
  const text = element.textContent;
  const hasDay = DAY.test(text);
  const hasClock = CLOCK.test(text) && text.endsWith("UTC");
  const at = new Date(element.dateTime);
  // Other texts, such as the name of a month, and what was rewritten before stay.
  if ((!hasClock && text.trim().length !== 10) || !(hasDay || hasClock) || Number.isNaN(at.getTime())) return;
  const format = hasDay && hasClock ? moment : hasDay ? day : clock;
  element.textContent = format.format(at);
  element.title = full.format(at);
}

function rewriteAll(root) {
  if (root.matches?.("time[datetime]")) rewrite(root);
  for (const element of root.querySelectorAll?.("time[datetime]") ?? []) rewrite(element);
}

rewriteAll(document);
// Observers run before the next paint.
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) {
    const changed = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target)?.closest("time[datetime]");
    if (changed) rewrite(changed);
    else for (const node of addedNodes) rewriteAll(node);
  }
}).observe(document.body, { childList: true, characterData: true, subtree: true });
