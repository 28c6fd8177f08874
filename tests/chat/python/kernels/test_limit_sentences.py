"""A limit is recognized by the error in the kernel's reply only, and its sentence needs no size."""

from __future__ import annotations

import pytest

from chat.python.kernels.limit_sentences import Limit, limit_of, limit_sentence


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("OSError", "[Errno 28] No space left on device: 'a.csv'", Limit.DISK),
        ("OSError", "[Errno 12] Cannot allocate memory", Limit.MEMORY),
        ("OSError", "text with [Errno 28]", None),
        ("OSError", "[Errno 2] No such file", None),
        ("ValueError", "[Errno 28] No space left on device", None),
        ("BlockingIOError", "[Errno 115] Operation now in progress", None),
        ("RuntimeError", "can't start new thread", Limit.THREADS),
        ("RuntimeError", "it can't start new thread", None),
        (["OSError"], {"a": 1}, None),
    ],
)
def test_exceeded_limit_is_recognized_by_the_name_and_text_of_the_error(
    name: object, value: object, limit: Limit | None
) -> None:
    assert limit_of({"status": "error", "ename": name, "evalue": value}) is limit
    assert limit_of({"status": "ok", "ename": name, "evalue": value}) is None


@pytest.mark.parametrize("limit", Limit)
@pytest.mark.parametrize("size", [None, -1, 2**70, "1", [1], True])
def test_limit_sentence_contains_no_number_if_the_size_is_not_valid(limit: Limit, size: object) -> None:
    names = ["processes", "open_files", "file_bytes", "address_space_bytes"]
    names += ["working_directory_bytes", "temporary_directory_bytes"]
    sentence = limit_sentence(limit, dict.fromkeys(names, size))
    assert sentence == limit_sentence(limit, {})
    assert sentence.endswith(".")
    assert not any(character.isdigit() or character == ":" for character in sentence)
