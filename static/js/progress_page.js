/** Reloads a page with `#progress-page` every two seconds, until its task has ended. */
const INTERVAL_MS = 2000;

async function update() {
  const shown = document.getElementById("progress-page");
  if (!("open" in shown.dataset)) return;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    // After a logout, the page leads to the login.
    if (response.redirected || response.status === 404) return location.reload();
    const next = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("progress-page");
    // A button that has the focus must not be replaced.
    if (next && !shown.isEqualNode(next) && !shown.querySelector("form:focus-within")) shown.replaceWith(next);
  } catch {
    // No connection: try again later.
  }
  setTimeout(update, INTERVAL_MS);
}

setTimeout(update, INTERVAL_MS);
