/** The height of a text box follows its content, also in browsers without the CSS property field-sizing. */
const isNative = CSS.supports("field-sizing", "content");

/**
 * Makes a box as high as its text. The style sheet limits the height. A copy is measured: if the box itself lost its height
 * for a moment, the messages above it would leave their place.
 */
export function fitHeight(box) {
  if (isNative || !box.isConnected) return;
  const copy = box.cloneNode();
  copy.removeAttribute("id");
  copy.removeAttribute("name");
  Object.assign(copy.style, { position: "absolute", visibility: "hidden", height: "auto", width: `${box.offsetWidth}px` });
  copy.value = box.value;
  box.after(copy);
  box.style.height = `${copy.scrollHeight + copy.offsetHeight - copy.clientHeight}px`;
  copy.remove();
}

/** Keeps the height right while the person types, and when the window gets another width. */
export function follow(box) {
  box.addEventListener("input", () => fitHeight(box));
  addEventListener("resize", () => fitHeight(box));
}
