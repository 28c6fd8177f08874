/** The dialog that shows the graphs and images of the conversation in a large size: it zooms, pans, and goes through them. */
import { words } from "./words.js";

const MAX_SCALE = 8;
const STEP = 1.4;
const TAP_PX = 6;
const DOUBLE_TAP_MS = 300;
/** How far an arrow key moves an enlarged image, as a share of the plate. */
const PAN_SHARE = 0.15;

const dialog = document.getElementById("lightbox");
const plate = dialog.querySelector(".plate");
const image = plate.querySelector("img");
const pointers = new Map();
let view = { scale: 1, x: 0, y: 0 };
let shown = null; // the link of the image in the transcript
let moved = 0;
let tappedAt = 0;

function links() {
  return [...document.querySelectorAll("#transcript a.zoom")];
}

function show(link) {
  shown = link;
  const thumbnail = link.querySelector("img");
  const figure = link.closest("figure");
  const { href, download: name } = figure.querySelector("a[download]");
  const all = links();
  image.src = thumbnail.src;
  image.alt = thumbnail.alt;
  plate.style.setProperty("--ratio", (thumbnail.naturalWidth || thumbnail.width) / (thumbnail.naturalHeight || thumbnail.height));
  Object.assign(dialog.querySelector("a"), { href, download: name });
  const label = figure.querySelector("figcaption > span").textContent;
  dialog.querySelector("span").textContent = all.length > 1 ? words("{label} – {place} of {total}", { label, place: all.indexOf(link) + 1, total: all.length }) : label;
  place({ scale: 1, x: 0, y: 0 });
}

/** Shows the image at a scale and a distance from the center, without moving its center out of the plate. */
function place({ scale, x, y }) {
  const limit = (offset, length) => Math.max(-length, Math.min(length, offset));
  const extent = (scale - 1) / 2;
  view = { scale, x: limit(x, plate.clientWidth * extent), y: limit(y, plate.clientHeight * extent) };
  image.style.transform = `translate(${view.x}px, ${view.y}px) scale(${scale})`;
  dialog.toggleAttribute("data-zoomed", scale > 1);
}

/** Changes the scale; the point under the pointer stays where it is. */
function zoom(factor, clientX, clientY) {
  const box = plate.getBoundingClientRect();
  const x = (clientX ?? box.x + box.width / 2) - box.x - box.width / 2;
  const y = (clientY ?? box.y + box.height / 2) - box.y - box.height / 2;
  const scale = Math.max(1, Math.min(MAX_SCALE, view.scale * factor));
  const ratio = scale / view.scale;
  place({ scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio });
}

function go(step) {
  const all = links();
  const next = all[all.indexOf(shown) + step];
  if (next) show(next);
}

function toggle({ clientX, clientY }) {
  zoom(view.scale > 1 ? 0 : 2, clientX, clientY);
}

const ACTIONS = {
  "zoom-in": () => zoom(STEP),
  "zoom-out": () => zoom(1 / STEP),
  "previous-image": () => go(-1),
  "next-image": () => go(1),
};
/** The arrow keys move the view: to the right means that the image goes to the left. */
const PANS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const KEYS = { "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", ArrowLeft: "previous-image", ArrowRight: "next-image" };

document.addEventListener("click", (event) => {
  const link = event.target.closest("#transcript a.zoom");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    // Safari draws a ring around what a dialog gives the focus to, also after a click.
    dialog.toggleAttribute("data-pointer", event.detail > 0);
    dialog.showModal();
    show(link);
  }
});

dialog.addEventListener("click", ({ target }) => ACTIONS[target.closest("button")?.dataset.action]?.());

dialog.addEventListener("keydown", (event) => {
  const { key } = event;
  dialog.removeAttribute("data-pointer");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const pan = view.scale > 1 && PANS[key];
  if (pan) {
    event.preventDefault();
    place({ ...view, x: view.x + pan[0] * plate.clientWidth * PAN_SHARE, y: view.y + pan[1] * plate.clientHeight * PAN_SHARE });
  } else if (key === "0") place({ scale: 1, x: 0, y: 0 });
  else ACTIONS[KEYS[key]]?.();
});

// The focus returns to the image that was shown last.
dialog.addEventListener("close", () => {
  pointers.clear();
  shown?.focus();
});

plate.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / (event.ctrlKey ? 100 : 400)), event.clientX, event.clientY);
}, { passive: false });

plate.addEventListener("pointerdown", (event) => {
  plate.setPointerCapture(event.pointerId);
  if (!pointers.size) moved = 0;
  pointers.set(event.pointerId, event);
});

plate.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  pointers.set(event.pointerId, event);
  const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
  moved += Math.hypot(dx, dy);
  const other = [...pointers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
  if (!other) return place({ ...view, x: view.x + dx, y: view.y + dy });
  const distance = (one) => Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
  moved = Infinity;
  zoom(distance(event) / distance(before), (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
});

for (const name of ["pointerup", "pointercancel"]) {
  plate.addEventListener(name, (event) => {
    if (!pointers.delete(event.pointerId) || name === "pointercancel" || moved > TAP_PX) return;
    if (event.timeStamp - tappedAt < DOUBLE_TAP_MS) {
      tappedAt = 0;
      toggle(event);
    } else tappedAt = event.timeStamp;
  });
}
