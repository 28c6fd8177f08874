"""`manage.py sync_models` prints its changes, or explains in a sentence why the provider gave no list."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from chat.models import EndpointModel, LanguageModel, ModelEndpoint
from chat.providers import get_provider
from chat.providers.base import ListedModel
from chat.providers.provider_errors import Overloaded
from tests.chat.providers.catalogue.fake_endpoint import fake_server, make_listed
from tests.emulator_server import shared_emulator

pytestmark = pytest.mark.django_db


class FakeProvider:
    """Stand-in for a provider that lists two models."""

    is_demo = False

    def __init__(self, endpoint: str) -> None:
        """Ignore the endpoint: the models are the same for all."""

    async def list_models(self) -> list[ListedModel]:
        """Return two models."""
        return [ListedModel("a", "A", "Is first.", 10, 5), ListedModel("b", "B", "", None, None)]

    async def aclose(self) -> None:
        """Do nothing, because no connection is open."""


class EmptyProvider(FakeProvider):
    """Stand-in for a provider that lists no models."""

    async def list_models(self) -> list[ListedModel]:
        """Return an empty list."""
        return []


HOSTILE_NAMES = ("a\nb: new", "a\x1b[2J", "a\u202eb", "a\u200bb", "a\u2028b", "")


class HostileProvider(FakeProvider):
    """Stand-in for a provider whose model names have control and invisible characters."""

    async def list_models(self) -> list[ListedModel]:
        """Return one model with a valid name, and models with invalid names."""
        good = ListedModel("good", "Two\n# lines\u202e", "Is\x1b[1m\u2028good.", None, None)
        return [good, *(ListedModel(name, "", "", None, None) for name in HOSTILE_NAMES)]


class FailingProvider(FakeProvider):
    """Stand-in for a provider that is overloaded."""

    async def list_models(self) -> list[ListedModel]:
        """Raise Overloaded."""
        raise Overloaded("503 busy")


@pytest.fixture(autouse=True)
def providers(settings: Settings) -> Iterator[None]:
    """Register the stand-ins of this module beside the real provider, and start with an empty catalogue."""
    for name in ("Fake", "Empty", "Failing", "Hostile"):
        settings.CHAT_PROVIDERS = {**settings.CHAT_PROVIDERS, name.lower(): f"{__name__}.{name}Provider"}
    LanguageModel.objects.all().delete()
    yield
    get_provider.cache_clear()


def run_sync(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("sync_models", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_command_prints_each_change_once_and_a_dry_run_stores_nothing() -> None:
    LanguageModel.objects.create(provider="fake", name="gone")
    expected = [
        "a: new, disabled until you enable it in the admin",
        "b: new, disabled until you enable it in the admin",
        "gone: no longer listed",
    ]
    dry = run_sync("--provider", "fake", "--dry-run")
    assert dry == [*expected, "fake lists 2 models; 3 things would change."]
    assert LanguageModel.objects.get().missing_since is None
    assert run_sync("--provider", "fake") == [*expected, "fake lists 2 models; 3 things changed."]
    assert run_sync("--provider", "fake") == ["fake lists 2 models; 0 things changed."]


@pytest.mark.parametrize(
    ("provider", "sentence"),
    [
        ("none", "There is no provider “none” here. Known: gemini, openai_compatible, fake, empty, failing."),
        ("empty", "Provider empty lists no models at all. Nothing was changed."),
        ("failing", "Provider failing gave no list of models. .* overloaded or failing.* \\(503 busy\\)"),
        ("gemini", "There is no key, so the demo model answers"),
    ],
)
def test_command_says_why_the_provider_gave_no_list(provider: str, sentence: str) -> None:
    LanguageModel.objects.create(provider=provider, name="kept")
    with pytest.raises(CommandError, match=sentence) as failed:
        run_sync("--provider", provider)
    assert failed.value.returncode == 1
    assert LanguageModel.objects.get().missing_since is None


def test_command_changes_only_models_of_the_chosen_endpoint(settings: Settings) -> None:
    with fake_server(settings) as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_MODELS = "http://localhost:11434/v1", ["small"]
        server.models = [make_listed("small", 4096, images=True), make_listed("big", 2**40)]
        ModelEndpoint.objects.create(name="other", base_url="http://localhost:8000/v1")
        LanguageModel.objects.create(provider="openai_compatible", endpoint="other", name="kept")
        printed = run_sync("--provider", "openai_compatible", "--dry-run")
        assert not EndpointModel.objects.exists()
        assert printed[-1] == "openai_compatible lists 2 models; 2 things would change."
        # A model that the settings name can be chosen already, so it stays enabled.
        assert run_sync("--provider", "openai_compatible")[:2] == [
            "small: new",
            "big: new, disabled until you enable it in the admin",
        ]
        printed = run_sync("--provider", "openai_compatible", "--endpoint", "other")
        assert printed[-2:] == [
            "kept: no longer listed",
            "openai_compatible (endpoint “other”) lists 2 models; 3 things changed.",
        ]
    rows = LanguageModel.objects.order_by("endpoint", "-name").values_list(
        "endpoint", "name", "is_enabled", "context_tokens"
    )
    assert list(rows) == [
        ("", "small", True, 4096),
        ("", "big", False, None),
        ("other", "small", False, 4096),
        ("other", "kept", True, None),
        ("other", "big", False, None),
    ]
    facts = EndpointModel.objects.order_by("endpoint", "model").values_list("endpoint", "model", "facts")
    assert list(facts)[1] == ("", "small", {"context_tokens": 4096, "images": True})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--provider", "openai_compatible"], "OPENAI_BASE_URL and OPENAI_API_KEY are not set"),
        (["--provider", "openai_compatible", "--endpoint", "x"], "There is no endpoint “x” here, or it is turned off"),
        (["--provider", "gemini", "--endpoint", "x"], "There is no gemini \\(endpoint “x”\\) here"),
    ],
)
def test_error_names_an_endpoint_that_does_not_exist(settings: Settings, arguments: list[str], sentence: str) -> None:
    with fake_server(settings), pytest.raises(CommandError, match=sentence):
        run_sync(*arguments)


@pytest.fixture
def gemini_key(settings: Settings) -> None:
    """Configure a key, because the command refuses to list the models of the embedded emulator."""
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = "any"


@pytest.mark.usefixtures("gemini_key")
def test_models_of_gemini_are_read_over_the_network(settings: Settings) -> None:
    LanguageModel.objects.create(name="gone")
    settings.GOOGLE_GEMINI_BASE_URL = shared_emulator()
    printed = run_sync()
    assert "plotline-demo: new, disabled until you enable it in the admin" in printed
    assert "gone: no longer listed" in printed
    row = LanguageModel.objects.get(name="plotline-demo")
    assert (row.provider, row.context_tokens, row.max_output_tokens) == ("gemini", 1_048_576, 65_536)


@pytest.mark.usefixtures("gemini_key")
def test_connection_error_is_reported_in_a_sentence(settings: Settings) -> None:
    settings.GOOGLE_GEMINI_BASE_URL = "http://127.0.0.1:9"
    with pytest.raises(CommandError, match=r"Provider gemini gave no list of models\. The connection"):
        run_sync()


def test_names_with_control_or_format_characters_are_left_out() -> None:
    assert run_sync("--provider", "hostile")[0].startswith("good: new")
    row = LanguageModel.objects.get()
    assert (row.name, row.label, row.description) == ("good", "Two # lines", "Is[1m good.")
    row.full_clean(exclude=["provider"])


def test_names_that_were_stored_before_are_printed_with_escapes() -> None:
    LanguageModel.objects.create(provider="fake", name="old\n\x1b[2J\u202e")
    assert r"old\n\x1b[2J\u202e: no longer listed" in run_sync("--provider", "fake")
