"""Which files code wrote, from two listings and from the parts of an answer."""

from __future__ import annotations

from chat.messages.files_of_code import attachment_names, written_between, written_files
from chat.vocabulary.parts import CodeExecutionResult, JSONObject, Part, Text, WrittenFile


def listed(name: str, second: int, size_bytes: int = 1) -> JSONObject:
    """Return a file as listings have it, modified in this second."""
    return {"name": name, "size_bytes": size_bytes, "modified_at": f"2026-01-01T00:00:{second:02}+00:00"}


def test_comparison_of_two_listings_gives_new_and_changed_files() -> None:
    before = [listed("a", 1), listed("b", 1), listed("gone", 1)]
    after = [listed("a", 1), listed("b", 2, 5), listed("c", 2)]
    assert written_between(before, after) == (
        WrittenFile("b", 5, "2026-01-01T00:00:02+00:00", is_new=False),
        WrittenFile("c", 1, "2026-01-01T00:00:02+00:00", is_new=True),
    )


def test_file_that_code_wrote_twice_is_listed_once_with_its_last_size_and_time() -> None:
    first = WrittenFile("a.csv", 1, "1", is_new=True), WrittenFile("b.csv", 2, "1", is_new=False)
    second = WrittenFile("a.csv", 9, "2", is_new=False), WrittenFile("c.csv", 3, "2", is_new=True)
    parts: list[Part] = [
        CodeExecutionResult(files=first),
        Text("and"),
        CodeExecutionResult(files=second),
        CodeExecutionResult(),
    ]
    assert written_files(parts) == [
        WrittenFile("a.csv", 9, "2", is_new=True),
        WrittenFile("b.csv", 2, "1", is_new=False),
        WrittenFile("c.csv", 3, "2", is_new=True),
    ]


def test_files_of_an_answer_get_distinct_attachment_names() -> None:
    names = ["a.csv", "a\u200b.csv", "a\u202e.csv", "a-2.csv", "b  c.txt", "b c.txt", "con", "e\u0301", "\u00e9"]
    attachments = attachment_names([WrittenFile(name, 1, "1", is_new=True) for name in names])
    assert list(attachments) == names
    assert list(attachments.values()) == [
        *("a.csv", "a-2.csv", "a-3.csv", "a-2-2.csv", "b c.txt", "b c-2.txt", "_con", "\u00e9", "\u00e9-2"),
    ]
