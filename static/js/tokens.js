/** Copies the CSRF token from its cookie into all forms, because a new login has changed it. */
export function renewTokens() {
  const token = /(?:^|; )(?:__Host-)?csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  if (token) for (const input of document.querySelectorAll("[name=csrfmiddlewaretoken]")) input.value = token;
}
