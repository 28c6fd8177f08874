/** Keeps what is selected in an answer while the answer grows: each change replaces texts, which collapses a selection. */
import { connection } from "./connection.js";

/** The selection before a change: `{id, nodes, start, isForward, text}`, or null. `start`: characters before it. */
let kept = null;

function measure(root, node, offset) {
  const range = document.createRange();
  range.setStart(root, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

/** Returns the text node and the offset in it after so many characters. Between two texts, a selection starts in the later one. */
function find(root, characters, isStart) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let rest = characters;
  while (walker.nextNode()) {
    if (rest < walker.currentNode.length + (isStart ? 0 : 1)) return [walker.currentNode, rest];
    rest -= walker.currentNode.length;
  }
  return [root, root.childNodes.length];
}

const ends = ({ anchorNode, anchorOffset, focusNode, focusOffset }) => [anchorNode, anchorOffset, focusNode, focusOffset];

connection.addEventListener("before", () => {
  const selection = getSelection();
  kept = null;
  if (selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  const common = range.commonAncestorContainer;
  const element = common instanceof Element ? common : common.parentElement;
  const root = element.closest("[data-part-kind][id]") ?? element.closest("#transcript article[id]");
  if (!root) return;
  const { startContainer, startOffset } = range;
  kept = {
    id: root.id,
    nodes: ends(selection),
    start: measure(root, startContainer, startOffset),
    isForward: selection.anchorNode === startContainer && selection.anchorOffset === startOffset,
    text: range.toString(),
  };
});

connection.addEventListener("frame", () => {
  const root = kept && document.getElementById(kept.id);
  const selection = getSelection();
  if (!root || ends(selection).every((end, index) => end === kept.nodes[index])) return;
  // Markdown may have made something else of the text, such as a link or a table, without its marks.
  const { start, text } = kept;
  const all = root.textContent;
  const starts = [all.lastIndexOf(text, start), all.indexOf(text, start)].filter((index) => index >= 0);
  if (!starts.length) return;
  const nearest = starts.reduce((a, b) => (Math.abs(b - start) < Math.abs(a - start) ? b : a));
  const [first, last] = [find(root, nearest, true), find(root, nearest + text.length, false)];
  const [anchor, focus] = kept.isForward ? [first, last] : [last, first];
  selection.setBaseAndExtent(...anchor, ...focus);
});
