/** Keeps what is selected in an answer while the answer grows: each change replaces texts, which collapses a selection. */
import { connection } from "./connection.js";

/** The selection before a change: `{id, ends, text}`, or null. `ends`: characters before its anchor and before its focus. */
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
  const common = selection.getRangeAt(0).commonAncestorContainer;
  const element = common instanceof Element ? common : common.parentElement;
  const root = element.closest("[data-part-kind][id]") ?? element.closest("#transcript article[id]");
  if (!root) return;
  const [anchor, anchorOffset, focus, focusOffset] = ends(selection);
  kept = {
    id: root.id,
    nodes: [anchor, anchorOffset, focus, focusOffset],
    anchor: measure(root, anchor, anchorOffset),
    focus: measure(root, focus, focusOffset),
    text: selection.getRangeAt(0).toString(),
  };
});

connection.addEventListener("frame", () => {
  const root = kept && document.getElementById(kept.id);
  const selection = getSelection();
  if (!root || ends(selection).every((end, index) => end === kept.nodes[index])) return;
  const isForward = kept.anchor <= kept.focus;
  const [anchor, focus] = [find(root, kept.anchor, isForward), find(root, kept.focus, !isForward)];
  const range = document.createRange();
  const [start, end] = isForward ? [anchor, focus] : [focus, anchor];
  range.setStart(...start);
  range.setEnd(...end);
  // Markdown may have made something else of the text, such as a table.
  if (range.toString() === kept.text) selection.setBaseAndExtent(...anchor, ...focus);
});
