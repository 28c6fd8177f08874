"""Settings of the servers that run the models. `.env.example` describes the variables that are read here."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

from chat.vocabulary.demo_model import DEMO_MODEL
from config.env import Env

OPENAI_URL = "https://api.openai.com/v1"


def complete_openai_url(base_url: str, api_key: str, models: Sequence[str]) -> str:
    """Return the base URL without a trailing slash. With only a key, it is OpenAI's; without both, it is empty.

    Raises ImproperlyConfigured if models are named without a server.
    """
    if models and not (base_url or api_key):
        raise ImproperlyConfigured(
            "OPENAI_MODELS names models, but no server: set OPENAI_BASE_URL, or OPENAI_API_KEY for OpenAI's own server."
        )
    return base_url.rstrip("/") or (OPENAI_URL if api_key else "")


def choose_default_model(gemini_model: str, openai_models: Sequence[str], *, is_emulated: bool) -> str:
    """Return the default model; empty for the first one of the catalogue. `is_emulated`: there is no Gemini key."""
    if gemini_model or not is_emulated:
        return gemini_model
    return openai_models[0] if openai_models else DEMO_MODEL


env = Env()

#: Key of the Gemini Developer API. GOOGLE_API_KEY takes precedence over GEMINI_API_KEY, as in Google's SDK.
GEMINI_API_KEY = env.secret("GOOGLE_API_KEY") or env.secret("GEMINI_API_KEY")
#: Base URL of the API if it is not Google's own: a gateway or, without a key, the emulator.
GOOGLE_GEMINI_BASE_URL = env.url("GOOGLE_GEMINI_BASE_URL", ("http", "https"))
#: Use Vertex AI instead of the Developer API, with the project and location below and the machine's credentials.
GOOGLE_GENAI_USE_VERTEXAI = env.boolean("GOOGLE_GENAI_USE_VERTEXAI", default=False)
#: Id of the Google Cloud project, for Vertex AI.
GOOGLE_CLOUD_PROJECT = env.text("GOOGLE_CLOUD_PROJECT")
#: Google Cloud location, for Vertex AI.
GOOGLE_CLOUD_LOCATION = env.text("GOOGLE_CLOUD_LOCATION", "global")

if GOOGLE_GENAI_USE_VERTEXAI and not (GOOGLE_CLOUD_PROJECT or GEMINI_API_KEY):
    raise ImproperlyConfigured("GOOGLE_GENAI_USE_VERTEXAI is on: set GOOGLE_CLOUD_PROJECT too (or GEMINI_API_KEY).")

#: The API version in the path of requests. It is fixed here, because the SDK's default changes between its releases.
GEMINI_API_VERSION = "v1beta1" if GOOGLE_GENAI_USE_VERTEXAI else "v1beta"
#: Whether no key is configured. Then the demo model of the emulator answers in place of Gemini, and the pages say so.
GEMINI_EMULATED = not (GEMINI_API_KEY or GOOGLE_GENAI_USE_VERTEXAI)
#: Whether Google's own default decides about the storage of prompts and answers. If this is off, requests to the
#: Developer API and to Google's OpenAI-compatible server ask it not to store them.
GEMINI_STORE = env.boolean("GEMINI_STORE", default=False)
#: How the Developer API treats requests: `flex` is cheaper but may take minutes, `priority` is dearer and comes first.
GEMINI_SERVICE_TIER = env.choice("GEMINI_SERVICE_TIER", ("standard", "flex", "priority"))

#: Key for the server at OPENAI_BASE_URL. Local servers need none.
OPENAI_API_KEY = env.secret("OPENAI_API_KEY")
#: Ids of the models there that users can choose, separated by commas.
OPENAI_MODELS = env.words("OPENAI_MODELS")
#: Base URL of a server that speaks OpenAI's chat completions. Empty: there is none, unless there are rows in the admin.
OPENAI_BASE_URL = complete_openai_url(env.url("OPENAI_BASE_URL", ("http", "https")), OPENAI_API_KEY, OPENAI_MODELS)
#: The environment variables with this server's own keys. Endpoints that staff add in the admin must not use them.
OWN_API_KEYS = frozenset({"GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"})
#: Keys of the endpoints in the admin, by the name of their variable: every other variable that ends in `_API_KEY`.
ENDPOINT_API_KEYS = env.secrets("_API_KEY", except_for=OWN_API_KEYS)

#: Whether users may choose ids of Gemini's models that the catalogue does not list. They are sent to the API unchanged.
#: This is for tests: staff add models to the catalogue.
ALLOW_UNLISTED_MODELS = False

#: The default model or preset of conversations. If this is empty, it is the default of the catalogue.
DEFAULT_MODEL = choose_default_model(env.text("GEMINI_MODEL"), OPENAI_MODELS, is_emulated=GEMINI_EMULATED)
