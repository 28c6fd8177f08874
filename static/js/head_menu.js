/** The menu in the header, which holds its buttons on a phone. It opens without this script. */
const menu = document.getElementById("head-menu");
const opener = document.querySelector('[popovertarget="head-menu"]');

/** Focuses a button of the header, or the menu's own button if the menu hides it. */
export function focusInHeader(button) {
  (button.checkVisibility() ? button : opener).focus();
}

// The menu closes first, so that a dialog gives the focus back to the menu's button: hidden elements take none.
document.addEventListener("click", ({ target }) => {
  const pressed = target.closest("#head-menu :is(a, button)");
  if (pressed && !pressed.hasAttribute("popovertarget") && menu.matches(":popover-open")) menu.hidePopover();
}, true);
