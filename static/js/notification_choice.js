/** The choice whether this browser shows notifications: in the settings of the account, and of each conversation. */
const CHOICE_KEY = "plotline:notifications";
const ON = "on";
const button = document.querySelector('[data-action="notifications"]');

/** Returns whether the user has asked for notifications, and the browser allows them. */
export function areWanted() {
  return "Notification" in window && Notification.permission === "granted" && localStorage.getItem(CHOICE_KEY) === ON;
}

/** Returns whether the user can be asked, and neither we nor the browser have asked. */
export function mayBeAsked() {
  return "Notification" in window && isSecureContext && Notification.permission === "default" && localStorage.getItem(CHOICE_KEY) === null;
}

/** Keeps the answer of the user. The browser asks for its permission. */
export async function choose(isWanted) {
  const isOn = isWanted && await Notification.requestPermission() === "granted";
  localStorage.setItem(CHOICE_KEY, isOn ? ON : "off");
  show();
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


if ("Notification" in window && isSecureContext) {
  button.closest("fieldset").hidden = false;
  button.addEventListener("click", () => choose(button.getAttribute("aria-pressed") !== "true"));
  // Another tab may change the choice.
  window.addEventListener("storage", show);
  show();
}
