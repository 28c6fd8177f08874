/**
 * The palette of commands. Ctrl+K opens it, the arrow keys move through it, and Enter opens the first result. The server
 * renders it; a command of the page presses a button of the page.
 */
const dialog = await load();
const box = dialog.querySelector("input");
const list = document.getElementById("command-list");
const controls = () => [...list.querySelectorAll("a, button")];
/** The result that Enter opens: the one under a mouse that was moved since the last key, or the first. */
const chosen = () => dialog.matches(".pointed") ? list.querySelector(":is(a, button):hover") : controls()[0];
let isAsked = false; // Enter was pressed before the results of the newest text came

async function load() {
  const { dataset, elements } = document.getElementById("search");
  const response = await fetch(`${dataset.commands}?open=${elements.open?.value ?? ""}`, { headers: { "HX-Request": "true" } });
  if (!response.ok || response.redirected) throw new Error("The commands could not be loaded.");
  document.body.insertAdjacentHTML("beforeend", await response.text());
  const loaded = document.getElementById("commands");
  await new Promise((resolve) => loaded.querySelector("link").addEventListener("load", resolve));
  htmx.process(loaded);
  return loaded;
}

/** Leaves out the commands whose buttons the page does not have or show. */
function prune() {
  for (const button of list.querySelectorAll("[data-command]")) {
    if (!document.querySelector(button.dataset.command)) button.parentElement.remove();
  }
}

export function open() {
  dialog.showModal();
  box.select();
}

function run(control) {
  dialog.close();
  if (control.dataset.command) document.querySelector(control.dataset.command).click();
  else location.assign(control.href);
}

function move(offset) {
  const all = [box, ...controls()];
  const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + offset))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

dialog.addEventListener("pointermove", ({ target, pointerType, movementX, movementY }) => {
  if (pointerType !== "mouse" || (!movementX && !movementY)) return;
  const isPointed = controls().some((control) => control.contains(target));
  dialog.classList.toggle("pointed", isPointed);
  if (isPointed) box.focus();
});

dialog.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") dialog.classList.remove("pointed");
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else return;
  event.preventDefault();
});

box.form.addEventListener("submit", (event) => {
  event.preventDefault();
  isAsked = box.value !== (list.dataset.searched ?? "");
  if (!isAsked && chosen()) run(chosen());
});

dialog.addEventListener("htmx:after:swap", () => {
  list.dataset.searched = box.value;
  list.scrollTop = 0;
  prune();
  if (isAsked && controls().length) run(controls()[0]);
  isAsked = false;
});

dialog.addEventListener("click", (event) => {
  const button = event.target.closest("[data-command]");
  if (button) run(button);
  else if (event.target === dialog) dialog.close();
});

prune();
