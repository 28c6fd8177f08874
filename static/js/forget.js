/** Removes what this browser keeps of an earlier user: drafts and choices. For pages of visitors. */
for (const storage of [localStorage, sessionStorage]) {
  for (const key of Object.keys(storage)) if (key.startsWith("plotline:")) storage.removeItem(key);
}
