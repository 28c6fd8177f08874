"""Measures how the time of a call grows with its input, to tell linear time from quadratic time on any machine."""

from __future__ import annotations

import time
from collections.abc import Callable

LENGTH_RATIO = 8
"""Length of the longer input divided by that of the shorter one."""
GROWTH_LIMIT = 24.0
"""Maximum growth that counts as linear. Linear time grows by `LENGTH_RATIO`, quadratic time by its square, 64."""
ATTEMPTS = 3


def time_growth(call: Callable[[int], object], length: int) -> float:
    """Return the CPU time of `call(length // 2)` divided by that of a call with an eighth of this length.

    The shortest of several times counts, because other work of the machine makes a call slower. The longest input has
    half of the length, because in quadratic time the whole could take minutes.
    """
    longer = length // 2
    return _cpu_seconds(call, longer) / _cpu_seconds(call, longer // LENGTH_RATIO)


def _cpu_seconds(call: Callable[[int], object], length: int) -> float:
    times = []
    for _ in range(ATTEMPTS):
        started_at = time.thread_time()
        call(length)
        times.append(time.thread_time() - started_at)
    return min(times)
