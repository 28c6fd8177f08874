/**
 * The switch for web search in the composer. It shows whether answers search, which follows from the conversation's setting
 * and the chosen model: in `auto`, the preset decides. A click saves `on` or `off`.
 */
import { chosenModel, save, applySaved, settings } from "./settings.js";

const control = document.getElementById("web-search");
const help = document.getElementById("web-search-help");
const costs = document.getElementById("search-costs");
const note = document.getElementById("composer-note");

const isAble = () => chosenModel().search !== "none";

function searches() {
  const mode = control.dataset.saved;
  return isAble() && (mode === "auto" ? chosenModel().search === "on" : mode === "on");
}

/** Shows the saved setting, for the model that is saved. */
function show() {
  control.setAttribute("aria-checked", String(searches()));
  if (isAble()) control.removeAttribute("aria-disabled");
  else control.setAttribute("aria-disabled", "true");
  control.title = help.textContent = costs.textContent = chosenModel().searchHelp ?? "";
}

settings.addEventListener("saved", ({ detail }) => {
  if (detail.name === "web_search") control.dataset.saved = detail.value;
  show();
});

control.addEventListener("click", async () => {
  if (!isAble()) {
    note.textContent = help.textContent;
    return;
  }
  const value = searches() ? "off" : "on";
  const errorMessage = await save({ web_search: value });
  if (!errorMessage) applySaved("web_search", value);
  // Say the costs when search is turned on: a touch screen shows no tooltip.
  note.textContent = errorMessage || (searches() ? help.textContent : "");
});
