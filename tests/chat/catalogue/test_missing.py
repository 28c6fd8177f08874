"""What a provider no longer has is noted once, and forgotten when it answers again."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from chat.catalogue.missing import mark_found, mark_missing
from chat.models import LanguageModel
from tests.chat.catalogue.rows import make_model

pytestmark = pytest.mark.usefixtures("no_rows")


def test_model_is_missing_since_the_first_time() -> None:
    make_model("m")
    make_model("m", provider="another")
    mark_missing("gemini", "m")
    first = LanguageModel.objects.get(provider="gemini").missing_since
    assert first is not None
    mark_missing("gemini", "m")
    assert LanguageModel.objects.get(provider="gemini").missing_since == first
    assert LanguageModel.objects.get(provider="another").missing_since is None


def test_model_that_answers_is_found_again() -> None:
    row = make_model("m")
    mark_missing("gemini", "m")
    mark_found("gemini", "m")
    row.refresh_from_db()
    assert row.missing_since is None


def test_marking_takes_one_query_and_no_row(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for mark in (mark_missing, mark_found):
        with django_assert_num_queries(1):
            mark("gemini", "no-such-model")
