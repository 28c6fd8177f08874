/**
 * Sends decisions about function calls. One that is made before the page has connected for the first time, as right after a
 * reload, waits for the connection. It does not wait for a lost one: code must not run unexpectedly late.
 */
import { connection, isOpen, send } from "./connection.js";
import { words } from "./words.js";

const CONNECTING = words("Connecting… Your decision is sent in a moment.");
const NO_CONNECTION = words("No connection. Try again when it is back.");

const note = document.getElementById("composer-note");
let isConnecting = !isOpen();
let waiting = null;
/** The question that this tab has just answered. */
let sentId = null;

/** Returns the id of the question whose answer is on its way, or null. */
export const decidedId = () => sentId;

/** Forgets the decision: its question is gone. */
export function forgetDecision() {
  sentId = null;
}

/** Sends a decision, or says why it was not sent. */
export function sendDecision(decision) {
  const isSent = send(decision);
  if (!isSent && isConnecting) waiting = decision;
  if (isSent || waiting) sentId = decision.call_id;
  if (!isSent) note.textContent = waiting ? CONNECTING : NO_CONNECTION;
}

// The server has refused the decision, and its sentence is above the composer.
connection.addEventListener("rejected", ({ detail }) => { if (sentId === detail) sentId = null; });

connection.addEventListener("open", () => {
  isConnecting = false;
  if (!waiting) return;
  note.textContent = "";
  send(waiting);
  waiting = null;
});

connection.addEventListener("close", () => {
  if (waiting) note.textContent = NO_CONNECTION;
  isConnecting = false;
  waiting = null;
  sentId = null;
});
