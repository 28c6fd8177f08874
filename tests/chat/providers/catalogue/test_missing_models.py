"""The record of a missing model: made at the first report, cleared when the model answers again."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from chat.models import LanguageModel
from chat.providers.catalogue.missing_models import mark_found, mark_missing
from tests.chat.providers.catalogue.rows import make_model

pytestmark = pytest.mark.usefixtures("no_rows")


def test_second_report_does_not_change_the_time_since_which_a_model_is_missing() -> None:
    make_model("m")
    make_model("m", provider="another")
    mark_missing("gemini", "", "m")
    first_report = LanguageModel.objects.get(provider="gemini").missing_since
    assert first_report is not None
    mark_missing("gemini", "", "m")
    assert LanguageModel.objects.get(provider="gemini").missing_since == first_report
    assert LanguageModel.objects.get(provider="another").missing_since is None


def test_model_is_no_longer_missing_after_it_has_answered() -> None:
    row = make_model("m")
    mark_missing("gemini", "", "m")
    mark_found("gemini", "", "m")
    row.refresh_from_db()
    assert row.missing_since is None


def test_marking_a_model_as_missing_or_found_runs_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for mark in (mark_missing, mark_found):
        with django_assert_num_queries(1):
            mark("gemini", "", "no-such-model")
