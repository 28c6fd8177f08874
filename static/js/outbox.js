/**
 * The message on its way. Until the server reports that it stored the message (`accepted`), it is kept, and is sent again
 * with the same client_id each time the connection opens.
 *
 * `outbox` fires `change`, `accepted` and `rejected`; `detail` is the message. `isFromBox` in a message says that its text
 * is in the text box, and `files` describes its attachments; the server gets neither.
 */
import { connection, send } from "./connection.js";
import { pin } from "./scrolling.js";
import { words } from "./words.js";

/** Most messages are accepted sooner. A line shown briefly would move the box. */
const SLOW_MS = 500;
const NO_CONNECTION = words("No connection. Your message is kept and is sent when it is back.");
const note = document.getElementById("composer-note");
const error = document.getElementById("composer-error");

class Outbox extends EventTarget {
  /** The message that was submitted but not accepted, or null. */
  message = null;
  /** Whether it was sent over the present connection. */
  isSent = false;

  constructor() {
    super();
    connection.addEventListener("open", () => { if (this.message) this.#deliver(); });
    connection.addEventListener("close", () => {
      if (!this.message) return;
      this.#set(this.message, false);
      note.textContent = NO_CONNECTION;
    });
    connection.addEventListener("accepted", ({ detail }) => {
      if (this.message?.client_id === detail) this.#end("accepted");
    });
    connection.addEventListener("rejected", ({ detail }) => {
      if (this.message?.client_id === detail) this.#end("rejected");
    });
  }

  /** Sends a message now, or as soon as there is a connection. */
  put(message) {
    this.message = message;
    this.#deliver();
    pin({ hasRoom: message.action === "send" });
  }

  /** Forgets the message. */
  clear() {
    note.textContent = "";
    this.#set(null, false);
  }

  #deliver() {
    error.replaceChildren();
    const { isFromBox, files, ...content } = this.message;
    this.#set(this.message, send(content));
    note.textContent = this.isSent ? "" : NO_CONNECTION;
    const { message } = this;
    setTimeout(() => { if (this.message === message && this.isSent) note.textContent = words("Sending…"); }, SLOW_MS);
  }

  #end(name) {
    const { message } = this;
    note.textContent = "";
    this.message = null;
    this.isSent = false;
    // First empty the box, so that its text is not taken for a draft.
    this.dispatchEvent(new CustomEvent(name, { detail: message }));
    this.dispatchEvent(new Event("change"));
  }

  #set(message, isSent) {
    this.message = message;
    this.isSent = isSent;
    this.dispatchEvent(new Event("change"));
  }
}

export const outbox = new Outbox();
