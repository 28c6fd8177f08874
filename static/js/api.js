/** Calls of the REST API with the page's session. */
import { words } from "./words.js";

/** With this header, the server explains problems in the language of the page. */
const OF_PAGE = { "X-Plotline-Page": "1" };
const token = () => document.querySelector("#composer [name=csrfmiddlewaretoken]").value;

/** An error whose message is for the user. `status` is that of the response, or 0 without one. */
export class CallError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

async function request(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch {
    throw new CallError(words("No connection. Try again."));
  }
  if (response.redirected) throw new CallError(words("You are no longer logged in. Reload the page and log in."));
  const isJSON = /json/.test(response.headers.get("Content-Type") ?? "");
  const answer = isJSON ? await response.json() : {};
  // A body that nobody reads would keep the connection, and the server's work, open.
  if (!isJSON) await response.body?.cancel();
  if (!response.ok) throw new CallError(answer.detail ?? answer.title ?? words("The server did not answer. Try again."), response.status);
  return answer;
}

/** Reads JSON. Throws CallError. */
export function read(url) {
  return request(url, { headers: { Accept: "application/json", ...OF_PAGE } });
}

/** Sends one call that changes something, and returns the response's JSON. Throws CallError. */
export function call(url, body = {}, otherHeaders = {}) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token(), ...OF_PAGE, ...otherHeaders };
  return request(url, { method: "POST", headers, body: JSON.stringify(body) });
}
