"""Names of files become labels for the working directory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.vocabulary.file_labels import file_labels
from tests.time_growth import GROWTH_LIMIT, time_growth


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("data.csv", "data.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\evil.py", "evil.py"),
        ("/etc/shadow", "shadow"),
        (".ipython", "ipython"),
        ("..", "file"),
        ("", "file"),
        ("folder/", "folder"),
        ("a\0b\n.csv", "ab.csv"),
        ("Größe 1.csv", "Größe 1.csv"),
        ("gpj\u202efdp.exe", "gpjfdp.exe"),
        ("a\u200b\u2066b\u2028c\u2069\ufeff\x85.csv", "abc.csv"),
    ],
)
def test_file_name_becomes_a_safe_label_without_a_path(name: str, label: str) -> None:
    assert file_labels([name]) == [label]


def test_equal_file_labels_get_different_numbers() -> None:
    assert file_labels(["a/x.csv", "b/x.csv", "x-2.csv", "x.csv"]) == ["x.csv", "x-2.csv", "x-2-2.csv", "x-3.csv"]


def test_time_to_label_many_files_of_equal_names_is_linear() -> None:
    def label(count: int) -> None:
        assert len(set(file_labels(["a.csv"] * count))) == count

    assert time_growth(label, 4_000) < GROWTH_LIMIT


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.text(max_size=200), max_size=6))
def test_file_labels_are_distinct_and_contain_no_path(names: list[str]) -> None:
    labels = file_labels(names)
    assert len(set(labels)) == len(names)
    for label in labels:
        assert label.encode().decode() == label
        assert len(label) <= 110
        assert not label.startswith(".")
        assert not {"/", "\\", "\0"} & set(label)
