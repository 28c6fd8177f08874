"""Determines which files a text of an answer can link to: those that earlier code of the answer wrote."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from django.urls import reverse

from chat.page.readers import Reader
from chat.page.rendering.file_links import FileLinks
from chat.vocabulary.parts import CodeExecutionResult, Part


class AnswerFiles:
    """Collects the written files from the parts of an answer, in order."""

    def __init__(self, conversation_id: uuid.UUID, reader: Reader, parts: Iterable[Part] = ()) -> None:
        self._conversation_id = conversation_id
        self._may_download = reader.may_act
        self._paths: dict[int, tuple[str, ...]] = {}
        """Index of a code execution result -> paths of the files that its code wrote."""
        for index, part in enumerate(parts):
            self.add_part(index, part)

    def add_part(self, index: int, part: Part) -> None:
        """Add the next part, or replace a part by its new form."""
        if isinstance(part, CodeExecutionResult) and part.files:
            self._paths[index] = tuple(file.name for file in part.files)

    def remove_parts(self, kept: int) -> None:
        """Remove all parts but the first `kept` ones."""
        self._paths = {index: paths for index, paths in self._paths.items() if index < kept}

    def before(self, index: int) -> FileLinks:
        """Return the files to which the text with this index can link. Files written later do not change shown text."""
        written = dict.fromkeys(path for result, paths in self._paths.items() if result < index for path in paths)
        if not written or not self._may_download:
            return FileLinks(tuple(written))
        return FileLinks(tuple(written), reverse("api-session-file", args=[self._conversation_id, "-"])[:-1])
