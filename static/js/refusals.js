/** Why the server, or a proxy in front of it, did not take a file. */
import { words } from "./words.js";

/** Returns the reason. A proxy answers without a sentence, and without the headers of this server. */
export function whyNotTaken({ status, data, header }, name) {
  if (data.detail) return data.detail;
  if (status === 413) return words("“{name}” was not taken: a server in front of this one takes no file of this size. Whoever runs it can allow more.", { name });
  if (status >= 502 || status === 408 || status === 429) return words("“{name}” was not taken: a server in front of this one got no answer. Try again in a moment.", { name });
  // After 401, and a login page of a proxy, a reload helps.
  const isRefused = status >= 400 && status !== 401 && !header("X-DNS-Prefetch-Control");
  if (isRefused) return words("“{name}” was not taken: a server in front of this one refuses it (status {status}). Whoever runs it can allow it.", { name, status });
  return words("{name} could not be uploaded. Reload the page and try again.", { name });
}
