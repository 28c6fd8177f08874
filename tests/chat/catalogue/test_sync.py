"""Syncing notes what a provider lists, and leaves to operators what is theirs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.forms import model_to_dict

from chat.catalogue.sync import sync
from chat.models import LanguageModel
from chat.providers.base import ListedModel
from tests.chat.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows")

AT = datetime(2026, 11, 21, 3, tzinfo=UTC)
BEFORE = datetime(2026, 11, 1, tzinfo=UTC)


def listed(name: str, context_tokens: int | None = 1000, max_output_tokens: int | None = 100) -> ListedModel:
    return ListedModel(name, name.title(), "Does much. And more.", context_tokens, max_output_tokens)


def test_new_models_come_disabled_and_last() -> None:
    make_model("old", position=70)
    assert sync("gemini", [listed("old"), listed("new"), listed("newer")], at=AT)[:2] == [
        "new: new, disabled until you enable it in the admin",
        "newer: new, disabled until you enable it in the admin",
    ]
    row = LanguageModel.objects.get(name="new")
    assert (row.is_enabled, row.position, row.label, row.description) == (False, 80, "New", "Does much.")
    assert (row.context_tokens, row.max_output_tokens, row.listed_at) == (1000, 100, AT)
    assert not any((row.code_execution, row.google_search, row.url_context, row.image_output))
    assert LanguageModel.objects.get(name="newer").position == 90


def test_limits_are_filled_in_and_cut_but_never_raised() -> None:
    make_model("empty")
    make_model("above", context_tokens=9999, max_output_tokens=9999)
    make_model("below", context_tokens=10, max_output_tokens=5)
    said = sync("gemini", [listed("empty"), listed("above"), listed("below"), listed("below")], at=AT)
    assert said == [
        "above: context_tokens is now 1,000",
        "above: max_output_tokens is now 100",
        "empty: context_tokens is now 1,000",
        "empty: max_output_tokens is now 100",
    ]
    limits = LanguageModel.objects.values_list("name", "context_tokens", "max_output_tokens").order_by("name")
    assert list(limits) == [("above", 1000, 100), ("below", 10, 5), ("empty", 1000, 100)]


def test_what_is_no_longer_listed_is_marked_and_kept() -> None:
    make_preset("p", language_model=make_model("gone"))
    make_model("long-gone", missing_since=BEFORE)
    make_model("back", missing_since=BEFORE, context_tokens=1, max_output_tokens=1)
    make_model("other", provider="another")
    assert sync("gemini", [listed("back")], at=AT) == ["back: listed again", "gone: no longer listed"]
    missing = dict(LanguageModel.objects.values_list("name", "missing_since"))
    assert missing == {"gone": AT, "long-gone": BEFORE, "back": None, "other": None}


def test_what_an_operator_decides_is_left_alone() -> None:
    row = make_model(
        "m", label="Mine", description="Mine.", is_enabled=False, position=3, google_search=False, input_price=2,
        thinking_level="LOW", context_tokens=10, max_output_tokens=5, makes_titles=True,
    )  # fmt: skip
    before = model_to_dict(row)
    assert sync("gemini", [listed("m", None, None)], at=AT) == []
    row.refresh_from_db()
    assert row.listed_at == AT
    assert {**model_to_dict(row), "listed_at": None} == {**before, "listed_at": None}


def test_second_sync_changes_nothing() -> None:
    make_model("gone")
    assert len(sync("gemini", [listed("new")], at=BEFORE)) == 2
    assert sync("gemini", [listed("new")], at=AT) == []


def test_dry_run_says_the_same_and_changes_nothing() -> None:
    make_model("gone")
    would = sync("gemini", [listed("new")], at=AT, is_dry_run=True)
    assert list(LanguageModel.objects.values_list("name", "missing_since")) == [("gone", None)]
    assert sync("gemini", [listed("new")], at=AT) == would


@pytest.mark.parametrize("description", ["", "  ", "x" * 300, "e.g" * 100 + ". Yes."])
def test_description_is_a_sentence_or_none(description: str) -> None:
    sync("gemini", [ListedModel("m", "M" * 200, description, None, None)], at=AT)
    row = LanguageModel.objects.get()
    assert row.description == ""
    row.full_clean()
