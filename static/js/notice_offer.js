/** Asks, at an answer that takes long, whether this browser shall notify when answers are done, until the user decides. */
import { connection } from "./connection.js";
import { choose } from "./notification_choice.js";
import { isLive } from "./transcript.js";
import { words } from "./words.js";

const line = document.createElement("p");
line.id = "notice-offer";
line.setAttribute("role", "status");
const sentence = words("This answer takes a while. Shall this browser tell you when it is done?");
line.append(Object.assign(document.createElement("span"), { textContent: sentence }));
for (const [text, isWanted] of [[words("Tell me"), true], [words("No"), false]]) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: text });
  button.addEventListener("click", () => {
    line.remove();
    choose(isWanted);
  });
  line.append(button);
}

/** Shows the question until the answer ends. */
export function offer() {
  document.querySelector("#composer > .box").before(line);
  const follow = () => {
    if (isLive()) return;
    line.remove();
    connection.removeEventListener("frame", follow);
  };
  connection.addEventListener("frame", follow);
}
