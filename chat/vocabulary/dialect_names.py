"""Names of the kinds of servers that speak OpenAI's chat completions, each in a dialect of its own.

`chat.providers.openai_compatible.dialects` says what each dialect is.
"""

from __future__ import annotations

DIALECT_NAMES = (
    "generic",
    "openai",
    "google",
    "ollama",
    "llamacpp",
    "vllm",
    "lmstudio",
    "openrouter",
    "mistral",
    "deepseek",
)
"""The dialects that an operator can choose for an endpoint, in the order of the choices."""
