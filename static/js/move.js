/** The dialog that moves a conversation to a project. The server answers with the form again, or with what changed. */
import { listParameters } from "./conversation_list.js";
import { refuse } from "./marks.js";
import { words } from "./words.js";

const dialog = document.getElementById("move");
const content = document.getElementById("move-content");

async function open(url) {
  content.replaceChildren();
  document.getElementById("entry-menu").hidePopover();
  try {
    await htmx.ajax("GET", `${url}?${new URLSearchParams({ open: listParameters().open })}`, { target: content, swap: "innerHTML" });
  } catch {
    // The notice below the list shows the error.
  }
  if (content.querySelector("form")) dialog.showModal();
  else refuse(words("This could not be loaded. Reload the page and try again."));
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest('[data-action="move"]');
  if (button) open(button.dataset.url);
});

// A new project needs a name, so its field gets the focus.
content.addEventListener("change", ({ target }) => {
  if (target.name === "project" && target.value === "new") content.querySelector("[name=name]").focus();
});

// What changed is elsewhere on the page. A refusal, with status 400, shows the form again.
content.addEventListener("htmx:after:request", ({ detail }) => {
  const { status } = detail.ctx.response;
  if (!dialog.open || status === 400) return;
  dialog.close();
  if (status !== 200) refuse(words("This could not be saved. Reload the page and try again."));
});
