"""The product's reader on the whole corpus."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.tables.compare import ASKED, RIGHT, WRONG
from tests.tables.corpus import make_cases
from tests.tables.measure import measure


@pytest.mark.drill
def test_table_reader_reads_no_file_wrongly_and_98_percent_right_or_with_a_choice() -> None:
    verdicts, wrong = Counter[str](), []
    for case, outcome in measure(make_cases()):
        verdicts[outcome.verdict] += 1
        if outcome.verdict == WRONG:
            wrong.append(f"{case.name}: {'; '.join(map(str, outcome.differences))}")
    assert wrong == []
    assert verdicts[RIGHT] + verdicts[ASKED] >= 0.98 * verdicts.total()
    assert verdicts[ASKED] <= 0.1 * verdicts.total()
