/** Shows the current page in the navigation of the settings, which is a scrolling row on a phone. */
document.querySelector(".settings-nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
