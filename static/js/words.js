/**
 * Words in the language of the page. The English ones stand in the code; others come with the page, as JSON.
 */
export const language = document.documentElement.lang || "en";
const known = JSON.parse(document.getElementById("words")?.textContent || "{}");
const rules = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);

/** Replaces placeholders: `{name}`. Numbers are written as the language writes them. */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (place, name) => {
    const value = values[name];
    return typeof value === "number" ? numbers.format(value) : (value ?? place);
  });
}

/** Writes a number with one decimal digit, which `least` 0 leaves out if it is 0. */
export function tenths(number, least = 1) {
  return new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: 1 }).format(number);
}

/** Returns a text in the language of the page. */
export function words(text, values = {}) {
  return fill(known[text] ?? text, values);
}

/** Returns the form of a text for a number, which is one of its values. */
export function counted(number, one, other, values = {}) {
  const forms = known[one] ?? [one, other];
  return fill(rules.select(number) === "one" ? forms[0] : forms.at(-1), { number, ...values });
}
