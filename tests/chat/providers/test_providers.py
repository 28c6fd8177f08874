"""Providers are found by their names in the settings."""

from __future__ import annotations

import pytest
from django.conf import settings

from chat.providers import get_provider, is_demo
from chat.providers.base import Provider
from chat.providers.google.provider import GeminiProvider
from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.providers.provider_errors import Overloaded


def test_provider_is_made_once_per_process() -> None:
    provider = get_provider("gemini")
    assert isinstance(provider, GeminiProvider)
    assert get_provider("gemini") is provider
    assert provider.name == "gemini"


def test_every_provider_in_the_settings_is_checked_against_the_protocol_by_mypy() -> None:
    # mypy compares the classes with the protocol. `get_provider` imports them by name, so mypy does not see them there.
    providers: list[type[Provider]] = [GeminiProvider, OpenAICompatibleProvider]
    named = {f"{provider.__module__}.{provider.__qualname__}" for provider in providers}
    assert named == set(settings.CHAT_PROVIDERS.values())


def test_unknown_provider_raises_key_error() -> None:
    with pytest.raises(KeyError):
        get_provider("oracle")


def test_unknown_endpoint_raises_lookup_error() -> None:
    with pytest.raises(LookupError):
        get_provider("gemini", "elsewhere")


def test_detail_of_an_error_is_one_line() -> None:
    error = Overloaded("503 busy\r\n2026-01-01 ERROR root: forged\u2028\x1b[2J\u202e\0", status=503)
    assert error.detail == "503 busy 2026-01-01 ERROR root: forged [2J\ufffd"


def test_text_of_an_error_has_only_its_code_and_status() -> None:
    assert str(Overloaded("503 what a person wrote", status=503)) == "overloaded, status 503"
    assert str(Overloaded("what a person wrote")) == "overloaded"


@pytest.mark.parametrize(
    ("name", "endpoint"), [("oracle", ""), ("gemini", "elsewhere"), ("openai_compatible", "deleted")]
)
def test_demo_model_does_not_answer_for_a_provider_or_endpoint_that_does_not_exist(name: str, endpoint: str) -> None:
    assert is_demo()
    assert not is_demo(name, endpoint)
