"""MIME bundles of kernels are bounded, so that each can be stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.vocabulary import display_bundles
from chat.vocabulary.display_bundles import BUNDLE_LIMIT_BYTES, DEPTH_LIMIT, bound_bundle

LIMIT_BYTES = 100
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=12,
)
TYPES = st.sampled_from(["text/plain", "text/html", "text/html; charset=utf-8", "application/json", "image/svg+xml"])


def nested(depth: int) -> object:
    """Return a list in a list in a list ..."""
    value: object = 7
    for _ in range(depth):
        value = [value]
    return value


def test_bundle_keeps_the_order_of_its_mime_types() -> None:
    data = {"text/html": "<b>7</b>", "text/plain": "7", "application/json": {"a": [1, None, True, 1.5]}}
    bundle, size_bytes = bound_bundle(data)
    assert [*bundle.items()] == [*data.items()]
    assert 0 < size_bytes < 100


def test_parameters_of_mime_types_are_removed_and_of_equal_types_the_first_is_kept() -> None:
    assert bound_bundle({"text/html; charset=utf-8": "a", "text/html": "b"})[0] == {"text/html": "a"}


@pytest.mark.parametrize("name", ["", "html", "text/", "/plain", "text/html\n", "te xt/html", "ä/b", "a" * 61 + "/b"])
def test_value_with_an_invalid_mime_type_is_left_out(name: str) -> None:
    assert bound_bundle({name: "a", "text/plain": "b"})[0] == {"text/plain": "b"}


def test_value_at_the_size_limit_is_kept_and_a_longer_one_is_left_out() -> None:
    for excess, names in ((0, ["text/html"]), (1, [])):
        text = "a" * (BUNDLE_LIMIT_BYTES - 2 + excess)
        assert [*bound_bundle({"text/html": text})[0]] == names
    assert bound_bundle({"text/html": "é" * (BUNDLE_LIMIT_BYTES // 2)})[0] == {}


def test_smallest_values_of_a_bundle_are_kept_if_not_all_fit_the_size_limit() -> None:
    half = "a" * (BUNDLE_LIMIT_BYTES // 2 + 10)
    assert [*bound_bundle({"text/html": half, "image/svg+xml": half + "b", "text/plain": "7"})[0]] == [
        "text/html",
        "text/plain",
    ]


def test_number_of_mime_types_in_a_bundle_is_limited() -> None:
    assert len(bound_bundle({f"text/a{number}": "7" for number in range(50)})[0]) == 16


def test_value_that_is_nested_too_deep_is_left_out() -> None:
    assert bound_bundle({"application/json": nested(DEPTH_LIMIT)})[0] == {"application/json": nested(DEPTH_LIMIT)}
    assert bound_bundle({"application/json": nested(DEPTH_LIMIT + 1)})[0] == {}


def test_values_that_are_not_json_are_left_out() -> None:
    assert bound_bundle({"application/json": {1, 2}, "text/html": b"raw", "text/plain": "7"})[0] == {"text/plain": "7"}


def test_characters_and_numbers_that_cannot_be_stored_are_replaced_in_a_bundle() -> None:
    bundle, _ = bound_bundle({"text/plain": "a\0b\ud800c", "application/json": {"\0": "\ud800", "n": float("nan")}})
    assert bundle == {"text/plain": "a\ufffdb\ufffdc", "application/json": {"\ufffd": "\ufffd", "n": None}}


@given(st.dictionaries(TYPES, JSON_VALUES, max_size=5))
def test_no_bundle_exceeds_the_size_limit(data: dict[str, object]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(display_bundles, "BUNDLE_LIMIT_BYTES", LIMIT_BYTES)
        bundle, size_bytes = bound_bundle(data)
    assert size_bytes <= LIMIT_BYTES
    names = {name.partition(";")[0] for name in data}
    assert set(bundle) <= names
