"""What the stand-in says about its models, in the form of each server."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.openai_server.server import StandInServer
from tests.openai_server.violations import KEY


async def get_json(url: str, method: str = "GET", **options: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON that answers a request."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, url, **options) as response,
    ):
        return await response.json()


@pytest.mark.parametrize(
    ("profile", "path", "value"),
    [
        ("mistral", ("max_context_length",), 4096),
        ("mistral", ("capabilities", "vision"), True),
        ("llamacpp", ("meta", "n_ctx"), 4096),
        ("vllm", ("max_model_len",), 4096),
        ("generic", ("context_length",), 4096),
        ("generic", ("architecture", "input_modalities"), ["text", "image"]),
        ("generic", ("supported_parameters",), ["max_tokens", "tools", "tool_choice"]),
        ("openai", ("id",), "context-4096/text"),
        ("deepseek", ("object",), "model"),
        ("ollama", ("owned_by",), "ollama"),
    ],
)
async def test_listing_has_the_fields_of_its_server(
    server: StandInServer, profile: str, path: tuple[str, ...], value: object
) -> None:
    listing = await get_json(server.url(profile) + "/models")
    found = next(model for model in listing["data"] if model["id"] == "context-4096/text")
    for name in path:
        found = found[name]
    assert found == value


async def test_ollama_describes_a_model(server: StandInServer) -> None:
    url = f"{server.root_url}/ollama/api/show"
    described = await get_json(url, "POST", json={"model": "text-only+no-tools+context-2048/text"})
    assert described["capabilities"] == ["completion"]
    assert described["model_info"]["llama.context_length"] == 2048
    assert "error" in await get_json(url, "POST", json={"model": "nothing"})


async def test_llamacpp_describes_the_loaded_model(server: StandInServer) -> None:
    properties = await get_json(f"{server.root_url}/llamacpp/props")
    assert properties["modalities"]["vision"]
    assert properties["chat_template_caps"]["supports_tools"]
