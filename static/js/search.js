/**
 * Keyboard control of the search box above the list; htmx sends the queries while the user types. `/` focuses the box, the
 * arrow keys move through the list, and Escape clears the query. Ctrl+K opens the palette of commands, and `?` the list of
 * keyboard shortcuts.
 */
import { words } from "./words.js";

const form = document.getElementById("search");
const box = form.elements.q;
const list = document.getElementById("conversations");
const announcer = document.getElementById("announcer");
const shortcuts = document.getElementById("shortcuts");
const links = () => Array.from(list.querySelectorAll("li > a"));

function focusBox() {
  // On a phone, the box is inside the closed drawer.
  if (!box.checkVisibility({ visibilityProperty: true })) document.querySelector('[data-action="open-sidebar"]').click();
  box.focus();
  box.select();
}

function found(number) {
  if (!number) return "";
  return list.querySelector(".more") ? words("Found: {number} or more.", { number }) : words("Found: {number}.", { number });
}

function clear() {
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Moves the focus up (-1) or down (1) between the box and the links below it. */
function moveFocus(offset) {
  const all = links();
  const index = all.indexOf(document.activeElement.closest("li")?.querySelector("a")) + offset;
  if (index < 0) box.focus();
  else all[Math.min(index, all.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  const isCombination = (ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k";
  const isSign = "/?".includes(key) && !ctrlKey && !metaKey && !altKey && !target.closest("input, textarea, select, [contenteditable]");
  // An open dialog makes the elements behind it inert.
  if (!(isCombination || isSign) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  if (key === "?") shortcuts?.showModal();
  else if (isSign) focusBox();
  else import("./commands.js").then(({ open }) => open(), focusBox);
});

document.addEventListener("click", ({ target }) => {
  if (target.closest('button[data-action="shortcuts"]')) shortcuts?.showModal();
});

function handleKey(event) {
  // Ignores keys of an input method's composition; Safari reports them with keyCode 229.
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "ArrowDown") moveFocus(1);
  else if (event.key === "ArrowUp" && event.target !== box) moveFocus(-1);
  else if (event.key === "Escape" && box.value) {
    clear();
    box.focus();
    // Keeps the drawer open; the next Escape closes it.
    event.stopPropagation();
  } else return;
  event.preventDefault();
}

for (const part of [form, list]) part.addEventListener("keydown", handleKey);

// Half a word, which an input method is composing, is not searched for, here and in the palette.
let composed = null;
document.addEventListener("compositionstart", ({ target }) => { composed = target; });
document.addEventListener("compositionend", ({ target }) => {
  composed = null;
  if (target.type === "search") target.dispatchEvent(new Event("input", { bubbles: true }));
});
document.addEventListener("htmx:before:request", (event) => {
  if (composed?.form === event.target) event.preventDefault();
});

document.addEventListener("htmx:after:swap", ({ target }) => {
  if (target !== form) return;
  list.scrollTop = 0;
  const count = list.querySelectorAll(".found").length;
  if (box.value) announcer.textContent = found(count) || list.textContent.trim();
});
