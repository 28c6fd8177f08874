"""Settings of mail. Without `EMAIL_URL` Plotline sends none, and pages that need it do not exist."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.env import Env

env = Env()

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
"""Default port for each scheme of the URL. `smtp` is not encrypted, `smtp+tls` uses STARTTLS, `smtps` is encrypted from
the start."""

#: The mail server: `smtp+tls://user:password@host`. Characters of the password that are special in URLs are %-encoded.
EMAIL_URL = env.secret("EMAIL_URL")
try:
    _parts = urlsplit(EMAIL_URL)
    _port = _parts.port
except ValueError:
    raise ImproperlyConfigured("EMAIL_URL has an invalid host or port.") from None
if EMAIL_URL and (_parts.scheme not in PORTS or not _parts.hostname):
    # The value is not repeated, because it may contain a password.
    raise ImproperlyConfigured(f"EMAIL_URL must be a URL with a host and one of the schemes {', '.join(PORTS)}.")
EMAIL_HOST = _parts.hostname or ""
EMAIL_PORT = _port or PORTS.get(_parts.scheme, 25)
EMAIL_HOST_USER = unquote(_parts.username or "")
EMAIL_HOST_PASSWORD = unquote(_parts.password or "")
EMAIL_USE_TLS = _parts.scheme == "smtp+tls"
EMAIL_USE_SSL = _parts.scheme == "smtps"
#: Timeout for the mail server, in seconds. It is short, because a page waits for it.
EMAIL_TIMEOUT = 10
#: The sender of mails. It is required with EMAIL_URL.
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM")
if EMAIL_URL and "@" not in DEFAULT_FROM_EMAIL:
    raise ImproperlyConfigured("EMAIL_FROM must be the address of the sender if EMAIL_URL is set.")
