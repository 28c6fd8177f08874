/** Counts the characters of text boxes with a limit while their reader writes. The server renders the first count. */
import { words } from "./words.js";

for (const box of document.querySelectorAll("textarea[data-limit-chars]")) {
  const output = document.getElementById(`${box.id}-count`);
  const limit = Number(box.dataset.limitChars);
  const count = () => {
    // The server counts code points without the blanks around the text.
    const length = [...box.value.trim()].length;
    output.value = words("{length} of {limit} characters", { length, limit });
    output.toggleAttribute("data-over", length > limit);
  };
  box.addEventListener("input", count);
}
