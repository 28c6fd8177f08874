"""Contents that a kernel reports are validated, cleaned and limited, because its code can forge every value."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.python.kernels.in_kernel.variables import (
    DESCRIPTION_LIMIT_CHARS,
    FILES_LIMIT,
    PREVIEW_LIMIT_CHARS,
    VARIABLES_LIMIT,
)
from chat.python.kernels.kernel_contents import KernelContents, KernelFile, Variable, parse_contents, parse_description
from chat.vocabulary.file_labels import is_file_path

VARIABLE = {"name": "x", "type": "ndarray", "shape": [3, 4], "size_bytes": 96, "preview": "zeros"}
FILE = {"name": "a.csv", "size_bytes": 3, "modified_at": 10.5}
ANSWER = {"execution_count": 2, "variables": [VARIABLE], "files": [FILE], "is_truncated": False}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def items(example: dict[str, object]) -> st.SearchStrategy[dict[str, object]]:
    """Return items like the example, with any values in some fields."""
    return st.dictionaries(st.sampled_from([*example]), JSON_VALUES).map(lambda changes: {**example, **changes})


def test_forged_execution_count_is_reduced_to_the_maximum_of_its_database_column() -> None:
    assert parse_contents({**ANSWER, "execution_count": 2**40}).execution_count == 2**31 - 1


def test_reply_of_a_kernel_is_parsed_to_variables_files_and_execution_count() -> None:
    assert parse_contents(ANSWER) == KernelContents(
        (Variable("x", "ndarray", (3, 4), 96, "zeros"),),
        (KernelFile("a.csv", 3, datetime(1970, 1, 1, 0, 0, 10, 500_000, UTC)),),
        execution_count=2,
    )


@pytest.mark.parametrize("answer", [{}, {"variables": {}, "files": "a"}, {"execution_count": True}])
def test_invalid_reply_of_a_kernel_gives_empty_and_truncated_contents(answer: dict[str, object]) -> None:
    assert parse_contents(answer) == KernelContents(is_truncated=True)


@pytest.mark.parametrize(
    ("value", "size_bytes"), [(0, 0), (2**62 - 1, 2**62 - 1), (2**62, None), (-1, None), (True, None), (1.5, None)]
)
def test_size_that_a_database_column_cannot_hold_becomes_none(value: object, size_bytes: int | None) -> None:
    [variable] = parse_contents({**ANSWER, "variables": [{**VARIABLE, "size_bytes": value}]}).variables
    assert variable.size_bytes == size_bytes


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../a",
        "/a",
        "a/",
        "a//b",
        "a/../b",
        "a/.b",
        "a/b/c/d/e/f/g",
        ".hidden",
        "a\nb",
        "\ud800",
        "x" * 101,
        7,
        None,
    ],
)
def test_file_with_an_unsafe_name_is_left_out(name: object) -> None:
    contents = parse_contents({**ANSWER, "files": [{**FILE, "name": name}, FILE]})
    assert [file.name for file in contents.files] == ["a.csv"]
    assert contents.is_truncated


@pytest.mark.parametrize("modified_at", [-1, 2**33, 1e300, float("nan"), float("inf"), "now", None])
def test_invalid_modification_time_of_a_file_becomes_1970(modified_at: object) -> None:
    [file] = parse_contents({**ANSWER, "files": [{**FILE, "modified_at": modified_at}]}).files
    assert file.modified_at == datetime(1970, 1, 1, tzinfo=UTC)


def test_number_of_variables_and_of_files_is_limited() -> None:
    for count, is_truncated in ((VARIABLES_LIMIT, False), (VARIABLES_LIMIT + 1, True)):
        contents = parse_contents({**ANSWER, "variables": [VARIABLE] * count})
        assert (len(contents.variables), contents.is_truncated) == (VARIABLES_LIMIT, is_truncated)
    for count, is_truncated in ((FILES_LIMIT, False), (FILES_LIMIT + 1, True)):
        contents = parse_contents({**ANSWER, "files": [FILE] * count})
        assert (len(contents.files), contents.is_truncated) == (FILES_LIMIT, is_truncated)


def test_previews_and_descriptions_are_shortened_and_cleaned() -> None:
    [variable] = parse_contents({**ANSWER, "variables": [{**VARIABLE, "preview": "\0\ud800" * 10_000}]}).variables
    assert len(variable.preview) == PREVIEW_LIMIT_CHARS
    assert not set(variable.preview) & {"\0", "\ud800"}
    assert len(parse_description({"text": "a" * 10**6})) == DESCRIPTION_LIMIT_CHARS + 100
    assert parse_description({"text": 7}) == parse_description({}) == ""


@given(st.lists(items(VARIABLE) | JSON_VALUES, max_size=4), st.lists(items(FILE) | JSON_VALUES, max_size=4))
def test_every_reply_of_a_kernel_is_parsed_to_contents_that_can_be_stored(
    variables: list[object], files: list[object]
) -> None:
    contents = parse_contents({**ANSWER, "variables": variables, "files": files})
    for variable in contents.variables:
        assert 0 < len(variable.name) <= PREVIEW_LIMIT_CHARS
        assert all(0 <= length < 2**62 for length in variable.shape)
        f"{variable.name}{variable.type}{variable.preview}".encode()
    for file in contents.files:
        assert is_file_path(file.name)
    assert contents.is_truncated or len(contents.variables) == len(variables)
