"""The model picker: everything that may be chosen, in order, and honest about what is gone or only a demo."""

from __future__ import annotations

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.catalogue.choices import EMULATED, MISSING, MODELS, PRESETS, Choice, check_choice, choices
from chat.catalogue.setups import UnknownModel, setup_of
from tests.chat.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "with_key")


def test_default_comes_first_then_presets_then_models() -> None:
    model = make_model("m-2", label="Two", description="The second.", position=2)
    make_model("m-1", position=1)
    make_preset("p-2", language_model=model, position=2)
    make_preset("p-1", language_model=model, position=1, description="The first.")
    assert choices() == [
        Choice("", "Default (default-model)", "", "", is_missing=False),
        Choice("p-1", "P-1", "The first.", PRESETS, is_missing=False),
        Choice("p-2", "P-2", "", PRESETS, is_missing=False),
        Choice("m-1", "m-1", "", MODELS, is_missing=False),
        Choice("m-2", "Two", "The second.", MODELS, is_missing=False),
    ]


def test_default_is_named_as_its_row(settings: Settings) -> None:
    make_model("default-model", label="The Model", description="Good.", is_enabled=False)
    assert choices() == [Choice("", "Default (The Model)", "Good.", "", is_missing=False)]
    make_preset("quick", label="Quick")
    settings.GEMINI_MODEL = "quick"
    assert choices()[0].label == "Default (Quick)"


def test_what_is_disabled_is_not_listed() -> None:
    make_preset("off", is_enabled=False, language_model=make_model("m"))
    make_preset("over-off", language_model=make_model("off-m", is_enabled=False))
    assert [choice.value for choice in choices()] == ["", "m"]


def test_what_the_provider_no_longer_has_is_marked(settings: Settings) -> None:
    model = make_model("m", description="Old.", missing_since=timezone.now())
    make_preset("p", language_model=model)
    settings.GEMINI_MODEL = "m"
    found = choices()
    assert [choice.value for choice in found if choice.is_missing] == ["", "p", "m"]
    assert [choice.description for choice in found] == [f"{MISSING} Old.", MISSING, f"{MISSING} Old."]


def test_what_a_conversation_has_and_nobody_may_choose_is_still_shown() -> None:
    make_model("m")
    assert choices("m") == choices("") == choices()
    assert [(choice.value, choice.is_missing) for choice in choices("gone")][-1] == ("gone", True)


def test_with_the_emulator_the_list_says_who_answers(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    settings.GEMINI_MODEL = "demo"
    make_preset("p")
    assert choices()[0] == Choice("", "Default (demo)", EMULATED, "", is_missing=False)
    assert [choice.value for choice in choices()] == ["", "p", "model-of-p"]


def test_list_takes_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(5):
        make_preset(f"p-{number}")
    with django_assert_num_queries(2):
        assert len(choices()) == 11


def test_each_name_is_listed_once_as_what_it_gives() -> None:
    make_model("m", provider="another", label="Theirs", position=1)
    make_model("m", label="Ours", position=2)
    make_model("p", label="A model like a preset")
    make_preset("p", label="Preset")
    found = {choice.value: choice.label for choice in choices() if choice.value}
    assert found == {"p": "Preset", "m": "Ours", "model-of-p": "model-of-p"}
    assert all(setup_of(value).label == label for value, label in found.items())


def test_only_what_is_offered_can_be_chosen() -> None:
    make_preset("p")
    for name in ("", "p", "model-of-p", "default-model"):
        check_choice(name)
    with pytest.raises(UnknownModel, match="Choose another one"):
        check_choice("other")
