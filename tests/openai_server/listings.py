"""What each kind of server says about its models."""

from __future__ import annotations

from typing import Any

from tests.openai_server.model_names import NO_TOOLS, TEXT_ONLY, ModelName, parse_model_name

CONTEXT_TOKENS = 32768
"""Context window of models without a limit of their own."""
LISTED = ("text", "call", "text-only/text", "no-tools/text", "context-4096/text")
"""The models that a listing names. Others exist, too."""


def list_models(profile: str) -> dict[str, Any]:
    """Return the body of `GET /v1/models`."""
    data = [
        {"id": name, "object": "model", "created": 0, "owned_by": profile, **describe(profile, parse_model_name(name))}
        for name in LISTED
    ]
    return {"object": "list", "data": data}


def describe(profile: str, model: ModelName) -> dict[str, Any]:
    """Return what a listing says about a model. OpenAI, DeepSeek and Ollama say nothing."""
    context, functions, images = facts_of(model)
    match profile:
        case "mistral":
            capabilities = {"completion_chat": True, "function_calling": functions, "vision": images}
            return {"capabilities": capabilities, "max_context_length": context, "type": "base", "aliases": []}
        case "llamacpp":
            return {"meta": {"n_ctx": context, "n_ctx_train": 131072, "n_params": 1}}
        case "vllm":
            return {"max_model_len": context, "root": model.full, "parent": None}
        case "generic":
            # As OpenRouter does.
            modalities = ["text", "image"] if images else ["text"]
            return {
                "name": model.full,
                "context_length": context,
                "architecture": {"input_modalities": modalities, "output_modalities": ["text"]},
                "supported_parameters": ["max_tokens", *(["tools", "tool_choice"] if functions else [])],
            }
    return {}


def show_model(model: ModelName) -> dict[str, Any]:
    """Return the body of Ollama's `POST /api/show`."""
    context, functions, images = facts_of(model)
    capabilities = ["completion", *(["tools"] if functions else []), *(["vision"] if images else [])]
    info = {"general.architecture": "llama", "llama.context_length": context}
    return {"capabilities": capabilities, "model_info": info}


def server_properties() -> dict[str, Any]:
    """Return the body of llama.cpp's `GET /props`, which describes the loaded model."""
    return {
        "default_generation_settings": {"n_ctx": CONTEXT_TOKENS},
        "n_ctx": CONTEXT_TOKENS,
        "modalities": {"vision": True, "audio": False},
        "chat_template_caps": {"supports_tools": True},
    }


def facts_of(model: ModelName) -> tuple[int, bool, bool]:
    """Return the context window in tokens, whether it takes functions, and whether it takes images."""
    return model.context_tokens or CONTEXT_TOKENS, NO_TOOLS not in model.traits, TEXT_ONLY not in model.traits
