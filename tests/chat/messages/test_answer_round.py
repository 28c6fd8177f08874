"""What several reports of a provider about one round mean together."""

from __future__ import annotations

import pytest

from chat.messages.answer_round import AnswerRound
from chat.vocabulary.stream_events import Usage, UsageReported


@pytest.mark.parametrize(
    ("usages", "is_counted"),
    [
        ([], False),
        ([Usage(prompt=0, candidates=0, total=0)], False),
        ([Usage(prompt=0, candidates=0, total=0), Usage(prompt=3, candidates=4, total=7)], True),
        ([Usage(estimated=5)], True),
    ],
)
def test_usage_report_with_only_zeros_is_treated_as_no_token_counts(usages: list[Usage], is_counted: bool) -> None:
    one = AnswerRound()
    for usage in usages:
        one.apply(UsageReported(usage))
    assert one.is_counted == is_counted
    one.restart()
    assert not one.is_counted
