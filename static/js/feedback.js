/** Ratings of answers. htmx submits them through the form of the dialog that asks for a reason. */
import { words } from "./words.js";

const dialog = document.getElementById("feedback");
const form = dialog.querySelector("form");
const { verdict, reason } = form.elements;
const error = dialog.querySelector(".error");
const note = document.getElementById("composer-note");
const announcer = document.getElementById("announcer");

const ANNOUNCEMENTS = { good: words("Rated as a good answer."), bad: words("Rated as a bad answer."), none: words("The rating was removed.") };

/** The answer whose rating the dialog shows. */
let ratedArticle = null;

function post(article, values, event) {
  const target = `#${article.id}-rating`;
  const url = `${location.pathname}messages/${article.dataset.messageId}/feedback/`;
  error.replaceChildren();
  note.textContent = "";
  htmx.ajax("POST", url, { source: form, target, swap: "outerMorph", values, event });
}

function openDialog(article, newVerdict, newReason) {
  ratedArticle = article;
  verdict.value = newVerdict;
  reason.value = newReason;
  dialog.dataset.rating = verdict.value;
  dialog.querySelector("h2").textContent = verdict.value === "good" ? words("What was good?") : words("What was wrong?");
  error.replaceChildren();
  dialog.showModal();
  reason.focus();
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action, rating } = button?.dataset ?? {};
  if (action === "rate") {
    const article = button.closest("article");
    post(article, { verdict: rating, reason: "" });
    if (rating === "bad") openDialog(article, rating, "");
  } else if (action === "say-why") {
    // `data-rating` of a button is the rating after a click. The first button has "none" if the answer is rated good.
    const isGood = button.parentElement.querySelector('[data-action="rate"]').dataset.rating === "none";
    openDialog(button.closest("article"), isGood ? "good" : "bad", button.dataset.reason);
  }
  if (action === "ready-reason") {
    reason.value = [reason.value.trim(), button.textContent].filter(Boolean).join(". ");
    reason.focus();
  }
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (ratedArticle) post(ratedArticle, {}, event);
});

/** Returns the message for a failed request. A response with status 400 contains a message for the user. */
function errorMessage({ status, raw }, text) {
  if (status === 400) return text;
  if (raw.redirected || status === 403) return words("You are no longer logged in. Reload the page and log in.");
  return status === 404 ? words("This answer is gone.") : words("This could not be saved. Try again.");
}

function showError(message) {
  (dialog.open ? error : note).textContent = message;
}

form.addEventListener("htmx:after:request", (event) => {
  const { response, text, request, sourceEvent } = event.detail.ctx;
  if (response.status === 200 && !response.raw.redirected) {
    // The announcer is silent while the dialog is open.
    if (sourceEvent.type === "submit") dialog.close();
    announcer.textContent = ANNOUNCEMENTS[request.body.get("verdict")];
    return;
  }
  event.preventDefault();
  showError(errorMessage(response, text));
});
form.addEventListener("htmx:error", () => showError(words("This could not be saved: no connection. Try again.")));
