"""Reads what servers say about their models. Pure.

All servers list the ids of their models under `/models`. The other fields differ, and some servers answer further
questions at addresses of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from chat.providers.base import ListedModel
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.untrusted_json import WireObject, as_object, as_objects, as_text
from chat.vocabulary.parts import JSON

T = TypeVar("T")

MODELS_LIMIT = 2_000
"""Maximum number of models of a list that are read."""
TOKENS_LIMIT = 10**9
CONTEXT_FIELDS = ("context_length", "context_window", "max_model_len", "max_context_length")
"""Names of the field for the context size in the lists of OpenRouter, Groq, vLLM and Mistral."""


def listed_models(value: JSON) -> list[ListedModel]:
    """Return the models of a list, except those that are known not to write text."""
    entries = value.get("data") if isinstance(value, dict) else value
    return list(_listed(as_objects(entries)[:MODELS_LIMIT]))


def _listed(entries: list[WireObject]) -> Iterator[ListedModel]:
    for entry in entries:
        name = entry.get("id") or entry.get("model") or entry.get("name")
        if not isinstance(name, str):
            continue
        capabilities = as_object(entry.get("capabilities"))
        if capabilities.get("completion_chat") is False:
            continue
        architecture = as_object(entry.get("architecture"))
        label = as_text(entry.get("name"))
        yield ListedModel(
            name=name,
            label=label if label != name else "",
            description=as_text(entry.get("description")),
            context_tokens=_context_tokens(entry),
            max_output_tokens=_count(entry.get("max_completion_tokens")),
            functions=_flag(
                capabilities.get("function_calling"), _contains(entry.get("supported_parameters"), "tools")
            ),
            images=_flag(
                capabilities.get("vision"),
                _contains(architecture.get("input_modalities") or entry.get("input_modalities"), "image"),
            ),
        )


def _context_tokens(entry: WireObject) -> int | None:
    counts = [_count(entry.get(name)) for name in CONTEXT_FIELDS]
    # llama.cpp sends here the size with which the model was loaded.
    counts.append(_count(as_object(entry.get("meta")).get("n_ctx")))
    return next((count for count in counts if count), None)


def facts_of_listed(listed: ListedModel, facts: ModelFacts) -> ModelFacts:
    """Return the facts, updated with the model's entry in a list."""
    return replace(
        facts,
        context_tokens=_known(listed.context_tokens, facts.context_tokens),
        functions=_known(listed.functions, facts.functions),
        images=_known(listed.images, facts.images),
    )


def facts_of_ollama(value: JSON, facts: ModelFacts) -> ModelFacts:
    """Return the facts, updated with the answer of Ollama's `/api/show`.

    The context size in it is not used: it is the model's own, not the size with which the model is loaded.
    """
    capabilities = as_object(value).get("capabilities")
    return replace(
        facts,
        functions=_known(_contains(capabilities, "tools"), facts.functions),
        images=_known(_contains(capabilities, "vision"), facts.images),
    )


def facts_of_llamacpp(value: JSON, facts: ModelFacts) -> ModelFacts:
    """Return the facts, updated with the answer of llama.cpp's `/props`."""
    properties = as_object(value)
    return replace(
        facts,
        functions=_known(_flag(as_object(properties.get("chat_template_caps")).get("supports_tools")), facts.functions),
        images=_known(_flag(as_object(properties.get("modalities")).get("vision")), facts.images),
        context_tokens=_known(
            _count(as_object(properties.get("default_generation_settings")).get("n_ctx")), facts.context_tokens
        ),
    )


def facts_of_lmstudio(value: JSON, model: str, facts: ModelFacts) -> ModelFacts:
    """Return the facts, updated with the answer of LM Studio's `/api/v1/models`."""
    entries = as_objects(as_object(value).get("models"))
    entry = next((one for one in entries if model in (one.get("key"), one.get("id"))), {})
    capabilities = as_object(entry.get("capabilities"))
    loaded = as_objects(entry.get("loaded_instances"))
    configured = [_count(as_object(one.get("config")).get("context_length")) for one in loaded]
    return replace(
        facts,
        functions=_known(_flag(capabilities.get("trained_for_tool_use")), facts.functions),
        images=_known(_flag(capabilities.get("vision")), facts.images),
        context_tokens=_known(next((count for count in configured if count), None), facts.context_tokens),
    )


def _known(new: T | None, old: T | None) -> T | None:
    return old if new is None else new


def _flag(*values: object) -> bool | None:
    """Return the first value that is a boolean; `None` if there is none."""
    return next((value for value in values if isinstance(value, bool)), None)


def _contains(values: object, value: str) -> bool | None:
    return value in values if isinstance(values, list) else None


def _count(value: object) -> int | None:
    """Return a positive number of tokens; `None` for any other value."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value <= TOKENS_LIMIT else None
