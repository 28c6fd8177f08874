/** Asks before data that were private may be sent to models again. */

/** Returns whether a form may be saved. Its `private_data` is two radio buttons in a fieldset with the question. */
export function confirmsPublicData(form) {
  const [isPublic] = form.elements.private_data;
  const isTurnedOff = isPublic.checked && !isPublic.defaultChecked;
  return !isTurnedOff || window.confirm(isPublic.closest("fieldset").dataset.confirm);
}
