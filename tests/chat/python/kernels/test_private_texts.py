"""Texts from a kernel lose the cells of private files before a model gets them."""

from __future__ import annotations

import pytest

from chat.python.kernels.in_kernel.private_texts import WITHHELD
from chat.python.kernels.kernel_contents import parse_filtered


@pytest.mark.parametrize("answer", [{}, {"texts": "ab"}, {"texts": ["a"]}, {"texts": ["a", "b", "c"]}])
def test_texts_are_withheld_if_the_answer_has_not_one_for_each(answer: dict[str, object]) -> None:
    assert parse_filtered(answer, 2) == [WITHHELD, WITHHELD]


def test_filtered_texts_are_returned_in_order() -> None:
    assert parse_filtered({"texts": ["a", 7]}, 2) == ["a", WITHHELD]
