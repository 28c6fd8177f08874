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
    """Return the files that the code of an answer wrote. Each file is listed once, in its state after the last code."""
    files: dict[str, WrittenFile] = {}
    for part in parts:
        for file in part.files if isinstance(part, CodeExecutionResult) else ():
            first = files.get(file.name, file)
            files[file.name] = replace(file, is_new=first.is_new)
    return list(files.values())


def attachment_names(files: Sequence[WrittenFile]) -> dict[str, str]:
    """Return a mapping from the name of each file of an answer to its name as an attachment.

    Names of attachments have no invisible characters, for example, so several files may get the same one. Then all but
    the first get a number, because a name in an answer must mean one file. `files`: all files of the answer, see
    `written_files`.
    """
    labels = file_labels(safe_name(file.name, "file") for file in files)
    return {file.name: label for file, label in zip(files, labels, strict=True)}
