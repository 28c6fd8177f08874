"""The record of a missing model: made at the first report, cleared when the model answers again."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from chat.models import LanguageModel
from chat.providers.catalogue.missing_models import mark_found, mark_missing
from tests.chat.providers.catalogue.rows import make_model

pytestmark = pytest.mark.usefixtures("no_rows")


def test_time_of_the_first_report_is_kept() -> None:
    make_model("m")
    make_model("m", provider="another")
    mark_missing("gemini", "", "m")
    first_report = LanguageModel.objects.get(provider="gemini").missing_since
    assert first_report is not None
    mark_missing("gemini", "", "m")
    assert LanguageModel.objects.get(provider="gemini").missing_since == first_report
    assert LanguageModel.objects.get(provider="another").missing_since is None


def test_record_is_cleared_when_the_model_answers() -> None:
    row = make_model("m")
    mark_missing("gemini", "", "m")
    mark_found("gemini", "", "m")
    row.refresh_from_db()
    assert row.missing_since is None


def test_marking_a_model_runs_one_query_even_without_a_row(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for mark in (mark_missing, mark_found):
        with django_assert_num_queries(1):
            mark("gemini", "", "no-such-model")
