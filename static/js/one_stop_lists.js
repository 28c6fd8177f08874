/**
 * Lists of links and buttons that the Tab key passes in one stop: the arrow keys, Home and End move in them. The list of
 * conversations has two columns: search.js moves between its entries, and this module between an entry and its options.
 */
const LISTS = ["#projects ul", "#conversations", "#head-menu"];
const ITEMS = "a[href], button:not(:disabled)";
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** List -> the item that had the focus last. */
const latest = new Map();

/** The items of a list, without those of a menu that is inside it. */
function allItems(list) {
  const menus = [...list.querySelectorAll("[popover]")];
  return [...list.querySelectorAll(ITEMS)].filter((item) => !menus.some((menu) => menu.contains(item)));
}

const itemsOf = (list) => allItems(list).filter((item) => item.getClientRects().length);

/** Lets the Tab key stop at one item: where the focus was last, at the current page, or at the first one. */
function update(list) {
  const items = itemsOf(list);
  const kept = latest.get(list);
  const stop = items.includes(kept) ? kept : items.find((item) => item.hasAttribute("aria-current")) ?? items[0];
  for (const item of allItems(list)) {
    // While a menu is closed, none of its items is drawn.
    const value = !items.length || item === stop ? null : "-1";
    if (item.getAttribute("tabindex") === value) continue;
    if (value) item.setAttribute("tabindex", value);
    else item.removeAttribute("tabindex");
  }
}

function target(list, { key, target: item }) {
  const items = itemsOf(list);
  const index = items.indexOf(item);
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (list.id === "conversations" && /^Arrow(Up|Down)$/.test(key)) return null;
  return items[index + STEPS[key]];
}

for (const list of document.querySelectorAll(LISTS)) {
  list.addEventListener("focusin", ({ target: item }) => {
    if (!allItems(list).includes(item)) return;
    latest.set(list, item);
    update(list);
  });
  list.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (ctrlKey || metaKey || altKey || shiftKey || !(key in STEPS || key === "Home" || key === "End")) return;
    const next = allItems(list).includes(event.target) && target(list, event);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  // A menu or a fold is opened.
  list.addEventListener("toggle", () => update(list));
  list.closest("details")?.addEventListener("toggle", () => update(list));
  // The server renders the list anew.
  new MutationObserver(() => update(list)).observe(list, { childList: true, subtree: true });
  update(list);
}
