"""Providers are found by their names in the settings."""

from __future__ import annotations

import pytest

from chat.providers import get_provider, is_demo, warm_up
from chat.providers.gemini.provider import GeminiProvider


def test_provider_is_made_once_per_process() -> None:
    warm_up(["gemini"])
    provider = get_provider("gemini")
    assert isinstance(provider, GeminiProvider)
    assert get_provider("gemini") is provider
    assert provider.name == "gemini"


def test_unknown_provider_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        get_provider("oracle")


def test_unknown_endpoint_is_a_lookup_error() -> None:
    with pytest.raises(LookupError):
        get_provider("gemini", "elsewhere")


@pytest.mark.parametrize(("name", "endpoint"), [("oracle", ""), ("gemini", "elsewhere")])
def test_provider_that_does_not_exist_any_more_is_no_demo(name: str, endpoint: str) -> None:
    assert not is_demo(name, endpoint)
