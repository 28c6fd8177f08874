"""The files that code wrote, from listings of the working directory and from the parts of an answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from attachments.validation import safe_name
from chat.vocabulary.file_labels import file_labels
from chat.vocabulary.parts import CodeExecutionResult, JSONObject, Part, WrittenFile


def written_between(before: Sequence[JSONObject], after: Sequence[JSONObject]) -> tuple[WrittenFile, ...]:
    """Return the files that are new or changed between two listings, as `files_as_json` makes them."""
    names = {file["name"] for file in before}
    return tuple(
        WrittenFile(
            name=str(file["name"]),
            size_bytes=size_bytes if isinstance(size_bytes := file["size_bytes"], int) else 0,
            modified_at=str(file["modified_at"]),
            is_new=file["name"] not in names,
        )
        for file in after
        if file not in before
    )


def written_files(parts: Iterable[Part]) -> list[WrittenFile]:
    """Return the files that the code of an answer wrote, each once, as they were after the last code."""
    files: dict[str, WrittenFile] = {}
    for part in parts:
        for file in part.files if isinstance(part, CodeExecutionResult) else ():
            first = files.get(file.name, file)
            files[file.name] = replace(file, is_new=first.is_new)
    return list(files.values())


def attachment_names(files: Sequence[WrittenFile]) -> dict[str, str]:
    """Return the name that each file of an answer has as an attachment, by the file's name.

    An attachment's name has no invisible characters, among others, so several files may share one. All but the first of
    them get a number: a name in an answer stands for one file. `files`: all files of the answer, see `written_files`.
    """
    labels = file_labels(safe_name(file.name, "file") for file in files)
    return {file.name: label for file, label in zip(files, labels, strict=True)}
