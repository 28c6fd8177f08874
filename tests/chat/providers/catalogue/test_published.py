"""The published ends of models, ends that the operator sets, and models that ignore the temperature."""

from __future__ import annotations

from datetime import date

import pytest
from django.utils import translation

from chat.models import ENDPOINT_PROVIDER, LanguageModel
from chat.providers.catalogue.choices import list_choices
from chat.providers.catalogue.published import ModelEnd, end_of
from chat.providers.catalogue.setups import find_setup
from chat.vocabulary.sentences import translate_sentence
from tests.chat.providers.catalogue.rows import make_endpoint, make_endpoint_model, make_model, make_preset

OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("row", "address", "end"),
    [
        (LanguageModel(name="gemini-2.5-pro"), "", ModelEnd(date(2026, 12, 1), "gemini-3.8-flash")),
        (LanguageModel(name="gemini-2.5-flash"), "", ModelEnd(date(2026, 12, 1), "gemini-3.5-flash-lite")),
        (LanguageModel(name="gemini-2.5-flash-image"), "", None),
        (LanguageModel(name="gemini-2.5-pro", ends_on=date(2027, 5, 1)), "", ModelEnd(date(2027, 5, 1))),
        (LanguageModel(provider=ENDPOINT_PROVIDER, name="o3"), OPENAI, ModelEnd(date(2026, 12, 11))),
        (LanguageModel(provider=ENDPOINT_PROVIDER, name="gpt-4.1"), OPENAI, ModelEnd(date(2027, 1, 14))),
        (LanguageModel(provider=ENDPOINT_PROVIDER, name="o3-mini"), OPENAI, None),
        (LanguageModel(provider=ENDPOINT_PROVIDER, name="o3"), "https://gateway.example/v1", None),
        (LanguageModel(provider=ENDPOINT_PROVIDER, name="o3"), "", None),
        (LanguageModel(provider=ENDPOINT_PROVIDER, name="gemini-2.5-pro"), "https://gateway.example/v1", None),
    ],
)
def test_end_date_of_a_model_is_set_by_the_operator_or_published_by_its_service(
    row: LanguageModel, address: str, end: ModelEnd | None
) -> None:
    assert end_of(row, address) == end


@pytest.mark.usefixtures("no_rows", "with_key")
def test_description_of_a_choice_contains_the_end_date_of_its_model_and_its_next_prices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_preset("p", language_model=make_model("gemini-2.5-pro", description="Good."), description="For you.")
    dated = {"next_input_price": "1.50", "next_output_price": 7}
    make_model("m", description="Fast.", prices_until=date(2026, 11, 30), **dated)
    make_endpoint("ours", base_url=OPENAI)
    make_endpoint_model("ours", "gpt-5")

    def descriptions(day: date) -> dict[str, str]:
        monkeypatch.setattr("chat.providers.catalogue.choices.today", lambda: day)
        return {choice.value: choice.description for choice in list_choices() if choice.value}

    before = "Ends on 1 December 2026. From then on, gemini-3.8-flash answers. "
    assert descriptions(date(2026, 11, 30)) == {
        "p": f"{before}For you.",
        "gemini-2.5-pro": f"{before}Good.",
        "m": "Fast. From 1 December 2026 on, a million tokens cost $1.50 to read and $7 to write.",
        "gpt-5": "Ends on 11 December 2026.",
    }
    after = descriptions(date(2026, 12, 1))["p"]
    assert after == "Ended on 1 December 2026. Now gemini-3.8-flash answers. For you."
    with translation.override("de"):
        assert (
            translate_sentence(after) == "Eingestellt am 1. Dezember 2026. Jetzt antwortet gemini-3.8-flash. For you."
        )


@pytest.mark.usefixtures("no_rows", "with_key")
@pytest.mark.parametrize(("name", "temperature"), [("gemini-4-argon", None), ("gemini-3.8-flash", 0.5)])
def test_setup_has_no_temperature_if_the_model_ignores_it(name: str, temperature: float | None) -> None:
    make_preset("p", language_model=make_model(name, temperature=0.5))
    assert find_setup("p").temperature == find_setup(name).temperature == temperature
