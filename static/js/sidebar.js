/** The sidebar, which is a drawer on a phone, and the dialogs that rename and delete a conversation. */
const sidebar = document.getElementById("sidebar");
const opener = document.querySelector('[data-action="open-sidebar"]');

function setOpen(isOpen) {
  sidebar.toggleAttribute("data-open", isOpen);
  opener.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) sidebar.querySelector("a, button").focus();
  else opener.focus();
}

function openDialog(dialogId, { url, title }) {
  const dialog = document.getElementById(dialogId);
  const form = dialog.querySelector("form");
  form.action = url;
  if (form.elements.title) form.elements.title.value = title;
  else dialog.querySelector(".which").textContent = title;
  dialog.showModal();
  form.elements.title?.select();
}

document.addEventListener("click", ({ target }) => {
  const { action, url, title } = target.closest("[data-action]")?.dataset ?? {};
  if (action === "open-sidebar") setOpen(true);
  if (action === "close-sidebar") setOpen(false);
  if (action === "rename" || action === "delete") openDialog(action, { url, title });
  // A click whose target is the dialog itself is outside its content.
  if (action === "close-dialog" || target.tagName === "DIALOG") target.closest("dialog").close();
});

sidebar.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && sidebar.hasAttribute("data-open")) setOpen(false);
});
