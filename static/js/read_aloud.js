/** Reads an answer aloud with the browser's own voices: its sentences, and a name for everything else. */
import { spokenPieces } from "./spoken_text.js";
import { language, words } from "./words.js";

const note = document.getElementById("composer-note");
/** Writing systems that tell the language of a text. Any other text is taken for one in the language of the page. */
const SCRIPTS = Object.entries({
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  ko: /\p{Script=Hangul}/u,
  zh: /\p{Script=Han}/u,
  ar: /\p{Script=Arabic}/u,
  he: /\p{Script=Hebrew}/u,
  ru: /\p{Script=Cyrillic}/u,
  el: /\p{Script=Greek}{3}/u,
  hi: /\p{Script=Devanagari}/u,
  th: /\p{Script=Thai}/u,
});
/** The id of the answer that is read, or null. */
let readId = null;

function mark() {
  for (const button of document.querySelectorAll('[data-action="read-aloud"]')) {
    button.setAttribute("aria-pressed", String(button.closest("article").id === readId));
  }
}

function stop() {
  readId = null;
  speechSynthesis.cancel();
  mark();
}

function read(article) {
  // Some browsers end long texts early, so each sentence is spoken by itself.
  const pieces = spokenPieces(article, false);
  const text = pieces.join(" ");
  const lang = SCRIPTS.find(([, letters]) => letters.test(text))?.[0] ?? language;
  readId = article.id;
  const utterances = pieces.map((piece) => Object.assign(new SpeechSynthesisUtterance(piece), { lang }));
  const id = readId;
  const end = () => { if (readId === id) stop(); };
  utterances.at(-1)?.addEventListener("end", end);
  for (const utterance of utterances) {
    utterance.addEventListener("error", ({ error }) => {
      if (readId !== id || error === "interrupted" || error === "canceled") return;
      note.textContent = words("This browser cannot read this aloud. It may have no voice for the language.");
      stop();
    });
    speechSynthesis.speak(utterance);
  }
  mark();
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest('[data-action="read-aloud"]');
  if (!button) return;
  const article = button.closest("article");
  const isRead = article.id === readId;
  note.textContent = "";
  if (!window.speechSynthesis) note.textContent = words("This browser cannot read aloud.");
  else {
    stop();
    if (!isRead) read(article);
  }
});
addEventListener("pagehide", stop);
