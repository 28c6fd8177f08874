/** Copy buttons: for a code part, for a message's text, and one floating button for code blocks inside a text. */
const FEEDBACK_MS = 1500;
const announcer = document.getElementById("announcer");

async function copy(button, text) {
  let result = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    result = copyBySelection(text) ? "Copied" : "Not allowed";
  }
  announcer.textContent = result;
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  button.textContent = result;
  setTimeout(() => {
    button.textContent = label;
    delete button.dataset.label;
  }, FEEDBACK_MS);
}

/** Copies through a selection, because the Clipboard API exists only on https and localhost. */
function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

function textToCopy(button) {
  const part = button.closest("[data-part-kind]");
  if (part) return part.querySelector("pre").textContent;
  const message = button.closest("article");
  const texts = message.querySelectorAll('.said, [data-part-kind="text"]');
  return Array.from(texts, (text) => text.innerText.trim()).join("\n\n");
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest('button[data-action="copy"]');
  if (button) copy(button, button === floatingButton ? hoveredCode.textContent : textToCopy(button));
});

// The transcript's HTML must equal the server's, byte for byte, so the button for code in a text is outside of it.
const floatingButton = document.createElement("button");
floatingButton.type = "button";
floatingButton.id = "copy-code";
floatingButton.className = "quiet";
floatingButton.dataset.action = "copy";
floatingButton.textContent = "Copy";
floatingButton.hidden = true;
document.body.append(floatingButton);
let hoveredCode = null;

function positionButton() {
  const view = document.getElementById("scroller").getBoundingClientRect();
  const { top, right, bottom } = hoveredCode?.getBoundingClientRect() ?? view;
  floatingButton.hidden = hoveredCode === null || bottom < view.top + 40 || top > view.bottom - 40;
  floatingButton.style.top = `${Math.max(top, view.top) + 6}px`;
  floatingButton.style.left = `${right - floatingButton.offsetWidth - 10}px`;
}

document.addEventListener("pointerover", ({ target }) => {
  if (target === floatingButton) return;
  hoveredCode = target.closest('[data-part-kind="text"] pre');
  positionButton();
});
document.getElementById("scroller").addEventListener("scroll", () => { if (hoveredCode) positionButton(); }, { passive: true });
