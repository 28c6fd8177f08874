"""Outputs that change are stored less often, the larger they are, but they never delay an answer for long."""

from __future__ import annotations

import pytest

from chat.answering.turns.redraw_pause import PAUSE_LIMIT_S, redraw_pause_s
from chat.answering.turns.store import TurnWrite
from chat.messages.changes import Change, OutputCut, TextAppended
from chat.models import Turn


@pytest.mark.parametrize(
    ("changes", "pause_s"),
    [
        ([TextAppended(1, "x" * 1_000_000)], 0.0),
        ([OutputCut(1, 0, "x" * 19_900)], pytest.approx(1.0, rel=0.01)),
        ([OutputCut(1, cleared=("x" * 1_000_000,))], PAUSE_LIMIT_S),
    ],
)
def test_pause_between_stored_redraws_grows_with_the_size_of_outputs_up_to_a_limit(
    changes: list[Change], pause_s: float
) -> None:
    assert redraw_pause_s(TurnWrite(turn=Turn(), first_seq=1, changes=changes)) == pause_s
