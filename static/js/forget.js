/** Forgets what this browser keeps for a user who was logged in: drafts and choices. For pages of visitors. */
for (const storage of [localStorage, sessionStorage]) {
  for (const key of Object.keys(storage)) if (key.startsWith("plotline:")) storage.removeItem(key);
}
