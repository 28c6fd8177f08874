"""Synchronization with a provider's list of models; settings of operators are preserved."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.forms import model_to_dict

from chat.models import LanguageModel
from chat.providers.base import ListedModel
from chat.providers.catalogue.sync import sync
from tests.chat.providers.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows")

AT = datetime(2026, 11, 21, 3, tzinfo=UTC)
BEFORE = datetime(2026, 11, 1, tzinfo=UTC)


def make_listed(name: str, context_tokens: int | None = 1000, max_output_tokens: int | None = 100) -> ListedModel:
    return ListedModel(name, name.title(), "Does much. And more.", context_tokens, max_output_tokens)


def test_sync_adds_new_models_as_disabled_and_last() -> None:
    make_model("old", position=70)
    assert sync("gemini", [make_listed("old"), make_listed("new"), make_listed("newer")], at=AT)[:2] == [
        "new: new, disabled until you enable it in the admin",
        "newer: new, disabled until you enable it in the admin",
    ]
    row = LanguageModel.objects.get(name="new")
    assert (row.is_enabled, row.position, row.label, row.description) == (False, 80, "New", "Does much.")
    assert (row.context_tokens, row.max_output_tokens, row.listed_at) == (1000, 100, AT)
    assert not any((row.code_execution, row.web_search, row.url_context, row.image_output))
    assert LanguageModel.objects.get(name="newer").position == 90


def test_token_limits_from_the_providers_list_are_filled_in_or_lowered_but_never_raised() -> None:
    make_model("empty")
    make_model("above", context_tokens=9999, max_output_tokens=9999)
    make_model("below", context_tokens=10, max_output_tokens=5)
    changes = sync(
        "gemini", [make_listed("empty"), make_listed("above"), make_listed("below"), make_listed("below")], at=AT
    )
    assert changes == [
        "above: context_tokens is now 1,000",
        "above: max_output_tokens is now 100",
        "empty: context_tokens is now 1,000",
        "empty: max_output_tokens is now 100",
    ]
    limits = LanguageModel.objects.values_list("name", "context_tokens", "max_output_tokens").order_by("name")
    assert list(limits) == [("above", 1000, 100), ("below", 10, 5), ("empty", 1000, 100)]


def test_models_that_are_no_longer_listed_are_marked_as_missing_and_not_deleted() -> None:
    make_preset("p", language_model=make_model("gone"))
    make_model("long-gone", missing_since=BEFORE)
    make_model("back", missing_since=BEFORE, context_tokens=1, max_output_tokens=1)
    make_model("other", provider="another")
    make_model("elsewhere", endpoint="another")
    assert sync("gemini", [make_listed("back")], at=AT) == ["back: listed again", "gone: no longer listed"]
    missing = dict(LanguageModel.objects.values_list("name", "missing_since"))
    assert missing == {"gone": AT, "long-gone": BEFORE, "back": None, "other": None, "elsewhere": None}


def test_sync_does_not_change_settings_of_the_operator() -> None:
    row = make_model(
        "m", label="Mine", description="Mine.", is_enabled=False, position=3, web_search=False, input_price=2,
        thinking_level="low", context_tokens=10, max_output_tokens=5, makes_titles=True,
    )  # fmt: skip
    before = model_to_dict(row)
    assert sync("gemini", [make_listed("m", None, None)], at=AT) == []
    row.refresh_from_db()
    assert row.listed_at == AT
    assert {**model_to_dict(row), "listed_at": None} == {**before, "listed_at": None}


def test_second_sync_changes_nothing() -> None:
    make_model("gone")
    assert len(sync("gemini", [make_listed("new")], at=BEFORE)) == 2
    assert sync("gemini", [make_listed("new")], at=AT) == []


def test_dry_run_returns_the_same_changes_and_saves_none() -> None:
    make_model("gone")
    changes = sync("gemini", [make_listed("new")], at=AT, is_dry_run=True)
    assert list(LanguageModel.objects.values_list("name", "missing_since")) == [("gone", None)]
    assert sync("gemini", [make_listed("new")], at=AT) == changes


@pytest.mark.parametrize("description", ["", "  ", "x" * 300, "e.g" * 100 + ". Yes."])
def test_description_of_a_model_is_omitted_if_it_has_no_short_first_sentence(description: str) -> None:
    sync("gemini", [ListedModel("m", "M" * 200, description, None, None)], at=AT)
    row = LanguageModel.objects.get()
    assert row.description == ""
    row.full_clean()
