"""Names of models, and what each kind of server says about its models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

RECORDING = "recording:"
"""Prefix of a scenario that replays a recorded body."""
TEXT_ONLY = "text-only"
"""The model takes no images."""
NO_TOOLS = "no-tools"
"""The model, or the way in which its server was started, takes no functions."""
CONTEXT = re.compile(r"context-(\d+)")
CONTEXT_TOKENS = 32768
"""Context window of models without a limit of their own."""
LISTED = ("text", "function-call", "text-only/text", "no-tools/text", "context-4096/text")
"""The models in a listing. Other models exist, too."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name such as `gpt-5/function-call` or `text`: the traits of the model, and its scenario."""

    full: str

    @property
    def scenario(self) -> str:
        """The part after the traits."""
        return self.full.rpartition("/")[2]

    @property
    def traits(self) -> list[str]:
        """The part before the scenario, split at `+`."""
        return self.full.rpartition("/")[0].split("+")

    @property
    def context_limit(self) -> int | None:
        """Size of the context window in tokens; `None` means that it has no limit."""
        sizes = [int(match[1]) for trait in self.traits if (match := CONTEXT.fullmatch(trait))]
        return min(sizes, default=None)

    @property
    def context_tokens(self) -> int:
        """Size of the context window that the server lists."""
        return self.context_limit or CONTEXT_TOKENS

    @property
    def takes_functions(self) -> bool:
        """Whether the model takes functions."""
        return NO_TOOLS not in self.traits

    @property
    def takes_images(self) -> bool:
        """Whether the model takes images."""
        return TEXT_ONLY not in self.traits


def list_models(server: str) -> dict[str, Any]:
    """Return the body of `GET /v1/models`."""
    head = {"object": "model", "created": 0, "owned_by": server}
    return {"object": "list", "data": [{"id": name, **head, **_listed(server, ModelName(name))} for name in LISTED]}


def _listed(server: str, model: ModelName) -> dict[str, Any]:
    """Return the fields of a model in a listing. OpenAI, DeepSeek and Ollama list only its name."""
    match server:
        case "mistral":
            capabilities = {
                "completion_chat": True,
                "function_calling": model.takes_functions,
                "vision": model.takes_images,
            }
            return {"capabilities": capabilities, "max_context_length": model.context_tokens}
        case "llamacpp":
            return {"meta": {"n_ctx": model.context_tokens, "n_ctx_train": 131072}}
        case "vllm":
            return {"max_model_len": model.context_tokens}
        case "generic":
            # This is the form of OpenRouter.
            return {
                "context_length": model.context_tokens,
                "architecture": {"input_modalities": ["text", *["image"] * model.takes_images]},
                "supported_parameters": ["max_tokens", *["tools"] * model.takes_functions],
            }
    return {}


def show_model(model: ModelName) -> dict[str, Any]:
    """Return the body of Ollama's `POST /api/show`."""
    return {
        "capabilities": ["completion", *["tools"] * model.takes_functions, *["vision"] * model.takes_images],
        "model_info": {"general.architecture": "llama", "llama.context_length": model.context_tokens},
    }


PROPERTIES = {
    "default_generation_settings": {"n_ctx": CONTEXT_TOKENS},
    "modalities": {"vision": True, "audio": False},
    "chat_template_caps": {"supports_tools": True},
}
"""The body of llama.cpp's `GET /props`, which describes the loaded model."""
