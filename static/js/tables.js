/** Tables of rich outputs and of texts: sorting by a column, showing all rows, and copying and saving as CSV. */
import { copy } from "./clipboard.js";
import { MISSING, NUMBER, tableTexts, toCsv } from "./csv.js";
import { words } from "./words.js";

/** The state of a column after a click. The third click restores the original order. */
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
const collator = new Intl.Collator("en", { numeric: true });

/** Returns the number that a text stands for, or null if it stands for a missing value. */
function readNumber(text) {
  if (!NUMBER.test(text)) return null;
  const plain = text.replace("−", "-").replace(/[$€£¥,%\s]/g, "");
  return /inf/i.test(plain) ? (plain.startsWith("-") ? -Infinity : Infinity) : Number(plain);
}

/** Returns a function that compares texts of a column; those without a value come last in both directions. */
function comparator(isNumber, sign) {
  const read = isNumber ? readNumber : (text) => text || null;
  const compare = isNumber ? (a, b) => (a < b ? -1 : Number(a > b)) : collator.compare;
  return (a, b) => {
    const [left, right] = [read(a), read(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * compare(left, right);
  };
}

/** Returns whether a column holds numbers. The server marks them in rich outputs, not in tables of texts. */
function isNumeric(header, texts) {
  if (!header.closest(".markdown-table")) return header.dataset.type === "number";
  const present = Array.from(texts).filter((text) => !MISSING.test(text));
  return present.length > 0 && present.every((text) => NUMBER.test(text));
}

function sort(button) {
  const header = button.closest("th");
  const table = header.closest("table");
  const state = NEXT[header.getAttribute("aria-sort")];
  // The attributes are the only state: an update that replaces the table resets them and the order of the rows together.
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", other === header ? state : "none");
  const rows = Array.from(table.tBodies[0]?.rows ?? []).sort((a, b) => a.dataset.row - b.dataset.row);
  if (state !== "none") {
    const column = Number(header.dataset.column);
    const keys = new Map(rows.map((row) => [row, row.cells[column].textContent]));
    const compare = comparator(isNumeric(header, keys.values()), state === "ascending" ? 1 : -1);
    const isGap = (row) => Number("gap" in row.dataset);
    rows.sort((a, b) => isGap(a) - isGap(b) || compare(keys.get(a), keys.get(b)));
  }
  // Rows replace each other, so that the text between them stays where the server has put it.
  const places = [...(table.tBodies[0]?.rows ?? [])].map((row) => {
    const place = document.createComment("");
    row.replaceWith(place);
    return place;
  });
  places.forEach((place, number) => place.replaceWith(rows[number]));
  const announcer = document.getElementById("announcer");
  if (announcer) announcer.textContent = sortedWords(state, button.textContent);
}

function sortedWords(state, column) {
  if (state === "none") return words("Original order");
  return state === "ascending" ? words("Sorted by {column}, ascending", { column }) : words("Sorted by {column}, descending", { column });
}

/** Shows all rows of a table, or its first rows again. */
function toggleRows(button, box) {
  const isShown = box.toggleAttribute("data-all");
  button.dataset.more ??= button.textContent;
  button.textContent = isShown ? words("Show fewer rows") : button.dataset.more;
  button.setAttribute("aria-expanded", isShown);
}

function save(table) {
  const link = document.createElement("a");
  // The byte order mark makes Excel read the file as UTF-8.
  link.href = URL.createObjectURL(new Blob(["\ufeff", toCsv(tableTexts(table))], { type: "text/csv" }));
  const name = table.caption?.textContent.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60);
  link.download = `${name || "table"}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest(".table-box button[data-action]");
  if (!button) return;
  const box = button.closest(".table-box");
  const table = box.querySelector("table");
  if (button.dataset.action === "sort") sort(button);
  else if (button.dataset.action === "all-rows") toggleRows(button, box);
  else if (button.dataset.action === "copy-csv") copy(button, toCsv(tableTexts(table)));
  else if (button.dataset.action === "save-csv") save(table);
});
