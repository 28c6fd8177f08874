/** The content of the composer: its text, its files, and whether an earlier message is being edited. */
import { store } from "./drafts.js";
import { beginEditing, editing, endEditing } from "./editing.js";
import { files } from "./files.js";
import { endCodeOnce } from "./settings.js";
import { words } from "./words.js";

export const box = document.getElementById("composer").elements.text;

/** Whether Enter sends: as chosen in browser_choices.js, else not on touch keyboards, which have no Shift+Enter. */
export const enterSends = (localStorage.getItem("plotline:enter") ?? (matchMedia("(pointer: coarse)").matches ? "line" : "send")) === "send";
const hint = document.getElementById("keys");
const KNOWN_KEY = "plotline:knows-keys";
hint.hidden = localStorage.getItem(KNOWN_KEY) !== null;
if (!enterSends) {
  box.enterKeyHint = "enter";
  hint.textContent = words("Ctrl+Enter: send");
}

// After using the keys of the hint, users do not need it.
box.addEventListener("keydown", ({ key, shiftKey, ctrlKey, metaKey }) => {
  if (hint.hidden || key !== "Enter" || !(enterSends ? shiftKey : ctrlKey || metaKey)) return;
  hint.hidden = true;
  store(localStorage, KNOWN_KEY, "");
});

// --- the height, also in browsers without the CSS property field-sizing -------------------------------------------

const isNative = CSS.supports("field-sizing", "content");

/**
 * Makes a box as high as its text. The style sheet limits the height. A copy is measured: if the box itself lost its height
 * for a moment, the messages above it would leave their place.
 */
export function fitHeight(box) {
  if (isNative || !box.isConnected) return;
  const copy = box.cloneNode();
  copy.removeAttribute("id");
  copy.removeAttribute("name");
  Object.assign(copy.style, { position: "absolute", visibility: "hidden", height: "auto", width: `${box.offsetWidth}px` });
  copy.value = box.value;
  box.after(copy);
  box.style.height = `${copy.scrollHeight + copy.offsetHeight - copy.clientHeight}px`;
  copy.remove();
}

/** Keeps the height right while the person types, and when the window gets another width. */
export function follow(box) {
  box.addEventListener("input", () => fitHeight(box));
  addEventListener("resize", () => fitHeight(box));
}

follow(box);

// --- the content ---------------------------------------------------------------------------------------------------

/** Returns `{text, files}`. */
export function content() {
  return { text: box.value, files: files.list() };
}

export function fill({ text, files: list }) {
  box.value = text;
  files.clear();
  files.restore(list);
  fitHeight(box);
}

/** Puts a message back into the box, before its present text. */
export function putBack({ text, files: list }) {
  const rest = content();
  fill({ text: [text, rest.text].filter(Boolean).join("\n\n"), files: [...list, ...rest.files] });
}

/** Empties the box after its message was taken. The draft from before an edit comes back. */
export function empty() {
  fill(endEditing() ?? { text: "", files: [] });
  endCodeOnce();
}

/** Puts an earlier message into the box. */
export function fillForEditing(article) {
  fill(beginEditing(article, content()));
}

/** Returns why the text is too long for one message, or null. The server would close the socket over a very long one. */
export function findRefusal() {
  const limit_bytes = Number(box.form.dataset.limitBytes) || Infinity;
  const size_bytes = new TextEncoder().encode(box.value).length;
  if (size_bytes <= limit_bytes) return null;
  return words("Your message has {size} KB, and a message may have {limit} KB. Shorten it, or attach the long text as a file.", {
    size: Math.ceil(size_bytes / 1024),
    limit: limit_bytes / 1024,
  });
}

/** Returns the draft of the conversation: what is in the box, or was there before an edit. */
export function draftContent() {
  return editing() ? editing().draft : content();
}

// --- files that are not taken --------------------------------------------------------------------------------------

const ACTIONS = ["click", "drop", "input", "keydown"];
const note = document.getElementById("composer-note");
let refusal = null;

/** Removes the refusal, because the person goes on. */
function forgetRefusal() {
  if (note.textContent === refusal) note.textContent = "";
  for (const action of ACTIONS) document.removeEventListener(action, forgetRefusal, true);
}

files.addEventListener("refused", ({ detail }) => {
  note.textContent = refusal = detail;
  for (const action of ACTIONS) document.addEventListener(action, forgetRefusal, true);
});
