/** The list of keyboard shortcuts. */
const dialog = document.getElementById("shortcuts");

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (key !== "?" || ctrlKey || metaKey || altKey || target.closest("input, textarea, select, [contenteditable]")) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  dialog.showModal();
});

document.addEventListener("click", ({ target }) => {
  if (target.closest('button[data-action="shortcuts"]')) dialog.showModal();
});
