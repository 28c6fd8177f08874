"""The choices of the model picker: their order, and the notices about missing models and the emulator."""

from __future__ import annotations

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.catalogue.choices import (
    DEMO_DESCRIPTION,
    DEMO_LABEL,
    DEMO_MODEL,
    DEMO_NOTICE,
    MISSING_NOTICE,
    MODELS,
    PRESETS,
    Choice,
    check_choice,
    list_choices,
)
from chat.catalogue.setups import UnknownModel, find_setup
from tests.chat.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "with_key")


def test_default_comes_first_then_presets_then_models() -> None:
    model = make_model("m-2", label="Two", description="The second.", position=2)
    make_model("m-1", position=1)
    make_preset("p-2", language_model=model, position=2)
    make_preset("p-1", language_model=model, position=1, description="The first.")
    assert list_choices() == [
        Choice("", "Default (default-model)", "", "", is_missing=False),
        Choice("p-1", "P-1", "The first.", PRESETS, is_missing=False),
        Choice("p-2", "P-2", "", PRESETS, is_missing=False),
        Choice("m-1", "m-1", "", MODELS, is_missing=False),
        Choice("m-2", "Two", "The second.", MODELS, is_missing=False),
    ]


def test_default_has_the_label_of_its_row(settings: Settings) -> None:
    make_model("default-model", label="The Model", description="Good.", is_enabled=False)
    assert list_choices() == [Choice("", "Default (The Model)", "Good.", "", is_missing=False)]
    make_preset("quick", label="Quick")
    settings.DEFAULT_MODEL = "quick"
    assert list_choices()[0].label == "Default (Quick)"


def test_disabled_rows_are_not_listed() -> None:
    make_preset("off", is_enabled=False, language_model=make_model("m"))
    make_preset("over-off", language_model=make_model("off-m", is_enabled=False))
    assert [choice.value for choice in list_choices()] == ["", "m"]


def test_models_that_the_provider_no_longer_has_are_marked(settings: Settings) -> None:
    model = make_model("m", description="Old.", missing_since=timezone.now())
    make_preset("p", language_model=model)
    settings.DEFAULT_MODEL = "m"
    choices = list_choices()
    assert [choice.value for choice in choices if choice.is_missing] == ["", "p", "m"]
    assert [choice.description for choice in choices] == [
        f"{MISSING_NOTICE} Old.",
        MISSING_NOTICE,
        f"{MISSING_NOTICE} Old.",
    ]


def test_current_choice_that_is_no_longer_offered_comes_last() -> None:
    make_model("m")
    assert list_choices("m") == list_choices("") == list_choices()
    assert [(choice.value, choice.is_missing) for choice in list_choices("gone")][-1] == ("gone", True)


def test_demo_model_is_the_only_choice_in_place_of_those_that_need_a_key(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    settings.DEFAULT_MODEL = "demo"
    make_preset("p")
    assert list_choices() == [
        Choice("", "Default (demo)", DEMO_NOTICE, "", is_missing=False, is_demo=True),
        Choice(DEMO_MODEL, DEMO_LABEL, DEMO_DESCRIPTION, MODELS, is_missing=False, is_demo=True),
    ]


def test_list_takes_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(5):
        make_preset(f"p-{number}")
    with django_assert_num_queries(2):
        assert len(list_choices()) == 11


def test_each_name_is_listed_once_with_the_label_of_its_setup() -> None:
    make_model("m", provider="another", label="Theirs", position=1)
    make_model("m", label="Ours", position=2)
    make_model("p", label="A model like a preset")
    make_preset("p", label="Preset")
    labels = {choice.value: choice.label for choice in list_choices() if choice.value}
    assert labels == {"p": "Preset", "m": "Ours", "model-of-p": "model-of-p"}
    assert all(find_setup(value).label == label for value, label in labels.items())


def test_only_offered_names_can_be_chosen() -> None:
    make_preset("p")
    for name in ("", "p", "model-of-p", "default-model"):
        check_choice(name)
    with pytest.raises(UnknownModel, match="Choose another one"):
        check_choice("other")
