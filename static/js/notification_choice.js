/** The choice whether this browser shows notifications: in the settings of the account, and of each conversation. */
const CHOICE_KEY = "plotline:notifications";
const ON = "on";
const button = document.querySelector('[data-action="notifications"]');

/** Returns whether the user has asked for notifications, and the browser allows them. */
export function areWanted() {
  return "Notification" in window && Notification.permission === "granted" && localStorage.getItem(CHOICE_KEY) === ON;
}

/** Returns the text of a notification. `event`: `done`, `ended` or `waiting`. */
export function notificationText(event) {
  return button.dataset[event];
}

/** Forgets the choice, because this browser cannot show notifications. */
export function forgetChoice() {
  localStorage.removeItem(CHOICE_KEY);
}

function show() {
  const isDenied = Notification.permission === "denied";
  const isOn = areWanted();
  button.setAttribute("aria-pressed", String(isOn));
  for (const help of button.parentElement.querySelectorAll("[data-choice]")) {
    help.hidden = help.dataset.choice !== (isDenied ? "denied" : String(isOn));
  }
}

async function toggle() {
  if (button.getAttribute("aria-pressed") === "true") forgetChoice();
  else if (await Notification.requestPermission() === "granted") localStorage.setItem(CHOICE_KEY, ON);
  show();
}

if ("Notification" in window && isSecureContext) {
  button.closest("fieldset").hidden = false;
  button.addEventListener("click", toggle);
  // Another tab may change the choice.
  window.addEventListener("storage", show);
  show();
}
