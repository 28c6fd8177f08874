/** Which lines of a text are Python. Prose, tables, settings and code of other languages are not. */
const LIMIT_CHARS = 100_000;
const LINE_LIMIT_CHARS = 300;
const FENCE = /^\s*(```|~~~)/m;
const PROMPT = /^>>> \S/m;
/** First lines in languages that otherwise look like Python. */
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

/** Returns the code lines of a text without strings and comments, continuation lines joined, as `{code, indent, line}`. */
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
  // A line must be indented after a colon, and only there.
  const isIndented = code.every(({ indent }, at) => {
    const before = code[at - 1];
    return !before || (/:$/.test(before.code) ? indent > before.indent : indent <= before.indent);
  });
  const hasBody = code.some(({ indent }, at) => at && indent > code[at - 1].indent);
  if (!isIndented || !(sure.includes(2) || hasBody)) return null;
  return isAll ? [0, last] : [code[0].line, lines[end + 1] ? code.at(-1).line : last];
}
