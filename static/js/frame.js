/** Entry point of the pages in the frame, except a conversation's, which are reloaded if the user has been logged out, unless they hold what was typed. */
import "./list_states.js";
import "./marks.js";
import "./move.js";
import "./search.js";
import "./sidebar.js";
import "./times.js";
import { renewTokens } from "./tokens.js";

const notice = document.getElementById("logged-out");

function isChanged({ type, value, defaultValue, checked, defaultChecked }) {
  return ["checkbox", "radio"].includes(type) ? checked !== defaultChecked : value !== defaultValue;
}

// A request without a login is redirected to the page for logging in, which must not be put into this page.
document.addEventListener("htmx:after:request", (event) => {
  if (!event.detail.ctx.response.raw.redirected) return;
  event.preventDefault();
  if (Array.from(document.querySelectorAll("#main :is(input, textarea)")).some(isChanged)) notice.hidden = false;
  else location.reload();
});

// The next login may happen in another tab.
addEventListener("focus", renewTokens);
