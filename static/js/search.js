/**
 * The search box over the list: htmx asks while one types; here are the keys. `/` and Ctrl+K lead to the box, the
 * arrows from it through the list, Escape back to the list of all.
 */
const form = document.getElementById("search");
const box = form.elements.q;
const list = document.getElementById("conversations");
const announcer = document.getElementById("announcer");
const links = () => Array.from(list.querySelectorAll("li > a"));

function focusBox() {
  // On a phone the box is in the drawer.
  const opener = document.querySelector('[data-action="open-sidebar"]');
  if (opener.offsetParent && opener.getAttribute("aria-expanded") === "false") opener.click();
  box.focus();
  box.select();
}

function clear() {
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** One up or down from the box or a link; above the first one is the box. */
function step(by) {
  const all = links();
  const next = all.indexOf(document.activeElement) + by;
  if (next < 0) box.focus();
  else all[Math.min(next, all.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  const isCombination = (ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k";
  const isSlash = key === "/" && !ctrlKey && !metaKey && !altKey && !target.closest("input, textarea, select, [contenteditable]");
  // Behind an open dialog nothing has the focus.
  if (!(isCombination || isSlash) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  focusBox();
});

document.getElementById("sidebar").addEventListener("keydown", (event) => {
  // Keys that an input method takes are not meant for us.
  if (event.isComposing || (event.target !== box && !list.contains(event.target))) return;
  if (event.key === "ArrowDown") step(1);
  else if (event.key === "ArrowUp" && event.target !== box) step(-1);
  else if (event.key === "Escape" && box.value) {
    clear();
    box.focus();
    // What is left open is the drawer; the next Escape is for that.
    event.stopImmediatePropagation();
  } else return;
  event.preventDefault();
});

document.addEventListener("htmx:after:swap", ({ target }) => {
  if (target !== form) return;
  list.scrollTop = 0;
  const count = list.querySelectorAll(".found").length;
  const more = list.querySelector(".more") ? " or more" : "";
  if (box.value) announcer.textContent = count ? `Found: ${count}${more}.` : list.textContent.trim();
});
