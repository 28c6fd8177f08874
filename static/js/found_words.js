/**
 * Marks the words of a search in the message that its result leads to. The marks are highlights of the browser, which
 * leave the HTML as it is. The rules are those of `chat/models/full_text`: case and accents do not count, an unquoted term may be
 * the beginning of a word, and in scripts without spaces each character is a word.
 */
const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2e80-\\u2fdf\\u3005-\\u3007\\u3040-\\u30ff\\u3100-\\u31ff"
  + "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{323af}";
const LETTER = `[[\\p{L}\\p{N}]--[${UNSPACED}]]`;
const SEPARATORS = "[^\\p{L}\\p{N}]*";
const TERMS_LIMIT = 10;
const WORDS_LIMIT = 12; // of a phrase
const QUOTES = /[“”„«»「」『』＂]/g;
const BLOCKS = "p, li, td, th, pre, dt, dd, blockquote, h1, h2, h3, h4, h5, h6, div";

const folds = new Map();

/** Returns a character without case, accents and compatibility forms. */
function fold(character) {
  let folded = folds.get(character);
  if (folded === undefined) {
    const plain = character.normalize("NFKD").replace(/[\u0300-\u036f]+/g, "").normalize("NFKC");
    folded = plain.toUpperCase().toLowerCase();
    folds.set(character, folded);
  }
  return folded;
}

/** Returns the pattern that finds one of the terms in folded text, or null. */
function patternOf(query) {
  const isUnspaced = new RegExp(`^[${UNSPACED}]`, "v");
  const word = new RegExp(`[${UNSPACED}]|${LETTER}+`, "gv");
  const terms = [];
  for (const [, quoted, close, bare] of query.replace(QUOTES, '"').matchAll(/"([^"]*)("|$)|([^\s"]+)/g)) {
    const words = Array.from(quoted || bare || "", fold).join("").match(word) ?? [];
    const isPrefix = !(quoted && close) && words.length <= WORDS_LIMIT;
    const parts = words.slice(0, WORDS_LIMIT).map((one, index, all) => {
      if (isUnspaced.test(one)) return one;
      const isOpen = isPrefix && index === all.length - 1;
      return `(?<!${LETTER})${one}${isOpen ? "" : `(?!${LETTER})`}`;
    });
    if (parts.length) terms.push(parts.join(SEPARATORS));
  }
  return terms.length ? new RegExp(terms.slice(0, TERMS_LIMIT).join("|"), "gv") : null;
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
      text += "\n";
      places.push(null);
    }
    block = nextBlock;
    let start = 0;
    for (const character of node.data) {
      const end = start + character.length;
      const folded = fold(character);
      text += folded;
      for (let index = 0; index < folded.length; index += 1) places.push({ node, start, end });
      start = end;
    }
  }
  return { text, places };
}

/** Returns the ranges of an element's text that the pattern finds. */
function findRanges(element, pattern) {
  const { text, places } = foldText(element);
  return Array.from(text.matchAll(pattern), ({ 0: found, index }) => {
    const [first, last] = [places[index], places[index + found.length - 1]];
    const range = new Range();
    range.setStart(first.node, first.start);
    range.setEnd(last.node, last.end);
    return range;
  });
}

const message = document.getElementById(location.hash.slice(1));
const pattern = patternOf(new URLSearchParams(location.search).get("q") ?? "");

function markWords() {
  if (!message || !pattern) return;
  const texts = Array.from(message.querySelectorAll('.said, [data-part-kind="text"]'));
  const ranges = texts.flatMap((text) => findRanges(text, pattern));
  if (!ranges.length) return;
  CSS.highlights.set("found", new Highlight(...ranges));
  const { top, bottom } = ranges[0].getBoundingClientRect();
  const view = document.getElementById("scroller").getBoundingClientRect();
  if (top < view.top || bottom > view.bottom) ranges[0].startContainer.parentElement.scrollIntoView({ block: "center" });
}

// Without highlights, a style outlines the message.
if (CSS.highlights) {
  markWords();
  // Parts of a long answer that are loaded later.
  document.getElementById("transcript").addEventListener("filled", ({ detail: group }) => {
    if (!pattern || !message?.contains(group)) return;
    const ranges = findRanges(group, pattern);
    const found = CSS.highlights.get("found") ?? new Highlight();
    for (const range of ranges) found.add(range);
    CSS.highlights.set("found", found);
  });
}
