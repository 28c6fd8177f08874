/** Reads an answer aloud with the browser's own voices: its sentences, and a name for everything else. */
import { connection } from "./connection.js";
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
  el: /\p{Script=Greek}/u,
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

/** Returns the language of a sentence: that of the writing system of most of its letters. */
function languageOf(sentence) {
  const letters = sentence.match(/\p{L}/gu) ?? [];
  const [lang] = SCRIPTS.find(([, script]) => letters.filter((letter) => script.test(letter)).length * 2 > letters.length) ?? [language];
  // Japanese is written with Chinese characters, too.
  return lang === "zh" && SCRIPTS[0][1].test(sentence) ? "ja" : lang;
}

function read(article) {
  const pieces = spokenPieces(article, false);
  if (!pieces.length) return;
  // Some browsers end long texts early, so each sentence is spoken by itself.
  const utterances = pieces.map((piece) => Object.assign(new SpeechSynthesisUtterance(piece), { lang: languageOf(piece) }));
  const id = readId = article.id;
  utterances.at(-1).addEventListener("end", () => { if (readId === id) stop(); });
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

// A frame may show the answer anew, or another version in its place.
connection.addEventListener("frame", () => {
  if (readId && document.getElementById(readId)) mark();
  else if (readId) stop();
});
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
