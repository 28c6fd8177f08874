"""What each kind of server says about its models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tests.openai_server import model_names
from tests.openai_server.model_names import ModelName, parse_model_name

CONTEXT_TOKENS = 32768
"""Context window of models without a limit of their own."""
LISTED = ("text", "call", "text-only/text", "no-tools/text", "context-4096/text")
"""The models that a listing names. Others exist, too."""

Description: TypeAlias = dict[str, Any]


def list_models(profile: str, names: Iterable[str] = LISTED) -> dict[str, Any]:
    """Return the body of `GET /v1/models`."""
    describe = DESCRIPTIONS.get(profile, _nothing)
    data = [
        {"id": name, "object": "model", "created": 0, "owned_by": profile, **describe(parse_model_name(name))}
        for name in names
    ]
    return {"object": "list", "data": data}


def show_model(model: ModelName) -> dict[str, Any]:
    """Return the body of Ollama's `POST /api/show`."""
    capabilities = ["completion"]
    if takes_functions(model):
        capabilities.append("tools")
    if takes_images(model):
        capabilities.append("vision")
    return {
        "capabilities": capabilities,
        "model_info": {"general.architecture": "llama", "llama.context_length": context_tokens(model)},
    }


def server_properties(model: ModelName) -> dict[str, Any]:
    """Return the body of llama.cpp's `GET /props`, which describes the loaded model."""
    return {
        "default_generation_settings": {"n_ctx": context_tokens(model)},
        "n_ctx": context_tokens(model),
        "modalities": {"vision": takes_images(model), "audio": False},
        "chat_template_caps": {"supports_tools": takes_functions(model)},
    }


def takes_functions(model: ModelName) -> bool:
    """Return whether a model takes functions."""
    return model_names.NO_TOOLS not in model.traits


def takes_images(model: ModelName) -> bool:
    """Return whether a model takes images."""
    return model_names.TEXT_ONLY not in model.traits


def context_tokens(model: ModelName) -> int:
    """Return the size of a model's context window."""
    return model.context_tokens or CONTEXT_TOKENS


def _nothing(model: ModelName) -> Description:
    return {}


def _describe_mistral(model: ModelName) -> Description:
    capabilities = {"completion_chat": True, "function_calling": takes_functions(model), "vision": takes_images(model)}
    return {"capabilities": capabilities, "max_context_length": context_tokens(model), "type": "base", "aliases": []}


def _describe_llamacpp(model: ModelName) -> Description:
    return {"meta": {"n_ctx": context_tokens(model), "n_ctx_train": 131072, "n_params": 1}}


def _describe_vllm(model: ModelName) -> Description:
    return {"max_model_len": context_tokens(model), "root": model.full, "parent": None}


def _describe_generic(model: ModelName) -> Description:
    """Describe a model as OpenRouter does."""
    modalities = ["text", "image"] if takes_images(model) else ["text"]
    return {
        "name": model.full,
        "context_length": context_tokens(model),
        "architecture": {"input_modalities": modalities, "output_modalities": ["text"]},
        "supported_parameters": ["max_tokens", *(["tools", "tool_choice"] if takes_functions(model) else [])],
    }


DESCRIPTIONS: Mapping[str, Callable[[ModelName], Description]] = {
    "mistral": _describe_mistral,
    "llamacpp": _describe_llamacpp,
    "vllm": _describe_vllm,
    "generic": _describe_generic,
}
"""OpenAI, DeepSeek and Ollama say nothing about their models in this listing."""
