/**
 * The socket's connection: shows its state, applies frames and acknowledges them.
 *
 * `connection` fires `open`, `close`, `before` (frames are about to be applied; `detail` is their HTML), `frame` (they were
 * applied), `accepted` (the server stored a message; `detail` is its client_id) and `rejected` (it refused a message, and the
 * frame says why; `detail` is its client_id or call_id).
 */
import { Pacing } from "./pacing.js";
import { held } from "./reader.js";

export const connection = new EventTarget();

const ACK_EVERY_FRAMES = 16;
const ACK_AFTER_MS = 1000;
const BANNER_AFTER_MS = 1500;

const banner = document.getElementById("connection");
let socket = null;
/** The record that hx-ws keeps of the socket, or null before it is open. */
export let socketRecord = null;
let bannerTimer = null;

export function isOpen() {
  return socket?.readyState === WebSocket.OPEN;
}

/** Sends one JSON object; returns false, and sends nothing, if the connection is not open. */
export function send(message) {
  if (!isOpen()) return false;
  socket.send(JSON.stringify(message));
  return true;
}

/** Returns a new message ID; a message that is sent twice with the same ID starts only one turn. */
export function newClientId() {
  // crypto.randomUUID is missing on plain http, which self-hosted servers often use.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function dispatch(name, detail) {
  connection.dispatchEvent(new CustomEvent(name, { detail }));
}

// --- acknowledgements: the server pauses while too many frames are not acknowledged --------------------------

let pendingAck = null;
let pendingAckFrames = 0;
let ackTimer = null;

function acknowledge() {
  clearTimeout(ackTimer);
  ackTimer = null;
  if (pendingAck) send({ action: "ack", ...pendingAck });
  pendingAck = null;
  pendingAckFrames = 0;
}

function recordApplied({ turn, seq }) {
  // An acknowledgement covers one turn, so a frame of another turn ends the current one.
  if (pendingAck && pendingAck.turn !== turn) acknowledge();
  pendingAck = { turn, seq };
  pendingAckFrames += 1;
  // Browsers slow down the timers of hidden pages, by up to a minute.
  if (pendingAckFrames >= ACK_EVERY_FRAMES || document.hidden) acknowledge();
  else ackTimer ??= setTimeout(acknowledge, ACK_AFTER_MS);
}

// --- frames --------------------------------------------------------------------------------------------------

const page = document.getElementById("conversation");

const pacing = new Pacing((html, frames) => {
  dispatch("before", html);
  htmx.swap({ sourceElement: page, target: page, swap: "none", text: html, transition: false });
  for (const { accepted } of frames) if (accepted) dispatch("accepted", accepted);
  for (const { rejected } of frames) if (rejected) dispatch("rejected", rejected);
  dispatch("frame");
  for (const frame of frames) if (frame.seq !== undefined) recordApplied(frame);
});

document.addEventListener("htmx:before:ws:message", ({ detail }) => {
  const frame = detail.message.json;
  if (frame?.content === undefined) return;
  // hx-ws would apply the frame at once; the pacing decides when to apply it.
  detail.message.cancelled = true;
  pacing.add(frame);
});

// --- state of the connection ---------------------------------------------------------------------------------

function reconnectNow() {
  // hx-ws has no function for this, but it reconnects at once when the page becomes visible.
  document.dispatchEvent(new Event("visibilitychange"));
}

document.addEventListener("htmx:after:ws:connection", ({ detail }) => {
  // A snapshot may follow, so the waiting frames, which are older, must be applied before it.
  pacing.flush();
  socketRecord = detail.connection;
  socket = socketRecord.socket;
  pendingAck = null;
  clearTimeout(bannerTimer);
  bannerTimer = null;
  banner.hidden = true;
  // The server sends no messages before it knows which the page holds.
  send({ action: "window", ...held() });
  dispatch("open");
});

document.addEventListener("htmx:ws:close", () => {
  pacing.flush();
  bannerTimer ??= setTimeout(() => { banner.hidden = document.hidden; }, BANNER_AFTER_MS);
  dispatch("close");
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) banner.hidden = true;
  else if (!isOpen() && bannerTimer) bannerTimer = setTimeout(() => { banner.hidden = isOpen(); }, BANNER_AFTER_MS);
});
addEventListener("online", reconnectNow);
document.addEventListener("click", ({ target }) => {
  if (target.closest('[data-action="reconnect"]')) reconnectNow();
});
