/**
 * What hx-ws leaves to us: saying how the connection stands, acknowledging frames, and applying them exactly.
 *
 * `connection` fires `open`, `close`, `frame` (after one or more frames were applied) and `accepted` (the server
 * stored a message; detail: its client_id).
 */
import { Pacing } from "./pacing.js";

export const connection = new EventTarget();

const ACK_EVERY_FRAMES = 16;
const ACK_AFTER_MS = 1000;
const BANNER_AFTER_MS = 1500;
const TRIES_BEFORE_ASKING = 3;

const banner = document.getElementById("connection");
let socket = null;
let failures = 0;
let bannerTimer = null;

export function isOpen() {
  return socket?.readyState === WebSocket.OPEN;
}

/** Sends one JSON object; false when there is no connection, and then nothing was sent. */
export function send(message) {
  if (!isOpen()) return false;
  socket.send(JSON.stringify(message));
  return true;
}

/** Names a message, so that sending it twice starts one turn. */
export function newClientId() {
  // randomUUID does not exist on plain http, where self-hosted servers often live.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function tell(name, detail) {
  connection.dispatchEvent(new CustomEvent(name, { detail }));
}

// --- acknowledgements: the server stops pushing when too many frames are unanswered --------------------------

let due = null;
let dueFrames = 0;
let ackTimer = null;

function acknowledge() {
  clearTimeout(ackTimer);
  ackTimer = null;
  if (due) send({ action: "ack", ...due });
  due = null;
  dueFrames = 0;
}

function noteApplied({ turn, seq }) {
  // Two turns may share one interval; each is acknowledged by itself.
  if (due && due.turn !== turn) acknowledge();
  due = { turn, seq };
  dueFrames += 1;
  if (dueFrames >= ACK_EVERY_FRAMES) acknowledge();
  else ackTimer ??= setTimeout(acknowledge, ACK_AFTER_MS);
}

// --- exactness -----------------------------------------------------------------------------------------------

const namesOf = (node) => Array.from(node.attributes, ({ name }) => name).filter((name) => name !== "open").join(" ");

htmx.registerExtension("exact-morph", {
  // A morph appends missing attributes in its own order; the page must have the bytes of a reload.
  htmx_before_morph_node: (element, { oldNode, newNode }) => {
    if (!oldNode.attributes || oldNode.hasAttribute("data-htmx-powered")) return;
    if (namesOf(oldNode) === namesOf(newNode)) return;
    for (const { name } of Array.from(oldNode.attributes)) {
      if (name !== "open") oldNode.removeAttribute(name);
    }
  },
});

const page = document.getElementById("conversation");

const pacing = new Pacing((html, frames) => {
  htmx.swap({ sourceElement: page, target: page, swap: "none", text: html, transition: false });
  for (const { accepted } of frames) if (accepted) tell("accepted", accepted);
  tell("frame");
  for (const frame of frames) if (frame.seq !== undefined) noteApplied(frame);
});

document.addEventListener("htmx:before:ws:message", ({ detail }) => {
  const frame = detail.message.json;
  if (frame?.content === undefined) return;
  // What hx-ws would do at once is done in time.
  detail.message.cancelled = true;
  pacing.take(frame);
});

// --- the connection's state ----------------------------------------------------------------------------------

function reconnectNow() {
  // hx-ws connects again at once when the page becomes visible, and has no other way to be asked.
  document.dispatchEvent(new Event("visibilitychange"));
}

/** A refused handshake looks like a dead network; asking for the page tells a log-out or a deletion from it. */
async function askWhy() {
  try {
    const answer = await fetch(location.href, { redirect: "manual", cache: "no-store" });
    if (answer.type === "opaqueredirect" || answer.status === 403 || answer.status === 404) location.reload();
  } catch {
    // No network: hx-ws goes on trying.
  }
}

document.addEventListener("htmx:after:ws:connection", ({ detail }) => {
  // A snapshot may follow, and what waits is older.
  pacing.flush();
  socket = detail.connection.socket;
  failures = 0;
  due = null;
  clearTimeout(bannerTimer);
  bannerTimer = null;
  banner.hidden = true;
  tell("open");
});

document.addEventListener("htmx:ws:close", () => {
  pacing.flush();
  failures += 1;
  bannerTimer ??= setTimeout(() => { banner.hidden = document.hidden; }, BANNER_AFTER_MS);
  if (failures === TRIES_BEFORE_ASKING) askWhy();
  tell("close");
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) banner.hidden = true;
  else if (!isOpen() && bannerTimer) bannerTimer = setTimeout(() => { banner.hidden = isOpen(); }, BANNER_AFTER_MS);
});
addEventListener("online", reconnectNow);
document.addEventListener("click", ({ target }) => {
  if (target.closest('[data-action="reconnect"]')) reconnectNow();
});
