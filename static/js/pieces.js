/**
 * Uploads a file in pieces by the protocol tus 1.0. The server knows how much it has, so a broken upload continues
 * where it ended, also after the page was closed.
 */
import { send } from "./upload.js";
import { whyNotTaken } from "./refusals.js";
import { words } from "./words.js";

const PIECE_BYTES = 4 * 1024 * 1024;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30000;
const TUS = { "Tus-Resumable": "1.0.0" };

/** Returns a text as `Upload-Metadata` wants it: base64 of UTF-8. */
function encoded(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Waits, but not longer than until the connection is back. */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal.removeEventListener("abort", cancel);
      resolve();
    };
    const cancel = () => reject(signal.reason);
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal.addEventListener("abort", cancel);
  });
}

/** One upload. `token`: the CSRF token; `onProgress(share)` and `onPause()` report its state. */
export class PieceUpload {
  constructor(file, token, { onProgress, onPause }) {
    Object.assign(this, { file, onProgress, onPause, url: "", offset: 0, pauseMs: FIRST_PAUSE_MS });
    this.headers = { ...TUS, "X-CSRFToken": token };
    this.aborter = new AbortController();
  }

  /** Uploads the file, and returns the URL of the page that shows its import. Throws an error for the user. */
  async run(creationUrl) {
    const { name, size, lastModified } = this.file;
    const metadata = `filename ${encoded(name)},fingerprint ${encoded(`${size}-${lastModified}-${name}`.slice(0, 80))}`;
    try {
      const created = await this.insist(() => this.request("POST", creationUrl, { "Upload-Length": String(size), "Upload-Metadata": metadata }));
      this.url = created.header("Location");
      this.offset = Number(created.header("Upload-Offset"));
      while (this.offset < size) await this.insist(() => this.sendPiece());
    } catch (error) {
      // Without a connection, the server deletes it after a day.
      if (error.name === "AbortError" && this.url) await send("DELETE", this.url, this.headers, null).catch(() => {});
      throw error;
    }
    return this.url;
  }

  /** Ends the upload, and deletes what the server has of it. Then `run` throws an AbortError. */
  cancel() {
    this.aborter.abort(new DOMException("cancelled", "AbortError"));
  }

  async sendPiece() {
    const piece = this.file.slice(this.offset, this.offset + PIECE_BYTES);
    const headers = { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(this.offset) };
    const answer = await this.request("PATCH", this.url, headers, piece, (share) => {
      this.onProgress((this.offset + share * piece.size) / this.file.size);
    });
    this.offset = Number(answer.header("Upload-Offset"));
    this.onProgress(this.offset / this.file.size);
  }

  /** Sends a request. Throws a TypeError if there is no answer, and RetryLater if the server can take it later. */
  async request(method, url, headers, body = null, onProgress = () => {}) {
    const answer = await send(method, url, { ...this.headers, ...headers }, body, onProgress, this.aborter.signal);
    if (answer.isRedirected) throw new Error(words("You are no longer logged in. Reload the page and log in."));
    const isLate = answer.status === 409 || answer.status === 429 || answer.status >= 500;
    if (isLate) throw new RetryLater(Number(answer.header("Retry-After")) * 1000);
    if (!answer.isOk) throw new Error(whyNotTaken(answer, this.file.name));
    return answer;
  }

  /** Repeats an action until it succeeds, each time after a longer pause, and from where the server says. */
  async insist(action) {
    for (;;) {
      try {
        const result = await action();
        this.pauseMs = FIRST_PAUSE_MS;
        return result;
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RetryLater)) throw error;
        this.onPause();
        await pause(Math.max(this.pauseMs, error.pauseMs || 0), this.aborter.signal);
        this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
        if (this.url) await this.findOffset();
      }
    }
  }

  /** Asks how much the server has. Without an answer, the piece is sent, and asks again. */
  async findOffset() {
    try {
      this.offset = Number((await this.request("HEAD", this.url)).header("Upload-Offset"));
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RetryLater)) throw error;
    }
  }
}

class RetryLater extends Error {
  constructor(pauseMs) {
    super("later");
    this.pauseMs = pauseMs;
  }
}
