/** Choices that belong to this browser: what Enter does in the composer, because it depends on the keyboard, and dictation. */
const fieldsets = document.querySelectorAll("fieldset[data-key]");

function show() {
  for (const { dataset, elements } of fieldsets) {
    const choice = localStorage.getItem(dataset.key) ?? "";
    for (const radio of elements) radio.checked = radio.value === choice;
  }
}

for (const fieldset of fieldsets) {
  const { key, needs } = fieldset.dataset;
  fieldset.hidden = Boolean(needs) && !(needs in window);
  fieldset.addEventListener("change", ({ target }) => {
    if (target.value) localStorage.setItem(key, target.value);
    else localStorage.removeItem(key);
  });
}
// Another tab may change the choice.
window.addEventListener("storage", show);
show();
