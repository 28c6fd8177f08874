/**
 * What a screen reader says about an answer: the sentences of its text, and a name for everything else, such as code, its
 * result, graphs and tables.
 */
import { counted, words } from "./words.js";

const RESULT_LIMIT_CHARS = 80;
const ENDINGS = { success: words("The code ran"), timeout: words("The code ran out of time"), error: words("The code failed"), aborted: words("The code was stopped"), lost: words("The code was cut off; its result is lost"), unknown: words("The code ended") };

const segmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Closed block or finished part -> its pieces, which no longer change. */
const finished = new WeakMap();

const lines = (number) => counted(number, "{number} line", "{number} lines");
const rows = (number) => counted(number, "{number} row", "{number} rows");
const lineCount = (text) => text.replace(/\n$/, "").split("\n").length;

/** Returns the words of a node. A formula with commands of LaTeX is only named, because they are no words. */
function textOf(node) {
  // A line feed of the source is only a space.
  if (node.nodeType !== Node.ELEMENT_NODE) return node.textContent.replace(/\s*\n\s*/g, " ");
  if (node.matches("math")) {
    const source = node.getAttribute("alttext") ?? "";
    return source.includes("\\") ? words("(a formula)") : source;
  }
  if (node.matches("sup:has(> a), input")) return "";
  // A new line ends a sentence.
  return Array.from(node.childNodes, textOf).join("") + (node.matches("li, p, summary") ? "\n" : "");
}

/** Returns the sentences of a block of text. Of a block that may still grow, the last one is left out. */
function sentences(block, isClosed) {
  if (block.matches(".code-block, .table-box, .footnotes")) return isClosed ? [describe(block)].filter(Boolean) : [];
  const segments = Array.from(segmenter.segment(textOf(block)), ({ segment }) => segment);
  if (!isClosed) segments.pop();
  return segments.map((segment) => segment.trim()).filter(Boolean);
}

function describe(block) {
  if (block.matches(".footnotes")) return "";
  if (block.matches(".table-box")) return words("A table with {rows}.", { rows: rows(block.querySelectorAll("tbody tr").length) });
  const language = block.querySelector(".code-head span")?.textContent;
  const length = lines(lineCount(block.querySelector("pre").textContent));
  return language ? words("Code in {language}, {lines}.", { language, lines: length }) : words("Code, {lines}.", { lines: length });
}

function textPieces(part, isClosed) {
  const blocks = Array.from(part.querySelectorAll(":scope > :not(.tail, .blocks), :scope > .blocks:not([data-absent]) > *, :scope > .tail > *"));
  return blocks.flatMap((block, index) => {
    const isOpen = !isClosed && index === blocks.length - 1;
    return isOpen ? sentences(block, false) : remember(block, () => sentences(block, true));
  });
}

/** Returns one piece: that the model thinks, or for how long it thought. The text of a thought is left to the reader. */
function thoughtPieces(part, isClosed) {
  if (!part.querySelector(".fold-body").textContent.trim()) return [];
  const status = part.closest("article").querySelector('.status [data-when="thought"]');
  return [isClosed ? `${part.querySelector("summary").textContent}.` : status?.textContent].filter(Boolean);
}

function resultPieces(part) {
  if (!part.dataset.outcome) return [];
  const output = part.querySelector("pre")?.textContent.trim() ?? "";
  const ending = ENDINGS[part.dataset.outcome];
  if (!output) return [`${ending}.`];
  if (output.length <= RESULT_LIMIT_CHARS && !output.includes("\n")) return [`${ending}: ${output}`];
  return [words("{ending}, {lines} of output.", { ending, lines: lines(lineCount(output)) })];
}

function displayPieces(part) {
  const names = Array.from(part.querySelectorAll(".table-scroll, img, [role=group]:not(pre)"), (one) => one.alt ?? one.getAttribute("aria-label"));
  return names.filter(Boolean).map((name) => `${name}.`);
}

function partPieces(part, isClosed) {
  switch (part.dataset.partKind) {
    case "text": return textPieces(part, isClosed);
    case "thought": return thoughtPieces(part, isClosed);
    case "executable_code": return [words("Running {language} code, {lines}.", { language: part.querySelector("summary").firstChild.textContent, lines: lines(lineCount(part.querySelector("pre").textContent)) })];
    case "code_execution_result": return resultPieces(part);
    case "display": return displayPieces(part);
    case "tool_call": return [`${Array.from(part.querySelector("summary").childNodes, (node) => node.textContent).filter(Boolean).join(": ")}.`];
    default: return part.matches("figure") ? [`${part.querySelector("img").alt}.`] : [];
  }
}

function remember(element, find) {
  if (!finished.has(element)) finished.set(element, find());
  return finished.get(element);
}

/** Returns everything that can be said about an answer so far, in order. `isLive`: its end may still grow. */
export function spokenPieces(article, isLive) {
  const parts = Array.from(article.querySelector(".parts").children);
  return parts.flatMap((part, index) => partPieces(part, !isLive || index < parts.length - 1));
}
