"""`manage.py sync_models`: prints what changed, and says in a sentence why it cannot ask."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from chat.models import LanguageModel
from chat.providers import get_provider
from chat.providers.base import ListedModel, Overloaded
from tests.emulator_server import running_emulator

pytestmark = pytest.mark.django_db


class FakeProvider:
    """A provider with a list of models and nothing else."""

    async def list_models(self) -> list[ListedModel]:
        """Two models."""
        return [ListedModel("a", "A", "Is first.", 10, 5), ListedModel("b", "B", "", None, None)]

    async def aclose(self) -> None:
        """Nothing is open."""


class EmptyProvider(FakeProvider):
    """Has lost its models."""

    async def list_models(self) -> list[ListedModel]:
        """None."""
        return []


class FailingProvider(FakeProvider):
    """Cannot be asked."""

    async def list_models(self) -> list[ListedModel]:
        """Raises Overloaded."""
        raise Overloaded("503 busy")


@pytest.fixture(autouse=True)
def providers(settings: Settings) -> Iterator[None]:
    """Providers of this module beside the real one."""
    for name in ("Fake", "Empty", "Failing"):
        settings.CHAT_PROVIDERS = {**settings.CHAT_PROVIDERS, name.lower(): f"{__name__}.{name}Provider"}
    LanguageModel.objects.all().delete()
    yield
    get_provider.cache_clear()


def output_of(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("sync_models", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_command_says_what_it_changed() -> None:
    LanguageModel.objects.create(provider="fake", name="gone")
    expected = [
        "a: new, disabled until you enable it in the admin",
        "b: new, disabled until you enable it in the admin",
        "gone: no longer listed",
    ]
    dry = output_of("--provider", "fake", "--dry-run")
    assert dry == [*expected, "fake lists 2 models; 3 things would change."]
    assert LanguageModel.objects.get().missing_since is None
    assert output_of("--provider", "fake") == [*expected, "fake lists 2 models; 3 things changed."]
    assert output_of("--provider", "fake") == ["fake lists 2 models; 0 things changed."]


@pytest.mark.parametrize(
    ("provider", "sentence"),
    [
        ("none", "There is no provider “none” here. Known: gemini, fake, empty, failing."),
        ("empty", "Provider empty lists no models at all. Nothing was changed."),
        ("failing", "Provider failing gave no list of models. .* overloaded or failing.* \\(503 busy\\)"),
        ("gemini", "There is no key: the emulator answers, whose list is no catalogue"),
    ],
)
def test_command_says_why_there_is_nothing_to_compare(provider: str, sentence: str) -> None:
    LanguageModel.objects.create(provider=provider, name="kept")
    with pytest.raises(CommandError, match=sentence) as failed:
        output_of("--provider", provider)
    assert failed.value.returncode == 1
    assert LanguageModel.objects.get().missing_since is None


@pytest.fixture
def with_key(settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = "any"


@pytest.mark.usefixtures("with_key")
def test_gemini_is_asked_over_the_wire(settings: Settings) -> None:
    LanguageModel.objects.create(name="gone")
    with running_emulator() as url:
        settings.GOOGLE_GEMINI_BASE_URL = url
        printed = output_of()
    assert "plotline-demo: new, disabled until you enable it in the admin" in printed
    assert "gone: no longer listed" in printed
    row = LanguageModel.objects.get(name="plotline-demo")
    assert (row.provider, row.context_tokens, row.max_output_tokens) == ("gemini", 1_048_576, 65_536)


@pytest.mark.usefixtures("with_key")
def test_gemini_that_cannot_be_reached_is_a_sentence(settings: Settings) -> None:
    settings.GOOGLE_GEMINI_BASE_URL = "http://127.0.0.1:9"
    with pytest.raises(CommandError, match=r"Provider gemini gave no list of models\. The connection"):
        output_of()
