"""Names of the kinds of servers that speak OpenAI's protocols, each in a dialect of its own, and of all protocols.

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

CHAT_COMPLETIONS, RESPONSES_API = "chat completions", "responses"
PROTOCOL_NAMES = (CHAT_COMPLETIONS, RESPONSES_API)
"""The protocols that an operator can choose for an endpoint."""
INTERACTIONS_API = "interactions"
"""The protocol that an operator can choose for a model of Gemini's, in place of `generateContent`."""
