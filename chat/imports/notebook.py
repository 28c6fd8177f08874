"""A Jupyter notebook as a conversation: nbformat 4, source: nbformat.readthedocs.io/en/latest/format_description.html.

One that was exported here tells in its cells who said what; any other is one answer, to a question that names it. Of
outputs, text and raster images are taken; HTML, SVG and widgets are not.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from attachments.validation import RASTER_TYPES
from chat.exports.as_notebook import FORMAT
from chat.exports.commonmark import fenced, unplain
from chat.imports.answers import answer, question
from chat.imports.drafts import (
    MESSAGES_LIMIT,
    PARTS_LIMIT,
    AttachmentDraft,
    ConversationDraft,
    MessageDraft,
    PlacedDraft,
)
from chat.imports.files import FoundFile, checked_file
from chat.imports.places import Place
from chat.models import Conversation
from chat.parts import OUTCOME_FAILED, OUTCOME_OK, Part, PartKind, Role

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HEADING = re.compile(r"\A### [^\n]*\n*")
#: None of these reads a text twice: a long one that only nearly fits would hold up the server.
_SHOWN = re.compile(r"(?:(?<!\n)\n+)?!\[(?:[^\[\]\\\n]++|\\.)*+\]\(attachment:[^()\n]*+\)")
_WITH_FILES = re.compile(r"(?:\A|(?<!\n)\n+)\*With [^\n]*\*\Z")


def is_notebook(document: Place) -> bool:
    """Whether it says so."""
    return isinstance(document.value, dict) and "nbformat" in document.value and "cells" in document.value


def draft(document: Place, name: str, data: bytes) -> ConversationDraft:
    """The conversation of a notebook called `name`. Raises RefusedImport."""
    if document.at("nbformat").value != 4:
        raise document.at("nbformat").refuse("only notebooks of format 4 are known here.")
    reader = _Reader(document)
    ours = document.at("metadata").at("plotline").value if document.has("metadata") else None
    title = document.at("metadata").at("title").value if document.has("metadata") else None
    title = title if isinstance(title, str) and title.strip() else name.removesuffix(".ipynb")
    if isinstance(ours, dict) and ours.get("format") == FORMAT:
        reader.read_ours()
    else:
        reader.read_other(title)
    now = datetime.now(UTC)
    return ConversationDraft(
        title=title.strip()[:200] or "Notebook",
        created_at=now,
        updated_at=now,
        messages=tuple(reader.told),
        attachments=tuple(reader.files),
        source=f"notebook {hashlib.sha256(data).hexdigest()}",
        columns={"title_source": Conversation.TitleSource.USER.value},
    )


@dataclass(slots=True)
class _Reader:
    """What has been read of a notebook."""

    document: Place
    told: list[MessageDraft] = field(default_factory=list)
    files: list[AttachmentDraft] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    """Of the answer that is read just now."""
    images: list[tuple[int, AttachmentDraft]] = field(default_factory=list)
    model: str = ""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def cells(self) -> Iterator[Place]:
        """The cells."""
        return self.document.at("cells").items(MESSAGES_LIMIT)

    def read_other(self, title: str) -> None:
        """All cells as one answer."""
        self.told.append(question("question", None, f"Notebook: {title}", self.now))
        for cell in self.cells():
            self._cell(cell, _source(cell))
        self._end()

    def read_ours(self) -> None:
        """Cells by who said them."""
        for cell in self.cells():
            about = cell.at("metadata").at("plotline") if cell.has("metadata") else Place(None)
            role = about.at("role").value if isinstance(about.value, dict) else None
            if role in ("header", "files", "end"):
                continue
            source = _source(cell)
            if role == Role.USER:
                self._end()
                self._question(cell, source)
                continue
            if isinstance(about.value, dict) and isinstance(about.value.get("model"), str):
                self.model = about.value["model"]
            kind = about.value.get("kind") if isinstance(about.value, dict) else None
            self._cell(cell, _HEADING.sub("", source) if cell.at("cell_type").value == "markdown" else source, kind)
        self._end()

    def _question(self, cell: Place, source: str) -> None:
        text = unplain(_SHOWN.sub("", _WITH_FILES.sub("", _HEADING.sub("", source)))).strip()
        images = list(self._attached(cell, is_sent=True))
        self.files += images
        placed = tuple(PlacedDraft(file.key, number, None) for number, file in enumerate(images))
        parent = self.told[-1].key if self.told else None
        self.told.append(question(f"{len(self.told)}", parent, text or "…", self.now, attachments=placed))

    def _end(self) -> None:
        """Tell the answer that was read."""
        if not self.told or self.told[-1].role != Role.USER:
            if not self.parts:
                return
            parent = self.told[-1].key if self.told else None
            self.told.append(question(f"{len(self.told)}", parent, "…", self.now))
        self.told.append(
            answer(f"{len(self.told)}", self.told[-1].key, self.parts, self.now, model=self.model, images=self.images)
        )
        self.files += [file for _, file in self.images]
        self.parts, self.images = [], []

    def _cell(self, cell: Place, source: str, kind: object = None) -> None:
        """One cell of an answer."""
        if len(self.parts) > PARTS_LIMIT:
            raise cell.refuse(f"an answer may have {PARTS_LIMIT} parts.")
        cell_type = cell.at("cell_type").one_of(("markdown", "code", "raw", "heading"))
        if cell_type == "code":
            self._code(cell, source)
            return
        images = list(self._attached(cell, is_sent=False))
        source = _SHOWN.sub("", source) if images else source
        if source.strip() or images:
            is_thought = kind == PartKind.THOUGHT.value
            self.parts.append(Part(PartKind.THOUGHT if is_thought else PartKind.TEXT, text=source))
            self.images += [(len(self.parts) - 1, file) for file in images]

    def _code(self, cell: Place, source: str) -> None:
        outputs = list(cell.at("outputs").items(PARTS_LIMIT))
        if not source.strip():
            return
        if not outputs and cell.at("execution_count").value is None:
            # It never ran: code without a result is nothing that a model can be told.
            self.parts.append(Part(PartKind.TEXT, text=fenced(source, "python")))
            return
        self.parts.append(Part(PartKind.EXECUTABLE_CODE, text=source, language="PYTHON"))
        texts: list[str] = []
        outcome = OUTCOME_OK
        drawn: list[AttachmentDraft] = []
        for output in outputs:
            kind = output.at("output_type").text()
            if kind == "stream":
                texts.append(_joined(output.at("text")))
            elif kind == "error":
                outcome = OUTCOME_FAILED
                lines = [_joined(line) for line in output.at("traceback").items(PARTS_LIMIT)]
                texts.append(_ANSI.sub("", "\n".join(lines)))
            elif output.has("data"):
                image = self._image(output.at("data"), f"graph-{len(self.files) + len(self.images) + len(drawn) + 1}")
                if image is not None:
                    drawn.append(image)
                elif output.at("data").has("text/plain"):
                    texts.append(_joined(output.at("data").at("text/plain")))
        self.parts.append(Part(PartKind.CODE_EXECUTION_RESULT, text="".join(texts) or None, outcome=outcome))
        self.images += [(len(self.parts) - 1, file) for file in drawn]

    def _attached(self, cell: Place, *, is_sent: bool) -> Iterator[AttachmentDraft]:
        """Images that stand in a Markdown cell."""
        if not cell.has("attachments"):
            return
        place = cell.at("attachments")
        for number, name in enumerate(place.mapping()):
            key = f"image-{len(self.files) + len(self.images) + number + 1}"
            image = self._image(place.at(name), key, is_graph=False, is_sent=is_sent)
            if image is not None:
                yield image

    def _image(
        self, bundle: Place, key: str, *, is_graph: bool = True, is_sent: bool = False
    ) -> AttachmentDraft | None:
        """The raster image among the forms of one output; None where there is none."""
        mime_type = next((kind for kind in bundle.mapping() if kind in RASTER_TYPES), None)
        if mime_type is None:
            return None
        place = bundle.at(mime_type)
        try:
            data = base64.b64decode("".join(_joined(place).split()), validate=True)
        except (binascii.Error, ValueError):
            raise place.refuse("there must be base64 here.") from None
        found = FoundFile(
            key=key,
            name=f"{key}.{mime_type.removeprefix('image/')}",
            data=data,
            mime_type=mime_type,
            is_graph=is_graph,
            is_sent=is_sent,
            created_at=self.now,
        )
        return checked_file(found, place)


def _source(cell: Place) -> str:
    return _joined(cell.at("source"))


def _joined(place: Place) -> str:
    """A text, which notebooks may write as a list of lines."""
    if isinstance(place.value, list):
        return "".join(line.text() for line in place.items(1_000_000))
    return place.text_or("")
