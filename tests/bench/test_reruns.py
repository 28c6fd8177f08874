"""When the drill of re-runs fails."""

from __future__ import annotations

import pytest

from bench.processes import BenchError
from bench.reruns import NOT_STORED, Row, check

REPRODUCED: Row = ("Plot a sine wave", "1", "reproduced", "The output is the same.")
DIFFERS: Row = ("Random walk", "1", "differs", "Line 1 was “1” and is now “2”.")


def test_one_program_of_twenty_may_differ_if_that_is_explained() -> None:
    check([REPRODUCED] * 19 + [DIFFERS])
    with pytest.raises(BenchError, match="18 of 20 programs were reproduced"):
        check([REPRODUCED] * 18 + [DIFFERS] * 2)


@pytest.mark.parametrize("row", [("p", "1", NOT_STORED, ""), ("p", "1", "differs", ""), ("p", "1", "reproduced", "")])
def test_a_verdict_that_is_missing_or_unexplained_is_never_tolerated(row: Row) -> None:
    with pytest.raises(BenchError, match="no verdict"):
        check([REPRODUCED] * 999 + [row])


def test_no_program_is_no_success() -> None:
    with pytest.raises(BenchError, match="no program ran"):
        check([])
