/** The sidebar: a drawer on a phone, and the dialogs that rename and delete. */
const sidebar = document.getElementById("sidebar");
const opener = document.querySelector('[data-action="open-sidebar"]');

function setOpen(open) {
  sidebar.toggleAttribute("data-open", open);
  opener.setAttribute("aria-expanded", String(open));
  if (open) sidebar.querySelector("a, button").focus();
  else opener.focus();
}

function ask(dialogId, { url, title }) {
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
  if (action === "rename" || action === "delete") ask(action, { url, title });
  // A click on the dialog itself is one beside its content.
  if (action === "close-dialog" || target.tagName === "DIALOG") target.closest("dialog").close();
});

sidebar.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && sidebar.hasAttribute("data-open")) setOpen(false);
});
