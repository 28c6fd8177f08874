/** A growing output of code follows its end while the reader is there. */
import { connection } from "./connection.js";

const NEAR_PX = 8;
/** The outputs whose end was in view before a frame. */
let following = [];

connection.addEventListener("before", () => {
  const outputs = document.querySelectorAll('[data-status="running"] .output[data-outcome=""] > pre');
  following = Array.from(outputs).filter((one) => one.scrollHeight - one.clientHeight - one.scrollTop < NEAR_PX);
});
connection.addEventListener("frame", () => {
  for (const output of following) output.scrollTop = output.scrollHeight;
});
