"""Lists of models, and what servers say about one model, are read in the forms of all servers."""

from __future__ import annotations

import pytest

from chat.providers.openai_compatible.dialects import dialect_name
from chat.providers.openai_compatible.endpoint import Endpoint, ModelFacts
from chat.providers.openai_compatible.listing import (
    facts_of_listed,
    facts_of_llamacpp,
    facts_of_lmstudio,
    facts_of_ollama,
    listed_models,
)
from chat.vocabulary.parts import JSON


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"id": "a", "object": "model"}, (None, None, None)),
        ({"id": "a", "context_window": 8192, "input_modalities": ["text", "image"]}, (8192, None, True)),
        ({"id": "a", "max_model_len": 4096}, (4096, None, None)),
        ({"id": "a", "meta": {"n_ctx": 2048, "n_ctx_train": 9999}}, (2048, None, None)),
        (
            {"id": "a", "max_context_length": 32768, "capabilities": {"function_calling": True, "vision": False}},
            (32768, True, False),
        ),
        (
            {
                "id": "a",
                "context_length": 1000,
                "architecture": {"input_modalities": ["text"]},
                "supported_parameters": ["tools"],
            },
            (1000, True, False),
        ),
        ({"id": "a", "context_window": "big", "input_modalities": 3}, (None, None, None)),
    ],
)
def test_list_of_models_is_read_in_the_format_of_each_kind_of_server(
    entry: JSON, expected: tuple[int | None, bool | None, bool | None]
) -> None:
    [model] = listed_models({"data": [entry, None, {"id": 3}]})
    assert (model.context_tokens, model.functions, model.images) == expected
    facts = facts_of_listed(model, ModelFacts(refuses=frozenset({"temperature"})))
    assert (facts.context_tokens, facts.functions, facts.images) == expected
    assert facts.refuses == {"temperature"}


def test_models_that_do_not_generate_text_are_left_out_of_the_list() -> None:
    entries: JSON = [{"id": "embed", "capabilities": {"completion_chat": False}}, {"id": "chat"}]
    assert [model.name for model in listed_models({"data": entries})] == ["chat"]


@pytest.mark.parametrize("value", [None, {}, [], "x", {"data": None}, {"data": {"id": "a"}}])
def test_json_that_is_not_a_list_of_models_gives_no_models(value: JSON) -> None:
    assert listed_models(value) == []


def test_facts_about_one_model_are_read_from_ollama_llamacpp_and_lm_studio() -> None:
    nothing = ModelFacts()
    assert facts_of_ollama({"capabilities": ["completion", "tools"]}, nothing) == ModelFacts(
        functions=True, images=False
    )
    properties: JSON = {
        "modalities": {"vision": True},
        "chat_template_caps": {"supports_tools": False},
        "default_generation_settings": {"n_ctx": 4096},
    }
    assert facts_of_llamacpp(properties, nothing) == ModelFacts(4096, functions=False, images=True)
    models: JSON = {
        "models": [
            {
                "key": "m",
                "capabilities": {"vision": False, "trained_for_tool_use": True},
                "loaded_instances": [{"config": {"context_length": 512}}],
            }
        ]
    }
    assert facts_of_lmstudio(models, "m", nothing) == ModelFacts(512, functions=True, images=False)
    assert facts_of_lmstudio(models, "other", nothing) == nothing


@pytest.mark.parametrize(
    ("base_url", "dialect", "name"),
    [
        ("http://127.0.0.1:11434/v1", "", "ollama"),
        ("https://api.openai.com/v1", "", "openai"),
        ("https://mine.openai.azure.com/openai/v1/", "", "openai"),
        ("https://api.mistral.ai/v1", "", "mistral"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "", "google"),
        ("https://evilapi.mistral.ai.example.org/v1", "", "generic"),
        ("https://models.example.org/v1", "", "generic"),
        ("https://models.example.org/v1", "deepseek", "deepseek"),
    ],
)
def test_dialect_is_recognised_by_the_host_of_the_address(base_url: str, dialect: str, name: str) -> None:
    assert dialect_name(Endpoint("e", base_url, dialect=dialect)) == name
