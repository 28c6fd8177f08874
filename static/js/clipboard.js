/** Copying to the clipboard, with the result shown on the button and announced to screen readers. */
import { words } from "./words.js";

const FEEDBACK_MS = 1500;
const REFUSAL_MS = 4000;

/** Copies a text, or the text of a promise. */
export async function copy(button, text) {
  report(button, await writeText(button, text));
}

/** Copies an image that the page shows, as PNG: browsers take no other type. */
export async function copyImage(button, image) {
  try {
    // Safari allows writing only at once after a click, but takes a promise of the content.
    await navigator.clipboard.write([new ClipboardItem({ "image/png": pngOf(image) })]);
    report(button, words("Copied"));
  } catch {
    report(button, words("The browser does not allow it. Use Download."));
  }
}

async function pngOf(image) {
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((resolve, reject) => { canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no image")))); });
}

/** Returns where a result is announced. Outside an open dialog, nothing is announced, so a dialog has its own place. */
function announcerOf(button) {
  return button.closest("dialog")?.querySelector("[aria-live]") ?? document.getElementById("announcer");
}

function report(button, result) {
  const announcer = announcerOf(button);
  if (announcer) announcer.textContent = result;
  const duration_ms = result === words("Copied") ? FEEDBACK_MS : REFUSAL_MS;
  if (button.querySelector("svg")) {
    // A style sheet shows it above the icon.
    button.dataset.result = result;
    setTimeout(() => delete button.dataset.result, duration_ms);
    return;
  }
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  button.textContent = result;
  setTimeout(() => {
    button.textContent = label;
    delete button.dataset.label;
  }, duration_ms);
}

/** Returns what the button shows. */
async function writeText(button, text) {
  try {
    // Safari allows writing only at once after a click, but takes a promise of the content.
    if (text instanceof Promise) await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
    else await navigator.clipboard.writeText(text);
    return words("Copied");
  } catch {
    try {
      return copyBySelection(button, await text) ? words("Copied") : words("Not allowed");
    } catch {
      return words("Not loaded");
    }
  }
}

/** Copies through a selection, because the Clipboard API exists only on https and localhost. */
function copyBySelection(button, text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  // Only text in an open dialog can be selected.
  (button.closest("dialog") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  button.focus({ preventScroll: true });
  return isCopied;
}
