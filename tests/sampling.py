"""Samples of long lists of cases: `make test` runs a few of them, `make drills` the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

SEED = 20261124

T = TypeVar("T")


def sampled(cases: Iterable[T], count: int, name: Callable[[T], str] = str) -> list[object]:
    """Return each case as a parameter with the id `name(case)`. All but a sample of `count` are marked as drills."""
    every = list(cases)
    chosen = set(random.Random(SEED).sample(range(len(every)), min(count, len(every))))
    marks = [() if number in chosen else (pytest.mark.drill,) for number in range(len(every))]
    return [pytest.param(case, id=name(case), marks=mark) for case, mark in zip(every, marks, strict=True)]
