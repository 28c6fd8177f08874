/**
 * What a hidden tab does while an answer is written: it stays connected, marks its title when the answer is done, and
 * shows a notification if the user has asked for them.
 *
 * hx-ws closes the socket of a hidden page. Here this waits for the end of the answer, so an idle tab costs nothing. A
 * page that the system itself suspends, as phones do, learns of the end only when it is opened again.
 */
import { connection, socketRecord } from "./connection.js";
import { areWanted, forgetChoice, mayBeAsked, notificationText } from "./notification_choice.js";
import { isDone, isLive, isWaiting } from "./transcript.js";

/** Marks need no translation. They also tell apart tabs so narrow that only a few characters of the title fit. */
const MARKS = { done: "✓", ended: "!", waiting: "?" };
/** After this time, people do something else. */
const LONG_MS = 30_000;
const heading = () => document.getElementById("conversation-title").textContent;

// --- the socket stays open while an answer is written ----------------------------------------------------------

/** The record whose handler of hidden pages was replaced. */
let record = null;

const isWriting = () => isLive() && !isWaiting();

function pauseUnlessWriting(pause) {
  // With this setting off, hx-ws also connects again in the background after a failure.
  record.config.pauseOnBackground = !document.hidden || !isWriting();
  if (record.config.pauseOnBackground) pause();
}

function keepOpen(opened) {
  if (opened === record) return;
  record = opened;
  const pause = record.visibilityHandler;
  document.removeEventListener("visibilitychange", pause);
  record.visibilityHandler = () => pauseUnlessWriting(pause);
  document.addEventListener("visibilitychange", record.visibilityHandler);
}

document.addEventListener("htmx:after:ws:connection", ({ detail }) => keepOpen(detail.connection));
// This module is loaded late, often after the socket has opened.
if (socketRecord) keepOpen(socketRecord);

// --- the mark in the title, and the notification -----------------------------------------------------------------

/** What has happened since the tab was hidden: a key of MARKS, or null. */
let news = null;
let wasWriting = isWriting();
let offerTimer = null;

/** Offers notifications when the answer that is being written takes long. */
function expectLongAnswer() {
  clearTimeout(offerTimer);
  if (!isWriting() || !mayBeAsked()) return;
  offerTimer = setTimeout(() => {
    if (isWriting() && mayBeAsked()) import("./notice_offer.js").then(({ offer }) => offer(), () => {});
  }, LONG_MS);
}

function showTitle() {
  const title = `${news ? `${MARKS[news]} ` : ""}${heading()} · Plotline`;
  if (document.title !== title) document.title = title;
}

function notify() {
  if (!areWanted()) return;
  try {
    // The tag replaces an earlier notification, also that of another tab with this conversation.
    const notification = new Notification(heading(), { body: notificationText(news), tag: location.pathname });
    notification.addEventListener("click", () => {
      window.focus();
      notification.close();
    });
  } catch {
    // Chrome on Android has the permission but not this constructor.
    forgetChoice();
  }
}

connection.addEventListener("frame", () => {
  const hasEnded = wasWriting && !isWriting();
  if (wasWriting !== isWriting()) expectLongAnswer();
  wasWriting = isWriting();
  if (document.hidden && hasEnded) {
    if (isWaiting()) news = "waiting";
    else news = isDone() ? "done" : "ended";
    notify();
    record?.visibilityHandler();
  }
  showTitle();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  news = null;
  showTitle();
});

// The frame that loaded this module may have begun an answer or brought a new title.
expectLongAnswer();
showTitle();
