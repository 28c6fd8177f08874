"""All settings. `.env.example` describes the variables that are read here. Long constants are in modules beside it."""

from __future__ import annotations

import getpass
import hashlib
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.content_security import CONTENT_SECURITY_POLICY as CONTENT_SECURITY_POLICY
from config.databases import database_settings
from config.env import Env
from config.logs import LOGGING as LOGGING
from config.model_servers import DEFAULT_MODEL as DEFAULT_MODEL
from config.model_servers import ENDPOINT_API_KEYS as ENDPOINT_API_KEYS
from config.model_servers import GEMINI_API_KEY as GEMINI_API_KEY
from config.model_servers import GEMINI_API_VERSION as GEMINI_API_VERSION
from config.model_servers import GEMINI_EMULATED as GEMINI_EMULATED
from config.model_servers import GEMINI_EMULATOR_URL as GEMINI_EMULATOR_URL
from config.model_servers import GEMINI_STREAM_READER as GEMINI_STREAM_READER
from config.model_servers import GOOGLE_CLOUD_LOCATION as GOOGLE_CLOUD_LOCATION
from config.model_servers import GOOGLE_CLOUD_PROJECT as GOOGLE_CLOUD_PROJECT
from config.model_servers import GOOGLE_GEMINI_BASE_URL as GOOGLE_GEMINI_BASE_URL
from config.model_servers import GOOGLE_GENAI_USE_VERTEXAI as GOOGLE_GENAI_USE_VERTEXAI
from config.model_servers import OPENAI_API_KEY as OPENAI_API_KEY
from config.model_servers import OPENAI_BASE_URL as OPENAI_BASE_URL
from config.model_servers import OPENAI_MODELS as OPENAI_MODELS
from config.model_servers import OWN_API_KEYS as OWN_API_KEYS
from config.rest import REST_FRAMEWORK as REST_FRAMEWORK
from config.rest import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS

env = Env()
BASE_DIR = Path(__file__).resolve().parent.parent

# --- basics ---------------------------------------------------------------------------------------------------

#: Development mode: error pages with tracebacks, a demo user, and a default SECRET_KEY. It must be off in production.
DEBUG = env.boolean("DEBUG", default=False)

#: The folder for the database, uploaded files and logs.
VAR_DIR = Path(env.text("PLOTLINE_VAR_DIR", str(BASE_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)

#: The key that signs sessions and tokens: a long random text, to be kept secret. It is required if DEBUG is off.
SECRET_KEY = env.secret("SECRET_KEY")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Set it to a long random text, or set DEBUG=1 to try Plotline on this machine."
        )
    SECRET_KEY = hashlib.sha256(f"{BASE_DIR}{getpass.getuser()}plotline".encode()).hexdigest()

#: Host names that this server accepts in requests, separated by commas.
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])

#: Other origins (scheme and host) whose pages may post forms and open WebSockets, separated by commas.
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

#: The database, for example `postgres://user:password@host/name`. If this is empty, it is a SQLite file under `var/`.
DATABASE_URL = env.url("DATABASE_URL", ("sqlite", "postgres", "postgresql"))
DATABASES = {"default": database_settings(DATABASE_URL, VAR_DIR)}

# --- sockets ----------------------------------------------------------------------------------------------------

#: The Redis server that carries live updates between server processes, for example `redis://host:6379/0`. If this is
#: empty, there may be only one server process.
REDIS_URL = env.url("REDIS_URL", ("redis", "rediss", "unix"))
CHANNEL_LAYERS = {
    "default": (
        {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

# --- models: see also config/model_servers.py ---------------------------------------------------------------------

#: How many of the newest graphs are sent to the model with the history. Each graph costs image tokens in each turn.
REPLAYED_GRAPHS = env.integer("REPLAYED_GRAPHS", 4, minimum=0)
#: Total number of attempts for a request, if the provider is busy or cannot be reached. An answer that has begun is not
#: requested again.
PROVIDER_ATTEMPTS = env.integer("PROVIDER_ATTEMPTS", 4, minimum=1)
#: Longest wait, in seconds, that a provider may request before a retry. If it requests more, the turn fails.
PROVIDER_RETRY_LIMIT_S = env.integer("PROVIDER_RETRY_LIMIT_S", 60)
#: Seconds before the first retry, doubled for each further retry, unless the provider gives a wait of its own.
PROVIDER_RETRY_PAUSE_S = 1.0
#: Seconds without received data after which a turn counts as stalled. Gemini may be silent for 30 s while code runs.
PROVIDER_IDLE_LIMIT_S = env.integer("PROVIDER_IDLE_LIMIT_S", 60, minimum=1)
#: Seconds without data after which a request counts as stalled, before the first byte of its response. This is longer,
#: because a local server loads the model first.
PROVIDER_FIRST_BYTE_LIMIT_S = env.integer("PROVIDER_FIRST_BYTE_LIMIT_S", 300, minimum=1)
#: Dotted paths of the provider classes, by name. A provider is created when it is first used.
CHAT_PROVIDERS = {
    "gemini": "chat.providers.gemini.provider.GeminiProvider",
    "openai_compatible": "chat.providers.openai_compatible.provider.OpenAICompatibleProvider",
}
CHAT_PROVIDER = "gemini"
#: Dotted path of the class that stores the endpoints of `openai_compatible`, and what is known about their models.
ENDPOINT_STORE = "chat.catalogue.endpoints.StoredEndpoints"
#: Dotted paths of the functions that create the tool sets of a turn (`ToolSetFactory` in chat/tools/base.py).
TOOL_SETS: list[str] = []
#: Most rounds in one turn. A round is a request to the model; each next one sends the results of its function calls.
ROUNDS_LIMIT = env.integer("ROUNDS_LIMIT", 20, minimum=1)
#: Seconds after which a turn counts as interrupted if its process no longer renews the lease. A process renews it after
#: a third of this time.
TURN_LEASE_S = env.integer("TURN_LEASE_S", 6, minimum=2)
#: Longest duration of a turn, in seconds. A turn that takes longer is ended.
TURN_LIMIT_S = env.integer("TURN_LIMIT_S", 600, minimum=1)
#: Limits of one answer: characters of text, and bytes of images. An answer that exceeds a limit is ended.
ANSWER_LIMIT_CHARS = 4 * 1024 * 1024
ANSWER_DATA_LIMIT_BYTES = 64 * 1024 * 1024
#: Concurrent live turns of one user.
LIVE_TURNS_LIMIT = 8
#: Total size of the files in one request to the model. The API accepts 20 MB, and base64 adds a third to the bytes.
REQUEST_FILES_LIMIT_BYTES = 14 * 1024 * 1024
#: Open WebSockets of one user on one server process.
SOCKETS_LIMIT = 64

# --- attachments ------------------------------------------------------------------------------------------------

#: Bucket of an S3-compatible storage. If this is empty, attachments are stored under `var/media/`.
AWS_STORAGE_BUCKET_NAME = env.text("AWS_STORAGE_BUCKET_NAME")
#: URL of the S3-compatible server if it is not Amazon's.
AWS_S3_ENDPOINT_URL = env.url("AWS_S3_ENDPOINT_URL", ("http", "https")) or None

#: Region of the bucket.
AWS_S3_REGION_NAME = env.text("AWS_S3_REGION_NAME") or None

#: Access key of the bucket. If this is empty, the machine's own role is used.
AWS_ACCESS_KEY_ID = env.secret("AWS_ACCESS_KEY_ID") or None
#: Secret of that access key.
AWS_SECRET_ACCESS_KEY = env.secret("AWS_SECRET_ACCESS_KEY") or None
#: Longest delay, in seconds, between two attempts to upload an attachment while storage fails.
UPLOAD_RETRY_LIMIT_S = env.integer("UPLOAD_RETRY_LIMIT_S", 300, minimum=1)

MEDIA_ROOT = VAR_DIR / "media"
STORAGES = {
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

#: Whether visitors may create an account. If this is off, staff create accounts in the admin.
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

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

#: The site is served over HTTPS by a proxy that sets X-Forwarded-Proto. This turns on secure cookies and redirects to
#: HTTPS. By default it is on if DEBUG is off.
HTTPS = env.boolean("HTTPS", default=not DEBUG)
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    # Login rate limits use the client address that this proxy adds to X-Forwarded-For, not the proxy's own address.
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

#: Whether staff must give a reason before they read or export a conversation. The owner can always see given reasons.
REVIEW_NEEDS_REASON = env.boolean("REVIEW_NEEDS_REASON", default=False)

#: Longest prompt, in bytes of UTF-8.
PROMPT_LIMIT_BYTES = 256 * 1024
#: Largest uploaded file, in bytes.
UPLOAD_LIMIT_BYTES = 15 * 1024 * 1024
#: Total size of the files that one user may upload within 24 hours, in bytes.
UPLOAD_QUOTA_BYTES = 100 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

# --- REST ---------------------------------------------------------------------------------------------------------

#: Calls of the REST API that one user may make per minute on one server process.
API_CALLS_PER_MINUTE = env.integer("API_CALLS_PER_MINUTE", 600, minimum=1)

#: How many of these calls may start a turn, upload a file or import conversations.
API_WRITES_PER_MINUTE = env.integer("API_WRITES_PER_MINUTE", 60, minimum=1)
