/** Dictation into the message box, by the recognition of the browser. Loaded if it was chosen; see browser_choices.js. */
import { box } from "./text_box.js";
import { language, words } from "./words.js";

const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
const REFUSALS = {
  "not-allowed": words("This browser may not use the microphone. Allow it in the settings of the browser."),
  "audio-capture": words("No microphone was found."),
  network: words("The browser cannot reach its service that recognises speech."),
  "language-not-supported": words("The browser does not recognise speech in the language of this page."),
};
const button = document.getElementById("dictate");
const note = document.getElementById("composer-note");
/** The recognition that listens, or null. */
let listening = null;

function mark() {
  button.setAttribute("aria-pressed", String(listening !== null));
}

/** Puts what was said at the cursor. */
function insert(text) {
  const { selectionStart: start, selectionEnd: end } = box;
  const space = /\S$/.test(box.value.slice(0, start)) ? " " : "";
  box.setRangeText(space + text.trim(), start, end, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function start() {
  note.textContent = "";
  const recognition = Object.assign(new Recognition(), { continuous: true, lang: language });
  recognition.addEventListener("result", ({ results, resultIndex }) => {
    for (const result of Array.from(results).slice(resultIndex)) if (result.isFinal && !box.readOnly) insert(result[0].transcript);
  });
  recognition.addEventListener("error", ({ error }) => { note.textContent = REFUSALS[error] ?? ""; });
  recognition.addEventListener("end", () => {
    listening = null;
    mark();
  });
  recognition.start();
  listening = recognition;
  mark();
}

button.hidden = !Recognition;
button.addEventListener("click", () => {
  if (listening) listening.stop();
  else start();
});
// What is said after a message was sent is not for it.
box.form.addEventListener("submit", () => listening?.abort());
