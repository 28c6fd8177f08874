/** Offers to put pasted Python into a fenced block. It is never done without a person, and browsers can undo it. */
import { outbox } from "./outbox.js";
import { pythonLines } from "./python_lines.js";
import { box } from "./text_box.js";
import { words } from "./words.js";

/** `{start, text}` of what is offered, or null. */
let offered = null;

const offer = document.createElement("div");
const accept = document.createElement("button");
const dismiss = document.createElement("button");
accept.textContent = words("As Python code");
dismiss.textContent = "×";
dismiss.setAttribute("aria-label", words("Leave the text as it is"));
offer.id = "code-offer";
offer.hidden = true;
for (const button of [accept, dismiss]) {
  button.type = "button";
  button.className = "quiet";
  offer.append(button);
}
// Above the composer, so that nothing moves. The style stands here, because few pages need it.
box.form.style.position = "relative";
Object.assign(offer.style, { position: "absolute", insetBlockEnd: "100%", insetInlineEnd: "1rem", zIndex: 2, border: "1px solid var(--line)", borderRadius: "8px", background: "var(--raised)" });
box.closest(".box").before(offer);

function hide() {
  if (offer.contains(document.activeElement)) box.focus();
  offered = null;
  offer.hidden = true;
}

/** Keeps the offer only while its text is in the box and can be changed. */
function check() {
  if (!offered) return;
  const { value } = box;
  if (!value.startsWith(offered.text, offered.start)) offered.start = value.indexOf(offered.text);
  if (offered.start < 0 || box.readOnly || outbox.message) hide();
}

/** Replaces a part of the box in a way that the browser can undo. */
function replace(start, end, text) {
  box.focus();
  box.setSelectionRange(start, end);
  if (document.execCommand("insertText", false, text)) return;
  box.setRangeText(text, start, end, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

accept.addEventListener("click", () => {
  const { start, text } = offered;
  const code = text.replace(/^(\s*\n)+|\s+$/g, "");
  const before = start && box.value[start - 1] !== "\n" ? "\n" : "";
  hide();
  replace(start, start + text.length, `${before}\`\`\`python\n${code}\n\`\`\`\n`);
});
dismiss.addEventListener("click", hide);
box.form.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && offered && !event.isComposing && event.keyCode !== 229) {
    // It neither stops the answer nor ends a change.
    event.preventDefault();
    event.stopPropagation();
    hide();
  } else setTimeout(check);
}, true);
for (const [target, name] of [[box, "input"], [document, "click"], [outbox, "change"], [outbox, "accepted"]]) {
  target.addEventListener(name, () => setTimeout(check));
}

/** Offers what was pasted at `start`, if it holds Python. */
function offerCode(pasted, start) {
  const text = pasted.replace(/\r\n?/g, "\n");
  const found = box.value.startsWith(text, start) && pythonLines(text);
  // In a fenced block, it is code already.
  if (!found || (box.value.slice(0, start).match(/^\s*```/gm) ?? []).length % 2) return;
  const lines = text.split("\n");
  const skipped = lines.slice(0, found[0]).join("\n").length + (found[0] ? 1 : 0);
  offered = { start: start + skipped, text: lines.slice(found[0], found[1] + 1).join("\n") };
  offer.hidden = false;
  document.getElementById("announcer").textContent = words("The pasted text looks like Python.");
  check();
}

box.addEventListener("paste", ({ clipboardData }) => {
  const [text, start] = [clipboardData.getData("text/plain"), box.selectionStart];
  // The browser puts the text into the box after this event.
  if (/\n./.test(text)) setTimeout(() => offerCode(text, start));
});

// The first paste has loaded this module, and is in the box by now.
offerCode(box.value, 0);
