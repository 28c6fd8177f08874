/** Thumbs under answers: htmx posts them through the form of their dialog, which also asks why. */
const dialog = document.getElementById("feedback");
const form = dialog.querySelector("form");
const { verdict, reason } = form.elements;
const error = dialog.querySelector(".error");
const note = document.getElementById("composer-note");
const announcer = document.getElementById("announcer");

const WORDS = { good: "Rated as a good answer.", bad: "Rated as a bad answer.", none: "The rating was taken back." };

/** The answer that the dialog is about. */
let article = null;

function post(about, values, event) {
  const target = `#${about.id}-rating`;
  const url = `${location.pathname}messages/${about.dataset.messageId}/feedback/`;
  error.replaceChildren();
  note.textContent = "";
  htmx.ajax("POST", url, { source: form, target, swap: "outerMorph", values, event });
}

function ask(about, said, why) {
  article = about;
  verdict.value = said;
  reason.value = why;
  dialog.dataset.verdict = verdict.value;
  dialog.querySelector("h2").textContent = verdict.value === "good" ? "What was good?" : "What was wrong?";
  error.replaceChildren();
  dialog.showModal();
  reason.focus();
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-action]");
  const { action, verdict: pressed } = button?.dataset ?? {};
  if (action === "rate") {
    const about = button.closest("article");
    post(about, { verdict: pressed, reason: "" });
    if (pressed === "bad") ask(about, pressed, "");
  } else if (action === "say-why") {
    // The good one's button says what pressing it again would do.
    const isGood = button.parentElement.querySelector('[data-action="rate"]').dataset.verdict === "none";
    ask(button.closest("article"), isGood ? "good" : "bad", button.hasAttribute("aria-label") ? button.textContent : "");
  }
  if (action === "ready-reason") {
    reason.value = [reason.value.trim(), button.textContent].filter(Boolean).join(". ");
    reason.focus();
  }
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (article) post(article, {}, event);
});

/** A refusal is a sentence; anything else that is not the thumbs is not for a reader. */
function sentenceOf({ status, raw }, text) {
  if (status === 400) return text;
  if (raw.redirected || status === 403) return "You are no longer logged in. Reload the page and log in.";
  return status === 404 ? "This answer is gone." : "This could not be saved. Try again.";
}

function say(sentence) {
  (dialog.open ? error : note).textContent = sentence;
}

form.addEventListener("htmx:after:request", (event) => {
  const { response, text, request, sourceEvent } = event.detail.ctx;
  if (response.status === 200 && !response.raw.redirected) {
    announcer.textContent = WORDS[request.body.get("verdict")];
    if (sourceEvent.type === "submit") dialog.close();
    return;
  }
  event.preventDefault();
  say(sentenceOf(response, text));
});
form.addEventListener("htmx:error", () => say("This could not be saved: no connection. Try again."));
