"""All settings. `.env.example` describes the variables. Settings of one subject are in a module beside this one."""

from __future__ import annotations

import getpass
import hashlib

from django.core.exceptions import ImproperlyConfigured

from config import mail, storage
from config.accounts import *
from config.content_security import CONTENT_SECURITY_POLICY as CONTENT_SECURITY_POLICY
from config.databases import database_settings
from config.env import Env
from config.folders import BASE_DIR, VAR_DIR
from config.folders import NODE_MODULES as NODE_MODULES
from config.kernels import *
from config.language import *
from config.logs import LOGGING as LOGGING
from config.mail import *
from config.mail_links import find_host
from config.model_servers import *
from config.processes import *
from config.quotas import *
from config.rest import *
from config.storage import *
from config.turns import *

env = Env()

# --- basics ---------------------------------------------------------------------------------------------------

#: Development mode: error pages with tracebacks, a demo user, and a default SECRET_KEY. It must be off in production.
DEBUG = env.boolean("DEBUG", default=False)

#: The key that signs sessions and tokens: a long random text, to be kept secret. It is required if DEBUG is off.
SECRET_KEY = env.secret("SECRET_KEY")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Set it to a long random text, or set DEBUG=1 to try Plotline on this machine."
        )
    SECRET_KEY = hashlib.sha256(f"{BASE_DIR}{getpass.getuser()}plotline".encode()).hexdigest()

#: Host names that this server accepts in requests, separated by commas.
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])

#: Scheme, host and port of this site, for links in mails. If this is empty, they lead to the first host of
#: `ALLOWED_HOSTS` that is no pattern; with HTTPS, to the first public one if there is one. If it has only patterns,
#: Plotline sends no mail.
PUBLIC_URL = [*env.origins("PUBLIC_URL"), ""][0]
EMAIL_URL = mail.EMAIL_URL if PUBLIC_URL or find_host(ALLOWED_HOSTS) else ""

#: Other origins (scheme and host) whose pages may post forms and open WebSockets, separated by commas.
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "daphne",
    "config.admin_site.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "channels",
    "csp",
    "django_htmx",
    "django_tasks",
    "django_tasks_db",
    "drf_spectacular",
    "rest_framework",
    "attachments",
    "chat",
]

MIDDLEWARE = [
    "config.health.answer_any_host",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # After WhiteNoise, so that static files, which have no links, do not get its header.
    "config.headers.NoDNSPrefetch",
    "config.compression.CompressPages",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.known_browsers.RememberBrowser",
    "config.language.choose_language",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.error_pages.ErrorPages",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "chat.User"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            # Nearly every template has texts to translate.
            "builtins": ["django.templatetags.i18n", "chat.templatetags.words"],
        },
    },
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "chat.page.rendering.jinja.environment"},
    },
]

TIME_ZONE = "UTC"

# --- database ---------------------------------------------------------------------------------------------------

#: The database, for example `postgres://user:password@host/name`. If this is empty, it is a SQLite file under `var/`.
DATABASE_URL = env.url("DATABASE_URL", ("sqlite", "postgres", "postgresql"))
DATABASES = {"default": database_settings(DATABASE_URL, VAR_DIR)}

# --- attachments: see also config/storage.py --------------------------------------------------------------------

MEDIA_ROOT = VAR_DIR / "media"
FILE_UPLOAD_PERMISSIONS = 0o600
STORAGES = {
    "default": (
        {"BACKEND": "attachments.storage.s3.VerifyingS3Storage"}
        if storage.AWS_STORAGE_BUCKET_NAME
        else {"BACKEND": "attachments.storage.files.VerifyingFileStorage"}
    ),
    "staticfiles": {"BACKEND": "config.static_files.HashedStaticFiles"},
}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}

# --- static files -------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# No other site loads the static files. A first page loads fifty of them, so one more header on each adds 1 to 2 KB.
WHITENOISE_ALLOW_ALL_ORIGINS = False
if DEBUG:
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

# --- security; for accounts, see config/accounts.py ---------------------------------------------------------------

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_ENGINE = "chat.people.login_sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

#: The site is served over HTTPS by a proxy that sets X-Forwarded-Proto. This turns on secure cookies and redirects to
#: HTTPS. By default it is on if DEBUG is off.
HTTPS = env.boolean("HTTPS", default=not DEBUG)
#: How many proxies in front of this server add an address to X-Forwarded-For. Limits on logins count the address that
#: the first of them adds. With 0, the header is ignored. By default it is 1 with HTTPS, else 0.
ALLAUTH_TRUSTED_PROXY_COUNT = env.integer("TRUSTED_PROXIES", 1 if HTTPS else 0)
#: With HTTPS: for how many seconds browsers refuse plain HTTP to this host after a visit (HSTS). 0 sends no header.
SECURE_HSTS_SECONDS = env.integer("HSTS_SECONDS", 31_536_000) if HTTPS else 0
#: HSTS is for this host alone. Its subdomains may be other services without HTTPS, which browsers would refuse for a
#: year. A proxy can send a header that includes them. W005 and W021 are the checks that ask for a wider header.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"

#: Whether staff must give a reason before they read or export a conversation. The owner can always see given reasons.
REVIEW_NEEDS_REASON = env.boolean("REVIEW_NEEDS_REASON", default=False)

#: Whether users may share conversations by links. If this is off, existing links answer 404.
ALLOW_SHARING = env.boolean("ALLOW_SHARING", default=True)

#: Minutes after which a temporary conversation is deleted, once its last page has been closed.
TEMPORARY_LIMIT_MIN = 10

#: Seconds in which a person can undo the deletion of a conversation. Its rows and files are deleted after that.
DELETION_UNDO_S = 30
#: Open WebSockets of one user on one server process.
SOCKETS_LIMIT = 64

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
