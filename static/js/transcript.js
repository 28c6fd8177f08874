/** The transcript: its state, the buttons of messages, and exact swaps. */
import { connection, send } from "./connection.js";
import { holdsEnd } from "./reader.js";
import { pin, unpin } from "./scrolling.js";
import { counted, words } from "./words.js";

const LIVE = '[data-status="queued"], [data-status="running"], [data-status="waiting"]';
const transcript = () => document.getElementById("transcript");
const scroller = document.getElementById("scroller");
const announcer = document.getElementById("announcer");
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");

/** Returns whether an answer is being written or waits for a decision. */
export function isLive() {
  return transcript().querySelector(LIVE) !== null;
}

/** Returns the last message if it is an answer, or null. */
export function lastAnswer() {
  return transcript().querySelector('[data-role="model"]:last-child');
}

/** Returns whether the last answer came to its end, and was not stopped or interrupted. */
export function isDone() {
  return lastAnswer()?.dataset.status === "done";
}

/** Returns whether an answer waits for a decision. */
export function isWaiting() {
  return transcript().querySelector('[data-status="waiting"]') !== null;
}

/** Asks the server to stop the answer that is being written. */
export function stop() {
  const button = document.querySelector('#composer [data-action="stop"]');
  button.click();
}

/** Says how many messages a new version of a message will hide; empty if none. */
export function describeHidden(article) {
  let count = 0;
  for (let next = article?.nextElementSibling; next; next = next.nextElementSibling) count += 1;
  if (!holdsEnd()) return words("The messages after it will stay with the old version, and its arrows lead back to them.");
  if (count === 0) return "";
  return counted(
    count,
    "The message after it will stay with the old version, and its arrows lead back to it.",
    "The {number} messages after it will stay with the old version, and its arrows lead back to them.",
  );
}

let shownStatus = lastAnswer()?.dataset.status;

connection.addEventListener("frame", () => {
  const status = lastAnswer()?.dataset.status;
  if (status !== shownStatus && !isLive()) note.textContent = "";
  shownStatus = status;
});

// --- versions: after a switch, the message keeps its position on the screen, and its button keeps the focus ---------

/** `{message_id, way, top}` of the message that is being switched, or null. */
let versionSwitch = null;

function restorePosition() {
  const article = versionSwitch && document.getElementById(`message-${versionSwitch.message_id}`);
  if (error.textContent.trim()) versionSwitch = null;
  if (!versionSwitch || !article) return;
  unpin();
  scroller.scrollTop += article.getBoundingClientRect().top - versionSwitch.top;
  const buttons = Array.from(article.querySelectorAll('[data-action="switch"]:enabled'));
  (buttons.find(({ dataset }) => dataset.way === versionSwitch.way) ?? buttons[0])?.focus({ preventScroll: true });
  announcer.textContent = `${words("Version")} ${article.querySelector(".versions span").textContent}`;
  versionSwitch = null;
}

connection.addEventListener("frame", restorePosition);

// --- buttons -------------------------------------------------------------------------------------------------------

const SOCKET_ACTIONS = ["stop", "regenerate", "continue", "switch"];

/** The request to stop an answer that waits for the connection, or null. The server ignores it if that answer has ended. */
let unsentStop = null;

connection.addEventListener("open", () => {
  if (unsentStop) send(unsentStop);
  unsentStop = null;
});

document.addEventListener("click", ({ target, detail }) => {
  const button = target.closest("button[data-action]");
  const { action, messageId, codeExecution, way } = button?.dataset ?? {};
  if (!SOCKET_ACTIONS.includes(action)) return;
  // The second click of a double click would ask for another answer.
  if (detail > 1 && (action === "regenerate" || action === "continue")) return;
  error.replaceChildren();
  const isStop = action === "stop";
  // JSON.stringify omits undefined values.
  const message = { action, message_id: isStop ? transcript().querySelector(LIVE)?.dataset.messageId : messageId, code_execution: codeExecution };
  const isSent = send(message);
  if (isStop) {
    if (!isSent) unsentStop = message;
    note.textContent = words("Stopping…");
  } else if (!isSent) note.textContent = words("No connection. Try again when it is back.");
  else if (action === "switch") versionSwitch = { message_id: messageId, way, top: button.closest("article").getBoundingClientRect().top };
  else {
    note.textContent = action === "regenerate" ? describeHidden(button.closest("article")) : "";
    pin({ hasRoom: true });
  }
});

// --- exact swaps ---------------------------------------------------------------------------------------------

const attributeNames = (node) => Array.from(node.attributes, ({ name }) => name).filter((name) => name !== "open").join(" ");

htmx.registerExtension("exact-morph", {
  // A morph appends missing attributes at the end. The page's HTML must equal that of a reload, byte for byte, so all
  // attributes are removed first if their order differs.
  htmx_before_morph_node: (element, { oldNode, newNode }) => {
    // See long_texts.js.
    if (newNode.dataset && "absent" in newNode.dataset && oldNode.nextElementSibling?.className === "blocks") return false;
    if (!oldNode.attributes || oldNode.hasAttribute("data-htmx-powered")) return;
    if (attributeNames(oldNode) === attributeNames(newNode)) return;
    for (const { name } of Array.from(oldNode.attributes)) {
      if (name !== "open") oldNode.removeAttribute(name);
    }
  },
});
