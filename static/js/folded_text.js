/**
 * Finds the words of a search in the text of an element. The rules are those of `chat/models/full_text`: a character is a
 * letter or digit, a sign that counts beside words, or else a space; case, accents and vowel marks do not count.
 */
const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2e80-\\u2fdf\\u3005-\\u3007\\u3040-\\u30ff\\u3100-\\u31ff"
  + "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{323af}";
const EMOJI = "\\u2300-\\u23ff\\u2600-\\u27bf\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}";
const SIGNS = "!#$%&*+\\-./:<=>?@\\\\\\^_|~\\u00a2-\\u00a5\\u00a7\\u00b0\\u20a0-\\u20c0";
const IGNORED = new RegExp("[\\u00ad\\u0300-\\u036f\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u061c\\u0640"
  + "\\u093c\\u0a3c\\u0abc\\u0cbc\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed\\u0730-\\u074a\\u08ca-\\u08ff\\u1ab0-\\u1aff"
  + "\\u1dc0-\\u1dff\\u200c-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u20d0-\\u20ff\\ufe00-\\ufe0f\\ufe20-\\ufe2f\\ufeff"
  + "\\u{1f3fb}-\\u{1f3ff}\\u{e0001}-\\u{e01ef}]+", "gu");
const SINGLE = new RegExp(`[${UNSPACED}${EMOJI}]`, "u");
const SIGN = new RegExp(`[${SIGNS}]`, "u");
const WORD_OR_SIGN = new RegExp(`[\\p{L}\\p{N}\\p{M}${SIGNS}${UNSPACED}${EMOJI}]`, "u");
const CLUSTERS = /\$[{(]|.[\p{M}\p{Emoji_Modifier}\u0e33\u0eb3\u200b-\u200f\u1160-\u11ff]*/gsu; // folded together
const PERSIAN = [/^(ن?مي)(..+)$/u, /^(..+?)(ها|هاي|هايي|تر|ترين)$/u]; // parts that are written apart, too
const LETTER = `[^ ${SIGNS}${UNSPACED}${EMOJI}]`;
const PIECE = new RegExp(`[\\u{1f1e6}-\\u{1f1ff}]{2}|[${UNSPACED}${EMOJI}]|${LETTER}+|[${SIGNS}]+`, "gu");
const GAP = `[ ${SIGNS}]*`;
const TERMS_LIMIT = 10;
const WORDS_LIMIT = 12; // of a phrase
const QUOTES = /[“”„«»「」『』＂]/g;
const MARKERS = /\[(?:GRAPH|IMAGE):\d+\]/g;
const BLOCKS = "p, li, td, th, pre, dt, dd, blockquote, h1, h2, h3, h4, h5, h6, div";
const ORDER = /([่-๋່-໋])([ํໍ])|([าາ])([่-๋່-໋])/g; // tones of Thai and Lao
const VARIANTS = {
  đð: "d", ħ: "h", ı: "i", ł: "l", ø: "o", ŧ: "t", ς: "σ", ß: "ss", æ: "ae", œ: "oe", þ: "th",
  ٱ: "ا", ىیې: "ي", کڪ: "ك", ةہھە: "ه", "‐‑‒–−": "-", ʼ: " ", "ँ": "ं", "ൌ": "ൗ",
  "װ": "וו", "ױ": "וי", "ײ": "יי", "ৎ": "ত্",
  "ൔ": "മ്", "ൕ": "യ്", "ൖ": "ഴ്", "ൺ": "ണ്", "ൻ": "ന്", "ർ": "ര്", "ൽ": "ല്", "ൾ": "ള്", "ൿ": "ക്",
};
const variants = new Map(Object.entries(VARIANTS).flatMap(([all, plain]) => Array.from(all, (one) => [one, plain])));
const folds = new Map();

/** Returns a digit of any script as one of ASCII. Digits of a script follow each other. */
function plainDigit(digit) {
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0) - value - 1))) value += 1;
  return String(value);
}

/** Returns a character with its marks as plain letters, digits, signs that count, and spaces; nothing for an accent. */
function fold(character) {
  let folded = folds.get(character);
  if (folded === undefined) {
    const plain = character === "${" || character === "$(" ? " $" : character.normalize("NFKD").replace(IGNORED, "").normalize("NFKC").toLowerCase();
    const replaced = Array.from(plain, (one) => variants.get(one) ?? one).join("");
    const ordered = replaced.replace(/\p{Nd}/gu, plainDigit).replace(ORDER, "$2$1$4$3").replace(/്+/g, "്");
    folded = Array.from(ordered, (one) => (WORD_OR_SIGN.test(one) ? one : " ")).join("");
    folds.set(character, folded);
  }
  return folded;
}

/** Returns the source of the pattern of a term in folded text; empty if it has no words. */
function termSource(folded, isPrefix) {
  let source = "";
  let count = 0;
  for (const chunk of folded.split(" ")) {
    const pieces = chunk.replace(/[.:!?]+$/, "").match(PIECE) ?? [];
    pieces.forEach((piece, index) => {
      const isSign = SIGN.test(piece);
      if (count === WORDS_LIMIT || (isSign && pieces.length === 1)) return;
      if (count && (index === 0 || !(isSign || SIGN.test(pieces[index - 1])))) source += GAP;
      if (!isSign) count += 1;
      const parts = PERSIAN.map((form) => form.exec(piece)).find(Boolean)?.slice(1) ?? [piece];
      const escaped = parts.map((part) => part.replace(/[\\^$.*+?|/]/g, "\\$&")).join(" ?");
      source += isSign || SINGLE.test(piece) ? escaped : `(?<!${LETTER})${escaped}(?!${LETTER})`;
    });
  }
  const isOpen = isPrefix && count < WORDS_LIMIT && !/[ .:!?]$/.test(folded) && !SIGN.test(folded.slice(-1));
  return isOpen && source.endsWith(`(?!${LETTER})`) ? source.slice(0, -`(?!${LETTER})`.length) : source;
}

/** Returns patterns for folded text: the phrase of all terms, one of their whole words, and one of the terms. */
export function patternsOf(query) {
  const found = query.replace(QUOTES, '"').matchAll(/"([^"]*)("|$)|([^\s"]+)/g);
  const terms = Array.from(found, ({ 1: quoted, 2: close, 3: bare }) => {
    const folded = (quoted || bare || "").replace(MARKERS, " ").replace(CLUSTERS, fold);
    return { folded, exact: termSource(folded, false), open: termSource(folded, !(quoted && close)) };
  }).filter(({ open }) => open).slice(0, TERMS_LIMIT);
  const phrase = termSource(terms.map(({ folded }) => folded).join(" "), false);
  const sources = [phrase, terms.map(({ exact }) => exact).join("|"), terms.map(({ open }) => open).join("|")];
  return terms.length ? sources.map((source) => new RegExp(source, "gu")) : null;
}

/** Returns the folded text of an element, and for each of its characters the node and the offsets of its source. */
function foldText(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const places = [];
  let text = "";
  let block = null;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const nextBlock = node.parentElement.closest(BLOCKS);
    if (nextBlock !== block) {
      text += " ";
      places.push(null);
    }
    block = nextBlock;
    let start = 0;
    for (const [character] of node.data.matchAll(CLUSTERS)) {
      const end = start + character.length;
      const folded = fold(character);
      // An accent or a vowel mark belongs to the letter before it.
      const before = places[places.length - 1];
      if (!folded && before?.node === node) before.end = end;
      text += folded;
      for (let index = 0; index < folded.length; index += 1) places.push({ node, start, end });
      start = end;
    }
  }
  return { text, places };
}

/** Returns the ranges of an element's text that the pattern finds. */
export function findRanges(element, pattern) {
  const { text, places } = foldText(element);
  return Array.from(text.matchAll(pattern), ({ 0: found, index }) => {
    const [first, last] = [places[index], places[index + found.length - 1]];
    const range = new Range();
    range.setStart(first.node, first.start);
    range.setEnd(last.node, last.end);
    return range;
  });
}
