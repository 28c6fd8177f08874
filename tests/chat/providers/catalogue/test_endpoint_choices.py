"""Models of endpoints in the picker, beside Gemini's models or in place of them."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from chat.models import ENDPOINT_PROVIDER
from chat.providers.catalogue.choices import DEFAULT, DEMO_NOTICE, MODELS, NOT_OFFERED_NOTICE, Choice, list_choices
from chat.providers.catalogue.setups import DEMO_LABEL, Setup, UnknownModel, find_setup, find_title_setup, uses_demo
from chat.vocabulary.demo_model import DEMO_MODEL
from tests.chat.providers.catalogue.fake_endpoint import Server
from tests.chat.providers.catalogue.rows import make_endpoint, make_endpoint_model, make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "server")


def values_of(choices: list[Choice]) -> list[str]:
    return [choice.value for choice in choices]


def test_without_a_gemini_key_only_endpoint_models_and_the_demo_model_are_offered(settings_endpoint: Settings) -> None:
    make_preset("of-gemini")
    choices = list_choices()
    assert [(choice.value, choice.label, choice.group, choice.is_demo) for choice in choices] == [
        ("", "small", DEFAULT, False),
        ("small", "small", MODELS, False),
        ("big", "big", MODELS, False),
        (DEMO_MODEL, DEMO_LABEL, MODELS, True),
    ]
    assert DEMO_NOTICE not in [choice.description for choice in choices]
    assert find_setup("") == find_setup("small") == Setup(ENDPOINT_PROVIDER, "small", "small", code_execution=False)
    assert not uses_demo("")
    assert uses_demo(DEMO_MODEL)


def test_with_a_gemini_key_models_of_endpoints_come_last(settings_endpoint: Settings) -> None:
    settings_endpoint.GEMINI_EMULATED = False
    settings_endpoint.DEFAULT_MODEL = ""
    make_preset("p")
    assert values_of(list_choices()) == ["", "p", "model-of-p", "small", "big"]
    assert find_setup("").label == "P"
    assert not uses_demo("small")


def test_first_model_in_the_settings_is_the_default_if_the_catalogue_is_empty(settings_endpoint: Settings) -> None:
    settings_endpoint.GEMINI_EMULATED = False
    settings_endpoint.DEFAULT_MODEL = ""
    assert find_setup("").model == "small"
    assert list_choices()[0].label == "small"


def test_catalogue_row_overrides_a_model_in_the_settings(settings_endpoint: Settings) -> None:
    make_endpoint_model("", "small", label="Small one", context_tokens=10)
    make_endpoint_model("", "big", is_enabled=False)
    choices = list_choices()
    assert values_of(choices) == ["", "small", DEMO_MODEL]
    assert (choices[1].label, find_setup("small").label, find_setup("small").context_tokens) == (
        "Small one",
        "Small one",
        10,
    )
    with pytest.raises(UnknownModel):
        find_setup("big")


def test_models_of_an_endpoint_are_offered_while_it_is_turned_on(settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    settings.DEFAULT_MODEL = "default-model"
    row = make_endpoint("local")
    make_preset("p", language_model=make_endpoint_model("local", "llama", makes_titles=True))
    make_endpoint_model("deleted", "lost")
    make_endpoint_model("", "of-the-settings")
    assert values_of(list_choices()) == ["", "p", "llama"]
    assert (find_setup("p").endpoint, find_setup("llama").provider) == ("local", ENDPOINT_PROVIDER)
    assert find_title_setup()
    row.is_enabled = False
    row.save()
    assert values_of(list_choices()) == [""]
    assert not find_title_setup()
    for name in ("p", "llama", "lost", "of-the-settings"):
        with pytest.raises(UnknownModel):
            find_setup(name)


def test_demo_model_does_not_replace_a_model_of_a_missing_endpoint(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    make_endpoint_model("deleted", "lost")
    with pytest.raises(UnknownModel):
        find_setup("lost")
    settings.ALLOW_UNLISTED_MODELS = True
    assert find_setup("scenario-text").provider == "gemini"
    assert not uses_demo("lost")
    # The page of a conversation with this model still shows its name.
    lost = list_choices("lost")[-1]
    assert (lost.label, lost.description, lost.is_missing) == ("lost", NOT_OFFERED_NOTICE, True)
    assert lost.search == "none"


def test_name_at_gemini_and_at_an_endpoint_selects_gemini_only_if_a_key_is_set(settings_endpoint: Settings) -> None:
    make_model("big")
    assert find_setup("big").provider == ENDPOINT_PROVIDER
    settings_endpoint.GEMINI_EMULATED = False
    assert find_setup("big").provider == "gemini"
    assert values_of(list_choices()).count("big") == 1


def test_name_at_two_endpoints_selects_the_endpoint_of_the_settings(settings_endpoint: Settings) -> None:
    make_endpoint("local")
    make_endpoint_model("local", "small", label="Local")
    assert find_setup("small").endpoint == ""
    assert "Local" not in [choice.label for choice in list_choices()]
    settings_endpoint.OPENAI_MODELS = []
    assert find_setup("small").endpoint == "local"


@pytest.mark.parametrize("is_emulated", [True, False])
def test_disabled_row_of_an_endpoint_is_never_the_default(settings: Settings, is_emulated: bool) -> None:
    settings.GEMINI_EMULATED = is_emulated
    settings.ALLOW_UNLISTED_MODELS = False
    settings.DEFAULT_MODEL = "shared"
    make_endpoint("foreign")
    make_endpoint("ours")
    make_endpoint_model("foreign", "shared", label="Foreign", is_enabled=False, position=1)
    if is_emulated:
        assert find_setup("").model == DEMO_MODEL
        assert list_choices()[0].is_demo
    else:
        # The conversation must not be sent to Gemini either.
        with pytest.raises(UnknownModel, match="There is no model “shared” here"):
            find_setup("")
    make_endpoint_model("ours", "shared", label="Ours", position=2)
    assert [find_setup(name).endpoint for name in ("", "shared")] == ["ours", "ours"]
    assert list_choices()[0].label == "Ours"


@pytest.mark.parametrize("is_emulated", [True, False])
def test_disabled_gemini_row_precedes_a_disabled_endpoint_row_of_the_same_name(
    settings: Settings, is_emulated: bool
) -> None:
    settings.GEMINI_EMULATED = is_emulated
    settings.DEFAULT_MODEL = "shared"
    make_endpoint("foreign")
    make_endpoint_model("foreign", "shared", label="Foreign", is_enabled=False)
    make_model("shared", label="Gemini's", is_enabled=False)
    assert (find_setup("").provider, find_setup("").endpoint) == ("gemini", "")
    assert (list_choices()[0].label == "Gemini's") is not is_emulated
    assert list_choices()[0].is_demo is is_emulated


def test_demo_model_answers_for_a_choice_that_needs_a_gemini_key_if_none_is_set(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    make_preset("p")
    assert list_choices("p")[-1].is_demo
    assert uses_demo("p")


def test_title_model_of_an_endpoint_is_used_without_a_gemini_key(settings_endpoint: Settings) -> None:
    make_model("of-gemini", makes_titles=True, position=1)
    assert find_title_setup() is None
    make_endpoint_model("", "small", makes_titles=True, position=2)
    setup = find_title_setup()
    assert setup is not None
    assert setup.model == "small"


def test_number_of_queries_does_not_depend_on_the_number_of_endpoints(
    settings_endpoint: Settings, server: Server, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        make_endpoint(f"e-{number}")
        make_preset(f"p-{number}", language_model=make_endpoint_model(f"e-{number}", f"m-{number}"))
    with django_assert_num_queries(3):
        assert len(list_choices()) == 12
    with django_assert_num_queries(3):
        find_setup("p-1")
    with django_assert_num_queries(2):
        find_setup("small")


def test_picker_offers_no_web_search_for_endpoint_models(settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    make_endpoint("local")
    row = make_endpoint_model("local", "llama", code_execution=True, web_search=True, url_context=True)
    make_preset("p", language_model=row, label="P", web_search=True, url_context=True)
    choices = {choice.value: choice for choice in list_choices()}
    for name in ("llama", "p"):
        assert (choices[name].search, choices[name].search_help) == ("none", "llama cannot search the web.")
        setup = find_setup(name).with_web_search("on")
        tools = (setup.code_execution, setup.web_search, setup.url_context, setup.can_search, setup.can_read_pages)
        assert not any(tools)
        assert setup.allows_code
