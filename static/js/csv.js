/** Tables as CSV (RFC 4180) that a spreadsheet opens without evaluating any cell. */

/** A text that is one number. `is_number` in `chat/page/rendering/tables.py` reads the same texts as numbers. */
export const NUMBER = /^(?:[-+−]?[$€£¥]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s?%?|[-+−]?inf(?:inity)?)$/i;

/** Texts that stand for a missing value. `MISSING` in `chat/page/rendering/tables.py` holds the same ones. */
export const MISSING = /^(?:|nan|nat|none|null|<na>|n\/a|-|–|—|\.\.\.|…)$/i;

/** Characters with which a spreadsheet begins a formula, or which it strips before it looks for one. */
const FORMULA = /^ *[=+\-@\t\r\n\0＝＋－＠]/;
const QUOTED = /[",\r\n]|^\s|\s$/;

/** Returns the text as one field. An apostrophe precedes a possible formula, but not a number. */
function csvField(text) {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns rows of texts as CSV. */
export function toCsv(rows) {
  return rows.map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

/** Returns the text of a cell, with each formula as its source: the text of a fraction is that of a product. */
function cellText(cell) {
  // A column without a name has a hidden one, for its button.
  if (cell.querySelector(".visually-hidden")) return "";
  if (!cell.querySelector("math")) return cell.textContent.trim();
  const copy = cell.cloneNode(true);
  for (const formula of copy.querySelectorAll("math")) formula.replaceWith(formula.getAttribute("alttext") ?? formula.textContent);
  return copy.textContent.trim();
}

/** Returns the texts of a table's cells: its header, each spanning cell repeated, and its rows in the order shown. */
export function tableTexts(table) {
  const header = [];
  const rows = Array.from(table.tHead?.rows ?? []);
  rows.forEach((row, number) => {
    header[number] ??= [];
    let column = 0;
    for (const cell of row.cells) {
      while (header[number][column] !== undefined) column += 1;
      for (let below = number; below < Math.min(number + cell.rowSpan, rows.length); below += 1) {
        header[below] ??= [];
        for (let right = column; right < column + cell.colSpan; right += 1) header[below][right] = cellText(cell);
      }
    }
  });
  // A row without names of columns holds their types.
  const names = header.filter((_, number) => rows[number].querySelector("th"));
  return [...names, ...Array.from(table.tBodies[0]?.rows ?? [], (row) => Array.from(row.cells, cellText))];
}
