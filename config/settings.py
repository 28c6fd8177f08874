"""All settings. `.env.example` describes the variables. Settings of one subject are in a module beside this one."""

from __future__ import annotations

import getpass
import hashlib

from django.core.exceptions import ImproperlyConfigured

from config.accounts import ACCOUNT_ADAPTER as ACCOUNT_ADAPTER
from config.accounts import ACCOUNT_CHANGE_EMAIL as ACCOUNT_CHANGE_EMAIL
from config.accounts import ACCOUNT_DELETION_DAYS as ACCOUNT_DELETION_DAYS
from config.accounts import (
    ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL as ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL,
)
from config.accounts import ACCOUNT_EMAIL_SUBJECT_PREFIX as ACCOUNT_EMAIL_SUBJECT_PREFIX
from config.accounts import ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS as ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS
from config.accounts import ACCOUNT_EMAIL_VERIFICATION as ACCOUNT_EMAIL_VERIFICATION
from config.accounts import ACCOUNT_FORMS as ACCOUNT_FORMS
from config.accounts import ACCOUNT_LOGIN_METHODS as ACCOUNT_LOGIN_METHODS
from config.accounts import ACCOUNT_LOGOUT_ON_GET as ACCOUNT_LOGOUT_ON_GET
from config.accounts import ACCOUNT_LOGOUT_REDIRECT_URL as ACCOUNT_LOGOUT_REDIRECT_URL
from config.accounts import ACCOUNT_RATE_LIMITS as ACCOUNT_RATE_LIMITS
from config.accounts import ACCOUNT_REAUTHENTICATION_REQUIRED as ACCOUNT_REAUTHENTICATION_REQUIRED
from config.accounts import ACCOUNT_SIGNUP_FIELDS as ACCOUNT_SIGNUP_FIELDS
from config.accounts import ALLOW_SIGNUP as ALLOW_SIGNUP
from config.accounts import AUTH_PASSWORD_VALIDATORS as AUTH_PASSWORD_VALIDATORS
from config.accounts import AUTHENTICATION_BACKENDS as AUTHENTICATION_BACKENDS
from config.accounts import CACHES as CACHES
from config.accounts import LOGIN_REDIRECT_URL as LOGIN_REDIRECT_URL
from config.accounts import LOGIN_URL as LOGIN_URL
from config.accounts import MFA_ADAPTER as MFA_ADAPTER
from config.accounts import MFA_FORMS as MFA_FORMS
from config.accounts import MFA_TOTP_ISSUER as MFA_TOTP_ISSUER
from config.accounts import MFA_TOTP_TOLERANCE as MFA_TOTP_TOLERANCE
from config.content_security import CONTENT_SECURITY_POLICY as CONTENT_SECURITY_POLICY
from config.databases import database_settings
from config.env import Env
from config.folders import BASE_DIR as BASE_DIR
from config.folders import NODE_MODULES as NODE_MODULES
from config.folders import VAR_DIR as VAR_DIR
from config.kernels import JUPYTER_GATEWAY_TOKEN as JUPYTER_GATEWAY_TOKEN
from config.kernels import JUPYTER_GATEWAY_URL as JUPYTER_GATEWAY_URL
from config.kernels import KERNEL_CELL_LIMIT_S as KERNEL_CELL_LIMIT_S
from config.kernels import KERNEL_IDLE_LIMIT_S as KERNEL_IDLE_LIMIT_S
from config.kernels import KERNEL_SERVICE_DIR as KERNEL_SERVICE_DIR
from config.kernels import KERNEL_WAIT_LIMIT_S as KERNEL_WAIT_LIMIT_S
from config.kernels import KERNELS_LIMIT as KERNELS_LIMIT
from config.kernels import KERNELS_PER_USER_LIMIT as KERNELS_PER_USER_LIMIT
from config.kernels import KERNELS_WITHOUT_SANDBOX as KERNELS_WITHOUT_SANDBOX
from config.kernels import UPLOAD_LISTENER as UPLOAD_LISTENER
from config.kernels import WORKBOOK_READER as WORKBOOK_READER
from config.language import LANGUAGE_CODE as LANGUAGE_CODE
from config.language import LANGUAGES as LANGUAGES
from config.language import LOCALE_PATHS as LOCALE_PATHS
from config.language import SENTENCE_TRANSLATION as SENTENCE_TRANSLATION
from config.logs import LOGGING as LOGGING
from config.mail import DEFAULT_FROM_EMAIL as DEFAULT_FROM_EMAIL
from config.mail import EMAIL_HOST as EMAIL_HOST
from config.mail import EMAIL_HOST_PASSWORD as EMAIL_HOST_PASSWORD
from config.mail import EMAIL_HOST_USER as EMAIL_HOST_USER
from config.mail import EMAIL_PORT as EMAIL_PORT
from config.mail import EMAIL_TIMEOUT as EMAIL_TIMEOUT
from config.mail import EMAIL_URL as EMAIL_URL
from config.mail import EMAIL_USE_SSL as EMAIL_USE_SSL
from config.mail import EMAIL_USE_TLS as EMAIL_USE_TLS
from config.mail_links import find_host
from config.model_servers import ALLOW_UNLISTED_MODELS as ALLOW_UNLISTED_MODELS
from config.model_servers import DEFAULT_MODEL as DEFAULT_MODEL
from config.model_servers import ENDPOINT_API_KEYS as ENDPOINT_API_KEYS
from config.model_servers import GEMINI_API_KEY as GEMINI_API_KEY
from config.model_servers import GEMINI_API_VERSION as GEMINI_API_VERSION
from config.model_servers import GEMINI_EMULATED as GEMINI_EMULATED
from config.model_servers import GEMINI_SERVICE_TIER as GEMINI_SERVICE_TIER
from config.model_servers import GEMINI_STORE as GEMINI_STORE
from config.model_servers import GOOGLE_CLOUD_LOCATION as GOOGLE_CLOUD_LOCATION
from config.model_servers import GOOGLE_CLOUD_PROJECT as GOOGLE_CLOUD_PROJECT
from config.model_servers import GOOGLE_GEMINI_BASE_URL as GOOGLE_GEMINI_BASE_URL
from config.model_servers import GOOGLE_GENAI_USE_VERTEXAI as GOOGLE_GENAI_USE_VERTEXAI
from config.model_servers import OPENAI_API_KEY as OPENAI_API_KEY
from config.model_servers import OPENAI_BASE_URL as OPENAI_BASE_URL
from config.model_servers import OPENAI_MODELS as OPENAI_MODELS
from config.model_servers import OWN_API_KEYS as OWN_API_KEYS
from config.processes import CHANNEL_LAYERS as CHANNEL_LAYERS
from config.processes import DRAIN_SECONDS as DRAIN_SECONDS
from config.processes import REDIS_URL as REDIS_URL
from config.processes import WORKER_STEP as WORKER_STEP
from config.quotas import QUOTAS as QUOTAS
from config.quotas import UPLOAD_COUNTER as UPLOAD_COUNTER
from config.rest import API_CALLS_PER_MINUTE as API_CALLS_PER_MINUTE
from config.rest import API_WRITES_PER_MINUTE as API_WRITES_PER_MINUTE
from config.rest import REST_FRAMEWORK as REST_FRAMEWORK
from config.rest import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS
from config.storage import AWS_ACCESS_KEY_ID as AWS_ACCESS_KEY_ID
from config.storage import AWS_S3_ADDRESSING_STYLE as AWS_S3_ADDRESSING_STYLE
from config.storage import AWS_S3_ENDPOINT_URL as AWS_S3_ENDPOINT_URL
from config.storage import AWS_S3_REGION_NAME as AWS_S3_REGION_NAME
from config.storage import AWS_SECRET_ACCESS_KEY as AWS_SECRET_ACCESS_KEY
from config.storage import AWS_STORAGE_BUCKET_NAME as AWS_STORAGE_BUCKET_NAME
from config.storage import IMPORT_LIMIT_BYTES as IMPORT_LIMIT_BYTES
from config.storage import UPLOAD_LIMIT_BYTES as UPLOAD_LIMIT_BYTES
from config.storage import UPLOAD_RETRY_LIMIT_S as UPLOAD_RETRY_LIMIT_S
from config.turns import ANSWER_DATA_LIMIT_BYTES as ANSWER_DATA_LIMIT_BYTES
from config.turns import ANSWER_LIMIT_CHARS as ANSWER_LIMIT_CHARS
from config.turns import ANSWER_PARTS_LIMIT as ANSWER_PARTS_LIMIT
from config.turns import APPROVAL_LIMIT_H as APPROVAL_LIMIT_H
from config.turns import CHAT_PROVIDER as CHAT_PROVIDER
from config.turns import CHAT_PROVIDERS as CHAT_PROVIDERS
from config.turns import ENDPOINT_STORE as ENDPOINT_STORE
from config.turns import LIVE_TURNS_LIMIT as LIVE_TURNS_LIMIT
from config.turns import PROMPT_LIMIT_BYTES as PROMPT_LIMIT_BYTES
from config.turns import PROVIDER_ATTEMPTS as PROVIDER_ATTEMPTS
from config.turns import PROVIDER_FIRST_BYTE_LIMIT_S as PROVIDER_FIRST_BYTE_LIMIT_S
from config.turns import PROVIDER_IDLE_LIMIT_S as PROVIDER_IDLE_LIMIT_S
from config.turns import PROVIDER_RETRY_LIMIT_S as PROVIDER_RETRY_LIMIT_S
from config.turns import PROVIDER_RETRY_PAUSE_S as PROVIDER_RETRY_PAUSE_S
from config.turns import REQUEST_FILES_LIMIT_BYTES as REQUEST_FILES_LIMIT_BYTES
from config.turns import REQUEST_LIMIT_BYTES as REQUEST_LIMIT_BYTES
from config.turns import RESULTS_NEED_APPROVAL as RESULTS_NEED_APPROVAL
from config.turns import ROUNDS_LIMIT as ROUNDS_LIMIT
from config.turns import TOOL_SETS as TOOL_SETS
from config.turns import TURN_LEASE_S as TURN_LEASE_S
from config.turns import TURN_LIMIT_S as TURN_LIMIT_S

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

#: Scheme, host and port of this site, for links in mails. If this is empty, they lead to the first of `ALLOWED_HOSTS`.
#: If that has only patterns, Plotline sends no mail.
PUBLIC_URL = [*env.origins("PUBLIC_URL"), ""][0]
EMAIL_URL = EMAIL_URL if PUBLIC_URL or find_host(ALLOWED_HOSTS) else ""

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
        if AWS_STORAGE_BUCKET_NAME
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
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
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
