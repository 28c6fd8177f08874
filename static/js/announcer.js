/**
 * Announces answers to screen readers while they are written: sentence by sentence, and not faster than they are spoken.
 *
 * New text is collected until the last announcement has been spoken. So a fast answer does not fill the reader's queue:
 * text not announced by its end is left to the reader, who finds the answer by its heading. Nothing is announced
 * while the tab is in the background.
 */
import { connection } from "./connection.js";
import { spokenPieces } from "./spoken_text.js";
import { language, words } from "./words.js";

/** An estimate for a reader with some practice; synthesized speech is faster than a person. */
const CHARS_PER_S = 20;
const SHORTEST_PAUSE_MS = 1500;
const LONGEST_CHARS = 400;
/** At most this many announcements stay in the page. A region that is emptied at once would lose them. */
const KEPT_ANNOUNCEMENTS = 3;
/** This long after the last announcement, all are removed: a person who reads the whole page would find the end of the answer twice. */
const KEPT_MS = 30_000;
const LIVE = ["queued", "running", "waiting"];

const region = document.getElementById("spoken");
const transcript = document.getElementById("transcript");

/** The id of the answer that is announced; its state; and how many of its pieces were announced. */
let articleId = null;
let state = null;
let saidPieces = 0;

let freeAt = 0;
let timer = null;
let removal = null;

const lastAnswer = () => transcript.querySelector('[data-role="model"]:last-child');
const isLive = (article) => LIVE.includes(article?.dataset.status);
const stateOf = (article) => `${article?.dataset.status} ${article?.querySelector(".approval")?.dataset.approval}`;

/** Joins pieces. One without a mark at its end, such as a heading or an output, gets a full stop, so that it is read apart. */
const joined = (pieces) => pieces.map((piece) => (/[\p{L}\p{N})]$/u.test(piece) ? `${piece}.` : piece)).join(" ");

function say(text) {
  if (!text || document.hidden) return;
  const announcement = document.createElement("p");
  announcement.textContent = text;
  region.append(announcement);
  while (region.children.length > KEPT_ANNOUNCEMENTS) region.firstChild.remove();
  const speechMs = Math.max(SHORTEST_PAUSE_MS, (text.length / CHARS_PER_S) * 1000);
  freeAt = performance.now() + speechMs;
  clearTimeout(removal);
  removal = setTimeout(() => region.replaceChildren(), speechMs + KEPT_MS);
}

/** Says the next sentences of the answer that is being written. */
function sayNext() {
  timer = null;
  const article = lastAnswer();
  if (document.hidden || !isLive(article)) return;
  const pieces = spokenPieces(article, true);
  const first = saidPieces;
  const fits = (end) => end === first + 1 || joined(pieces.slice(first, end)).length <= LONGEST_CHARS;
  while (saidPieces < pieces.length && fits(saidPieces + 1)) saidPieces += 1;
  say(joined(pieces.slice(first, saidPieces)));
  if (saidPieces < pieces.length) schedule();
}

function schedule() {
  timer ??= setTimeout(sayNext, Math.max(0, freeAt - performance.now()));
}

/** Returns what to announce of an answer that has ended. */
function remainder(article) {
  const text = joined(spokenPieces(article, false).slice(saidPieces));
  if (text.length <= LONGEST_CHARS) return text;
  return words("{number} more words are in the answer.", { number: text.split(/\s+/).length });
}

/** Returns a question as it goes on after a colon. In German, its first word may be a noun. */
function withinSentence(question) {
  return language === "en" ? question[0].toLowerCase() + question.slice(1) : question;
}

/** Announces the state of an answer after a change. */
function sayState(article) {
  const question = article.querySelector(".approval .heading")?.textContent;
  if (question) say(words("The answer waits for you: {question}", { question: withinSentence(question) }));
  else if (!isLive(article)) {
    say(remainder(article));
    say(article.dataset.status === "done" ? words("The answer is complete.") : article.querySelector(".status p")?.textContent);
  }
}

function follow() {
  const article = lastAnswer();
  if (!article) return;
  const isNew = article.id !== articleId;
  const newState = stateOf(article);
  if (isNew) {
    articleId = article.id;
    saidPieces = 0;
    if (isLive(article)) say(words("An answer is being written."));
  }
  if (newState !== state && (!isNew || isLive(article))) sayState(article);
  state = newState;
  if (isLive(article)) schedule();
}

/** Leaves out what the answer already contains. */
function skip() {
  const article = lastAnswer();
  articleId = article?.id ?? null;
  state = stateOf(article);
  saidPieces = article ? spokenPieces(article, isLive(article)).length : 0;
}

/** The state of an answer that was being written when the tab went to the background; else null. */
let stateBefore = null;

document.addEventListener("visibilitychange", () => {
  const article = lastAnswer();
  if (document.hidden) stateBefore = isLive(article) ? stateOf(article) : null;
  else if (stateBefore !== null) {
    skip();
    if (state !== stateBefore) sayState(article);
    stateBefore = null;
  }
});

/** Begins to announce. `known`: the id of the last answer when a person acted; a newer one may have begun since then. */
export function begin(known) {
  if (lastAnswer()?.id === known) skip();
  else follow();
  connection.addEventListener("frame", follow);
}
