/**
 * The person's own code in the panel of the session, and its output: a copy of that in the answer, which may be out of view.
 */
import { call } from "./api.js";
import { connection, newClientId } from "./connection.js";
import { store } from "./drafts.js";
import { unpin } from "./scrolling.js";
import { words } from "./words.js";

// `forget.js` removes keys that begin like this.
const DRAFT_KEY = `plotline:own-code:${location.pathname}`;
const COPY_EVERY_MS = 200;
/** Maximum share of time for copying. */
const SHARE = 0.1;
const LIVE = ["queued", "running", "waiting"];
const NO_OUTPUT = "details[data-part-kind], .code-end";

const form = document.getElementById("own-code");
const { code } = form.elements;
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
function followOutput(id) {
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
  // Buttons are only for the graph in the answer.
  for (const one of copies) for (const tool of one.querySelectorAll("figcaption :is(button, a)")) tool.remove();
  for (const one of copies) for (const named of [one, ...one.querySelectorAll("[id]")]) named.removeAttribute("id");
  output.replaceChildren(...copies);
  const hasOutput = output.textContent.trim() !== "" || output.querySelector("img") !== null;
  title.textContent = isLive ? words("Your code is running…") : hasOutput ? words("Output of your code") : words("Your code gave no output.");
  button.hidden = !source;
  if (isAtEnd) output.scrollTop = output.scrollHeight;
  pause_ms = Math.max(COPY_EVERY_MS, (performance.now() - began_ms) / SHARE);
}

button.addEventListener("click", () => {
  const panel = document.getElementById("session");
  // On a narrow page, the panel covers the conversation.
  if (getComputedStyle(panel).position === "fixed") panel.querySelector('[data-action="close-session"]').click();
  unpin();
  article()?.scrollIntoView();
});

connection.addEventListener("frame", () => {
  if (isLive) timer ??= setTimeout(copy, pause_ms);
});

code.value = sessionStorage.getItem(DRAFT_KEY) ?? "";
code.addEventListener("input", () => store(sessionStorage, DRAFT_KEY, code.value));
code.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit();
});

/** `{text, key}` of the code that was sent last, until a reply says that it was stored. Sent again, it runs once. */
let unconfirmed = null;
let isSending = false;

async function run(text) {
  if (unconfirmed?.text !== text) unconfirmed = { text, key: newClientId() };
  const { api } = document.getElementById("session").dataset;
  const turn = await call(`${api}run/`, { code: text }, { "Idempotency-Key": unconfirmed.key });
  unconfirmed = null;
  followOutput(turn.message_id);
  if (code.value !== text) return;
  code.value = "";
  sessionStorage.removeItem(DRAFT_KEY);
}

/** Lets the form run its code. `attempt` calls a function and shows its error; `onStarted` is called once code runs. */
export function connectForm(attempt, onStarted) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = code.value;
    if (!text.trim() || isSending) return;
    isSending = true;
    await attempt(() => run(text).then(onStarted));
    isSending = false;
  });
}
