"""Every setting, grouped; each variable of the environment has its sentence here and stands in `.env.example`."""

from __future__ import annotations

import getpass
import hashlib
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.env import Env

env = Env()
BASE_DIR = Path(__file__).resolve().parent.parent

# --- basics ---------------------------------------------------------------------------------------------------

#: Development mode: tracebacks in the page, the demo user, a key for signing that is not secret. Off in production.
DEBUG = env.boolean("DEBUG", default=False)

#: Where the product writes: database, media, logs.
VAR_DIR = Path(env.text("PLOTLINE_VAR_DIR", str(BASE_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)

#: Signs sessions and tokens; must be set, long, random and kept secret where DEBUG is off.
SECRET_KEY = env.secret("SECRET_KEY")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Set it to a long random text, or set DEBUG=1 to try Plotline on this machine."
        )
    SECRET_KEY = hashlib.sha256(f"{BASE_DIR}{getpass.getuser()}plotline".encode()).hexdigest()

#: Host names this server answers to, separated by commas.
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])

#: Origins (scheme and host) that may post forms and open sockets besides the server's own, separated by commas.
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
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
    "config.headers.NoDNSPrefetch",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

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
        },
    },
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "chat.rendering.jinja.environment"},
    },
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# --- database ---------------------------------------------------------------------------------------------------

#: Where conversations live, e.g. `postgres://user:password@host/name`; SQLite under `var/` when empty.
DATABASE_URL = env.url("DATABASE_URL", ("sqlite", "postgres", "postgresql"))
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(
        # Under ASGI each request has a thread of its own: a connection kept open would be nobody's soon.
        DATABASE_URL or f"sqlite:///{VAR_DIR / 'plotline.sqlite3'}",
        conn_max_age=0,
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        {
            "pool": {"min_size": 1, "max_size": 20, "timeout": 10},
            # A dead network or one long lock must not hold up the one thread that stores all live turns.
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "tcp_user_timeout": 10_000,
            "options": "-c lock_timeout=2000 -c statement_timeout=30000",
        }
    )
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        {
            # IMMEDIATE: a transaction that reads and then writes waits for its turn instead of failing.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
        }
    )
    # Threads and processes of a test run share one file, as in production; a memory database cannot be shared.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}

# --- sockets ----------------------------------------------------------------------------------------------------

#: Carries frames between server processes, e.g. `redis://host:6379/0`; within one process when empty.
REDIS_URL = env.url("REDIS_URL", ("redis", "rediss", "unix"))
CHANNEL_LAYERS: dict[str, Any] = {
    "default": (
        {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

# --- models -----------------------------------------------------------------------------------------------------

#: Key of the Gemini Developer API; GOOGLE_API_KEY wins over GEMINI_API_KEY, as in the SDK.
GEMINI_API_KEY = env.secret("GOOGLE_API_KEY") or env.secret("GEMINI_API_KEY")

#: Address of the API when it is not Google's own: a gateway, or an emulator run by hand.
GOOGLE_GEMINI_BASE_URL = env.url("GOOGLE_GEMINI_BASE_URL", ("http", "https"))

#: Vertex AI instead of the Developer API, with the project and location below and the machine's credentials.
GOOGLE_GENAI_USE_VERTEXAI = env.boolean("GOOGLE_GENAI_USE_VERTEXAI", default=False)

#: Vertex AI: the project's id.
GOOGLE_CLOUD_PROJECT = env.text("GOOGLE_CLOUD_PROJECT")

#: Vertex AI: the location.
GOOGLE_CLOUD_LOCATION = env.text("GOOGLE_CLOUD_LOCATION", "global")

if GOOGLE_GENAI_USE_VERTEXAI and not (GOOGLE_CLOUD_PROJECT or GEMINI_API_KEY):
    raise ImproperlyConfigured("GOOGLE_GENAI_USE_VERTEXAI is on: set GOOGLE_CLOUD_PROJECT too (or GEMINI_API_KEY).")

#: The API version in every request's path; the SDK's own default changes between its releases.
GEMINI_API_VERSION = env.text("GEMINI_API_VERSION", "v1beta1" if GOOGLE_GENAI_USE_VERTEXAI else "v1beta")

#: Without a key the emulator answers, on loopback, and the page says so.
GEMINI_EMULATED = not (GEMINI_API_KEY or GOOGLE_GENAI_USE_VERTEXAI)

#: The model, or preset, of conversations that name none; empty: the first one of the catalogue.
GEMINI_MODEL = env.text("GEMINI_MODEL", "plotline-demo" if GEMINI_EMULATED else "")

#: How many of the newest graphs go back to the model with the history; each costs image tokens in each later turn.
REPLAYED_GRAPHS = env.integer("REPLAYED_GRAPHS", 4, minimum=0)

#: How often a provider that is busy or out of reach is asked in all, before the first byte of an answer.
PROVIDER_ATTEMPTS = env.integer("PROVIDER_ATTEMPTS", 4, minimum=1)
#: A provider that asks for a longer wait than so many seconds is not waited for: the person is told.
PROVIDER_RETRY_LIMIT_S = env.integer("PROVIDER_RETRY_LIMIT_S", 60)
#: Seconds before it is asked again, doubled each time, where it does not say how long to wait itself.
PROVIDER_RETRY_PAUSE_S = 1.0

#: Who writes requests' bodies and reads streams: `lean`, our own code at a fifth of the cost, or `sdk`, google-genai
#: itself.
GEMINI_STREAM_READER = env.text("GEMINI_STREAM_READER", "lean")
if GEMINI_STREAM_READER not in ("lean", "sdk"):
    raise ImproperlyConfigured(f"GEMINI_STREAM_READER is {GEMINI_STREAM_READER!r}: it must be lean or sdk.")

#: Seconds without a byte after which a generation counts as stalled; a code run may be silent for 30.
PROVIDER_IDLE_LIMIT_S = env.integer("PROVIDER_IDLE_LIMIT_S", 60, minimum=1)

#: Providers by name; each is made from its dotted path when first asked for.
CHAT_PROVIDERS = {"gemini": "chat.providers.gemini.GeminiProvider"}
CHAT_PROVIDER = "gemini"

#: Seconds after which a turn whose process fell silent counts as interrupted; renewed at a third of it.
TURN_LEASE_S = env.integer("TURN_LEASE_S", 6, minimum=2)

#: Seconds after which an answer is ended.
TURN_LIMIT_S = env.integer("TURN_LIMIT_S", 600, minimum=1)
#: Characters of text, and bytes of images, after which an answer is ended.
ANSWER_LIMIT_CHARS = 4 * 1024 * 1024
ANSWER_DATA_LIMIT_BYTES = 64 * 1024 * 1024
#: Answers that one person may have written at once.
LIVE_TURNS_LIMIT = 8
#: Files that one request to the model may hold; the API takes 20 MB in all, with base64 a third more than the bytes.
REQUEST_FILES_LIMIT_BYTES = 14 * 1024 * 1024
#: Sockets that one person may have open on one server process.
SOCKETS_LIMIT = 64

# --- attachments ------------------------------------------------------------------------------------------------

#: S3-compatible storage: with a bucket named, attachments go there, else to `var/media/`.
AWS_STORAGE_BUCKET_NAME = env.text("AWS_STORAGE_BUCKET_NAME")

#: Address of the S3-compatible server when it is not Amazon's.
AWS_S3_ENDPOINT_URL = env.url("AWS_S3_ENDPOINT_URL", ("http", "https")) or None

#: Region of the bucket.
AWS_S3_REGION_NAME = env.text("AWS_S3_REGION_NAME") or None

#: Access key of the bucket; the machine's own role when empty.
AWS_ACCESS_KEY_ID = env.secret("AWS_ACCESS_KEY_ID") or None

#: Secret of that access key.
AWS_SECRET_ACCESS_KEY = env.secret("AWS_SECRET_ACCESS_KEY") or None

#: Longest pause in seconds between two tries to upload one attachment, while storage fails.
UPLOAD_RETRY_LIMIT_S = env.integer("UPLOAD_RETRY_LIMIT_S", 300, minimum=1)

MEDIA_ROOT = VAR_DIR / "media"
STORAGES: dict[str, Any] = {
    "default": (
        {"BACKEND": "attachments.storage.s3.VerifyingS3Storage"}
        if AWS_STORAGE_BUCKET_NAME
        else {"BACKEND": "attachments.storage.files.VerifyingFileStorage"}
    ),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}

# --- static files -------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
if DEBUG:
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

# --- accounts -----------------------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

#: Whether visitors may make themselves an account; where off, staff make them in the admin.
ALLOW_SIGNUP = env.boolean("ALLOW_SIGNUP", default=True)
ACCOUNT_ADAPTER = "config.login.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

# --- security -----------------------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        # `self` covers ws: and wss: of the same host in every current browser.
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

#: Served over https (by a proxy that sets X-Forwarded-Proto): secure cookies and redirects. On where DEBUG is off.
HTTPS = env.boolean("HTTPS", default=not DEBUG)
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    # Limits on logins count the address that this proxy adds to X-Forwarded-For, not the proxy's own.
    ALLAUTH_TRUSTED_PROXY_COUNT = 1
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"

#: Whether staff say why before they read or export a conversation; its owner sees the reason in any case.
REVIEW_NEEDS_REASON = env.boolean("REVIEW_NEEDS_REASON", default=False)

#: Longest prompt, in bytes of UTF-8.
PROMPT_LIMIT_BYTES = 256 * 1024
#: Largest uploaded file, in bytes.
UPLOAD_LIMIT_BYTES = 15 * 1024 * 1024
#: Most that one person may upload within 24 hours, in bytes.
UPLOAD_QUOTA_BYTES = 100 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

# --- REST ---------------------------------------------------------------------------------------------------------

#: Calls of the REST API that one person may make within a minute, on one server process.
API_CALLS_PER_MINUTE = env.integer("API_CALLS_PER_MINUTE", 600, minimum=1)

#: Of them, those that begin an answer, bring a file or import conversations.
API_WRITES_PER_MINUTE = env.integer("API_WRITES_PER_MINUTE", 60, minimum=1)

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "chat.api.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["chat.api.parsing.BoundedJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "chat.api.parsing.OneForm",
    "DEFAULT_THROTTLE_CLASSES": ["chat.api.throttles.CallThrottle"],
    "DEFAULT_SCHEMA_CLASS": "chat.api.describing.CallSchema",
    "EXCEPTION_HANDLER": "chat.api.problems.problem_response",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Plotline",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": "Conversations with Gemini whose answers run code and show their graphs.",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "PREPROCESSING_HOOKS": ["chat.api.schema.only_calls"],
    "POSTPROCESSING_HOOKS": ["chat.api.schema.finished"],
    "COMPONENT_SPLIT_PATCH": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATIONS": False,
}

# --- logs ---------------------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        # Each line of daphne's access log repeats a proxy's, and paths name conversations.
        "django.channels.server": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "google_genai": {"level": "WARNING"},
    },
}
