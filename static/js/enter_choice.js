/** The choice what Enter does in the composer, see text_box.js. It belongs to this browser, because it depends on the keyboard. */
const ENTER_KEY = "plotline:enter";
const fieldset = document.getElementById("enter-choice");

function show() {
  const choice = localStorage.getItem(ENTER_KEY) ?? "";
  for (const radio of fieldset.elements) radio.checked = radio.value === choice;
}

fieldset.hidden = false;
fieldset.addEventListener("change", ({ target }) => {
  if (target.value) localStorage.setItem(ENTER_KEY, target.value);
  else localStorage.removeItem(ENTER_KEY);
});
// Another tab may change the choice.
window.addEventListener("storage", show);
show();
