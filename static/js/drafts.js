/**
 * Drafts: what is in the text box of a conversation, kept in the browser and the same in all of its tabs.
 *
 * The page for logging in forgets them (`forget.js`), because the next user of the browser may be somebody else.
 */
const PREFIX = "plotline:draft:";

export class Draft extends EventTarget {
  #key;
  /** What this tab loaded or saved last. It is not written again, since another tab may have written after it. */
  #seen = "";

  /** The draft of one conversation. It fires `change` when another tab has changed it. */
  constructor(conversationId) {
    super();
    this.#key = PREFIX + conversationId;
    addEventListener("storage", ({ key }) => {
      if (key === this.#key) this.dispatchEvent(new Event("change"));
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
    try {
      if (value) localStorage.setItem(this.#key, value);
      else localStorage.removeItem(this.#key);
    } catch {
      // The browser's storage is full or off. The draft lives as long as the page.
    }
  }
}
