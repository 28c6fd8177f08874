/** Shows the output of the person's own code in the panel: a copy of that in the answer, which may be out of view. */
import { connection } from "./connection.js";
import { words } from "./words.js";

const COPY_EVERY_MS = 200;
/** A copy takes at most this share of the time. */
const SHARE = 0.1;
const LIVE = ["queued", "running", "waiting"];
const NO_OUTPUT = "details[data-part-kind], .code-end";

const box = document.getElementById("own-output");
const [head, output] = box.children;
const [button] = head.children;
const title = document.createElement("strong");
head.prepend(title);
let messageId = null;
let isLive = false;
let timer = null;
let pause_ms = COPY_EVERY_MS;

const article = () => document.getElementById(`message-${messageId}`);

/** Shows the output of an answer from now on, while it grows. */
export function followOutput(id) {
  messageId = id;
  isLive = true;
  box.hidden = false;
  copy();
}

function copy() {
  timer = null;
  const began_ms = performance.now();
  const source = article();
  isLive = !source || LIVE.includes(source.dataset.status);
  const isAtEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 8;
  const parts = [...(source?.querySelectorAll(".parts > *, .end > *, .status > .notice") ?? [])];
  const copies = parts.filter((part) => !part.matches(NO_OUTPUT)).map((part) => part.cloneNode(true));
  for (const one of copies) for (const named of [one, ...one.querySelectorAll("[id]")]) named.removeAttribute("id");
  output.replaceChildren(...copies);
  const hasOutput = output.textContent.trim() !== "" || output.querySelector("img") !== null;
  title.textContent = isLive ? words("Your code is running…") : hasOutput ? words("Output of your code") : words("Your code gave no output.");
  button.hidden = !source;
  if (isAtEnd) output.scrollTop = output.scrollHeight;
  pause_ms = Math.max(COPY_EVERY_MS, (performance.now() - began_ms) / SHARE);
}

button.addEventListener("click", () => article()?.scrollIntoView({ block: "nearest" }));

connection.addEventListener("frame", () => {
  if (isLive) timer ??= setTimeout(copy, pause_ms);
});
