/**
 * What the page does when the user is logged out or may not open the conversation any more, and after the next login, which
 * may happen in another tab. The page is reloaded, unless it holds something that was not sent.
 */
import { connection } from "./connection.js";
import { files } from "./files.js";
import { outbox } from "./outbox.js";
import { queued } from "./queue.js";
import { box } from "./text_box.js";
import { renewTokens } from "./tokens.js";
import { words } from "./words.js";

const CHECK_EVERY_FAILURES = 3;
const notice = document.getElementById("logged-out");
const note = document.getElementById("composer-note");
let failures = 0;

function hasUnsent() {
  return Boolean(box.value.trim() || files.list().length || files.isBusy() || outbox.message || queued());
}

/** Notices a log-out or a deletion. A refused handshake looks like a network failure, so the page is requested. */
async function check() {
  let response;
  try {
    response = await fetch(location.href, { redirect: "manual", cache: "no-store" });
  } catch {
    // The network is down; hx-ws tries again.
    return;
  }
  const isLoggedOut = response.type === "opaqueredirect";
  // The connection may be open again.
  if (!failures || (!isLoggedOut && response.status !== 403 && response.status !== 404)) return;
  if (!hasUnsent()) location.reload();
  else if (!isLoggedOut) note.textContent = words("You cannot open this conversation any more. Copy what you have written, and reload the page.");
  notice.hidden = !isLoggedOut;
}

connection.addEventListener("close", () => {
  failures += 1;
  if (failures % CHECK_EVERY_FAILURES === 0) check();
});
connection.addEventListener("open", () => {
  failures = 0;
  notice.hidden = true;
  renewTokens();
});

// A request without a login is redirected to the page for logging in, which must not be put into this page.
document.addEventListener("htmx:after:request", (event) => {
  const { raw } = event.detail.ctx.response;
  if (!raw.redirected || new URL(raw.url).pathname !== notice.querySelector("a").pathname) return;
  event.preventDefault();
  note.textContent = words("You are no longer logged in. Reload the page and log in.");
});
