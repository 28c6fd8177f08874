/** Entry point of the pages in the frame, except a conversation's, which are reloaded if the user has been logged out. */
import "./list_states.js";
import "./marks.js";
import "./move.js";
import "./search.js";
import "./sidebar.js";
import "./times.js";

// A request without a login is redirected to the page for logging in, which belongs into no part of this page.
document.addEventListener("htmx:after:request", (event) => {
  if (!event.detail.ctx.response.raw.redirected) return;
  event.preventDefault();
  location.reload();
});
