/**
 * Drafts: what is in the text box of a conversation, kept in the browser and the same in all of its tabs.
 *
 * The page for logging in forgets them (`forget.js`), because the next user of the browser may be somebody else.
 */
const PREFIX = "plotline:draft:";

/** Stores a value; `null` removes it. If the browser's storage is full or off, nothing is stored. */
export function store(storage, key, value) {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, value);
  } catch {
    // What the page shows lives as long as the page.
  }
}

export class Draft extends EventTarget {
  #key;
  /** What this tab loaded or saved last. It is not written again, since another tab may have written after it. */
  #seen = "";

  /**
   * The draft of one conversation. It fires `change` when another tab has changed it, and `sent` when another tab has sent
   * it; `detail` is what was sent.
   */
  constructor(conversationId) {
    super();
    this.#key = PREFIX + conversationId;
    addEventListener("storage", ({ key, newValue }) => {
      if (key !== this.#key) return;
      // `forget.js` has removed the draft. A tab that shows it must not lose it; the next `save` writes it again.
      const { sent } = JSON.parse(newValue || "{}");
      if (newValue === null || sent) this.#seen = "";
      if (sent) this.dispatchEvent(new CustomEvent("sent", { detail: sent }));
      else if (newValue !== null) this.dispatchEvent(new Event("change"));
    });
  }

  /** Returns `{text, files}`. */
  load() {
    try {
      this.#seen = localStorage.getItem(this.#key) ?? "";
      return { text: "", files: [], ...JSON.parse(this.#seen || "{}") };
    } catch {
      return { text: "", files: [] };
    }
  }

  save(draft) {
    const value = draft.text || draft.files.length ? JSON.stringify(draft) : "";
    if (value === this.#seen) return;
    this.#seen = value;
    // The other tabs show an empty value, unlike a removal.
    store(localStorage, this.#key, value);
    if (!value) store(localStorage, this.#key, null);
  }

  /** Removes the draft, because it was sent. The other tabs clear their copies of it, also those that have the focus. */
  end({ text, files }) {
    this.#seen = "";
    store(localStorage, this.#key, JSON.stringify({ sent: { text, files } }));
    store(localStorage, this.#key, null);
  }
}
