/** Copying: a code part, a message's text, and, by one button that floats over it, any code in a text. */
const DONE_MS = 1500;
const announcer = document.getElementById("announcer");

async function copy(button, text) {
  let words = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    words = copyBySelection(text) ? "Copied" : "Not allowed";
  }
  announcer.textContent = words;
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  button.textContent = words;
  setTimeout(() => {
    button.textContent = label;
    delete button.dataset.label;
  }, DONE_MS);
}

/** The clipboard's own interface exists on https and localhost only. */
function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

function textOf(button) {
  const part = button.closest("[data-part-kind]");
  if (part) return part.querySelector("pre").textContent;
  const message = button.closest("article");
  const texts = message.querySelectorAll('.said, [data-part-kind="text"]');
  return Array.from(texts, (text) => text.innerText.trim()).join("\n\n");
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest('button[data-action="copy"]');
  if (button) copy(button, button === floating ? hovered.textContent : textOf(button));
});

// The transcript's HTML is the server's alone, byte for byte; so the button for code in a text stands outside of it.
const floating = document.createElement("button");
floating.type = "button";
floating.id = "copy-code";
floating.className = "quiet";
floating.dataset.action = "copy";
floating.textContent = "Copy";
floating.hidden = true;
document.body.append(floating);
let hovered = null;

function place() {
  const view = document.getElementById("scroller").getBoundingClientRect();
  const { top, right, bottom } = hovered?.getBoundingClientRect() ?? view;
  floating.hidden = hovered === null || bottom < view.top + 40 || top > view.bottom - 40;
  floating.style.top = `${Math.max(top, view.top) + 6}px`;
  floating.style.left = `${right - floating.offsetWidth - 10}px`;
}

document.addEventListener("pointerover", ({ target }) => {
  if (target === floating) return;
  hovered = target.closest('[data-part-kind="text"] pre');
  place();
});
document.getElementById("scroller").addEventListener("scroll", () => { if (hovered) place(); }, { passive: true });
