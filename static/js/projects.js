/** Remembers in this browser whether the projects of the sidebar are folded. */
const KEY = "plotline:projects";

const fold = () => document.querySelector("#projects details");

if (localStorage.getItem(KEY) === "folded") fold().open = false;

// This event does not bubble.
document.getElementById("projects").addEventListener("toggle", () => {
  if (fold().open) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "folded");
}, true);
