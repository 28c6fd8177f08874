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
const note = document.getElementById("composer-note");
const ICON = '<svg class="icon" viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 3.5a2.75 2.75 0 0 1 2.75 2.75v5.5a2.75 2.75 0 0 1-5.5 0v-5.5A2.75 2.75 0 0 1 12 3.5M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3"/></svg>';
const button = Object.assign(document.createElement("button"), { type: "button", id: "dictate", className: "quiet icon-only", title: words("Dictate"), innerHTML: ICON });
button.setAttribute("aria-label", button.title);
button.setAttribute("aria-pressed", "false");
/** The recognition that listens, or null. */
let listening = null;

function mark() {
  button.setAttribute("aria-pressed", String(listening !== null));
}

/** Inserts the speech at the cursor. */
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

if (Recognition) box.form.querySelector('[data-action="attach"]').after(button);
button.addEventListener("click", () => {
  if (listening) listening.stop();
  else start();
});
// Speech after a message was sent is not part of it.
box.form.addEventListener("submit", () => listening?.abort());
