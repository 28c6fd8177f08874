"""The question of a turn that runs the user's code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.vocabulary.fences import fence_code, unfence_code


@given(st.text(alphabet=st.sampled_from("`~ab\n \r\t"), max_size=40))
def test_unfence_code_returns_the_code_of_fence_code(code: str) -> None:
    assert unfence_code(fence_code(code)) == code


def test_unfence_code_returns_none_for_other_text() -> None:
    assert unfence_code("Plot a sine wave") is None
    assert unfence_code("Run this:\n```python\n1\n```") is None
