/** Offers to put pasted Python into a fenced block. It is never done without a person, and browsers can undo it. */
import { outbox } from "./outbox.js";
import { box } from "./text_box.js";
import { words } from "./words.js";

const LIMIT_CHARS = 100_000;
const LINE_LIMIT_CHARS = 300;
const FENCE = /^\s*(```|~~~)/m;
const PROMPT = /^>>> \S/m;
/** Lines with which languages begin that look like Python in other lines. */
const FOREIGN = /^\s*(end$|fi$|done$|library\(|require\(|install\.packages\(|console\.|document\.|window\.|local |\[\[?[\w."-]+\]\]?$|.*;$)/m;
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const TARGET = String.raw`\*?${NAME}(\.${NAME}|\[[^\]]*\])*`;
const IMPORT = new RegExp(String.raw`^(from \.*[\w.]* ?import (\w|\(|\*)[\w, ]*|import [\w.]+( as \w+)?(, ?[\w.]+( as \w+)?)*)\\?$`, "u");
const DEFINITION = new RegExp(String.raw`^((async )?def ${NAME}\(|class ${NAME}[(:]|@${NAME}[\w.]*(\(|$))`, "u");
const BLOCK = /^((if|elif|while|with|async with|except|match|case) ?.+|(async )?for .+ in .+|(try|else|finally|except)):($| .)/;
const ASSIGNMENT = new RegExp(String.raw`^\(?${TARGET}(, ?${TARGET})*,?\)?( ?: ?[^=]+)? ?([-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=) ?\S`, "u");
const CALL = new RegExp(String.raw`^(await )?${NAME}(\.${NAME})*[(\[](.*[)\]\w({\[,])?$`, "u");
/** A statement, a string alone, or a command of a notebook. */
const STATEMENT = /^([rbfu]?"$|[%!][a-z]|(pass|break|continue|return)$|(return|yield|raise|assert|del|global|nonlocal|await) .*[\w)\]}"]$)/;
/** Names in the shell and in files of settings: `NAME=value`. */
const SETTING = /^[A-Z][A-Z0-9_]*=\S/;

/** Cuts a long line in the middle: the expressions above take long for it, and only its begin and its end matter. */
function shorten(code) {
  return code.length > LINE_LIMIT_CHARS ? code.slice(0, LINE_LIMIT_CHARS / 2) + code.slice(-LINE_LIMIT_CHARS / 2) : code;
}

/** Returns the code lines of a text without strings and comments, what continues a line joined to it, as `{code, indent, line}`. */
function logicalLines(text) {
  const lines = [];
  let [quote, depth, continues] = ["", 0, false];
  text.split("\n").forEach((source, line) => {
    let code = "";
    const isBegin = !quote && !depth && !continues;
    for (let at = 0; at < source.length; at += 1) {
      const rest = source.slice(at, at + 3);
      if (quote) {
        if (rest[0] === "\\") at += 1;
        else if (rest.startsWith(quote)) {
          at += quote.length - 1;
          quote = "";
        }
        continue;
      }
      if (rest[0] === "#") break;
      if (rest[0] === '"' || rest[0] === "'") {
        quote = rest === '"""' || rest === "'''" ? rest : rest[0];
        at += quote.length - 1;
        code += '"';
        continue;
      }
      if ("([{".includes(rest[0])) depth += 1;
      if (")]}".includes(rest[0])) depth -= 1;
      code += rest[0];
    }
    // A string in single quotes ends with its line, such as the apostrophe of a word.
    if (quote.length === 1) quote = "";
    continues = /\\$/.test(code.trim());
    code = code.trim().replace(/\s+/g, " ");
    if (isBegin && code) lines.push({ code: shorten(code), indent: source.search(/\S/), line });
    else if (!isBegin && lines.length) lines.at(-1).code = shorten(`${lines.at(-1).code.replace(/\\$/, "")}${code}`);
    if (depth < 0) depth = 0;
  });
  return { lines, isWhole: !depth && !quote };
}

/** Returns how surely a line is one of Python: 0 if it is not, 1 if it may be, 2 if prose and data have no such line. */
function sureness({ code }) {
  if (SETTING.test(code) || code.includes("$") || /[;{]$/.test(code) && !ASSIGNMENT.test(code) && !CALL.test(code)) return 0;
  if (IMPORT.test(code) || DEFINITION.test(code)) return 2;
  if (CALL.test(code)) return /^\w+\(\d*\)$/.test(code) ? 1 : 2;
  if (ASSIGNMENT.test(code)) return /=.*([([{].*[)\]}]|")$/.test(code) ? 2 : 1;
  return BLOCK.test(code) || STATEMENT.test(code) ? 1 : 0;
}

/** Returns which lines of a text are Python, as `[first, last]`; null if they are not, or are mixed with other text. */
export function pythonLines(text) {
  if (text.length > LIMIT_CHARS || FENCE.test(text)) return null;
  const last = text.split("\n").length - 1;
  if (PROMPT.test(text)) return last ? [0, last] : null;
  const { lines, isWhole } = logicalLines(text);
  const sure = lines.map(sureness);
  const [begin, end] = [sure.findIndex(Boolean), sure.findLastIndex(Boolean)];
  const code = lines.slice(begin, end + 1);
  const isAll = code.length === lines.length;
  if (begin < 0 || !isWhole || code.length < 2 || FOREIGN.test(text)) return null;
  if (sure.slice(begin, end + 1).includes(0)) return null;
  // A line is indented after a colon alone, and there it must be.
  const isIndented = code.every(({ indent }, at) => {
    const before = code[at - 1];
    return !before || (/:$/.test(before.code) ? indent > before.indent : indent <= before.indent);
  });
  const hasBody = code.some(({ indent }, at) => at && indent > code[at - 1].indent);
  if (!isIndented || !(sure.includes(2) || hasBody)) return null;
  return isAll ? [0, last] : [code[0].line, lines[end + 1] ? code.at(-1).line : last];
}

// --- the offer -------------------------------------------------------------------------------------------------

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

/** Keeps the offer only while its text stands in the box and can be changed. */
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
  // Within a fenced block it is code already.
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
