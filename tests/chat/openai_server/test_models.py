"""What the stand-in says about its models at the addresses that only one kind of server has."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.openai_server.server import StandInServer


def shown(*capabilities: str, context_tokens: int = 32768) -> dict[str, Any]:
    """Return what Ollama says about a model."""
    info = {"general.architecture": "llama", "llama.context_length": context_tokens}
    return {"capabilities": ["completion", *capabilities], "model_info": info}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("text", shown("tools", "vision")),
        ("no-tools/text", shown("vision")),
        ("text-only/text", shown("tools")),
        ("context-4096+no-tools+text-only/text", shown(context_tokens=4096)),
    ],
)
async def test_ollama_shows_what_the_traits_say(server: StandInServer, model: str, expected: object) -> None:
    async with (
        aiohttp.ClientSession(server.root_url) as session,
        session.post("/ollama/api/show", json={"model": model}) as response,
    ):
        assert (response.status, await response.json()) == (200, expected)


async def test_llamacpp_shows_the_loaded_model(server: StandInServer) -> None:
    async with aiohttp.ClientSession(server.root_url) as session, session.get("/llamacpp/props") as response:
        assert await response.json() == {
            "default_generation_settings": {"n_ctx": 32768},
            "modalities": {"vision": True, "audio": False},
            "chat_template_caps": {"supports_tools": True},
        }
