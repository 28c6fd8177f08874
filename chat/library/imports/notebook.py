"""Parses Jupyter notebooks, source: nbformat.readthedocs.io/en/latest/format_description.html.

In a notebook that Plotline exported, the metadata of cells name their author. Any other notebook becomes one answer to
a question with the notebook's name. Cells and outputs that cannot be read are left out, and the end of the answer lists
them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.utils.translation import gettext

from chat.library.exports.as_notebook import NOTEBOOK_FORMAT
from chat.library.imports.foreign_messages import build_answer, build_question
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.notebook_cells import CellImages, LeftOut, joined_text, read_outputs
from chat.library.imports.notebook_versions import read_cells
from chat.library.imports.records import PARTS_LIMIT, ParsedAttachment, ParsedConversation, ParsedMessage
from chat.vocabulary.display_text import MARKDOWN
from chat.vocabulary.markdown_source import escape_label, fence_code, unescape_text
from chat.vocabulary.parts import JSON, CodeExecutionResult, ExecutableCode, Part, PartKind, Role, Text, Thought
from chat.vocabulary.sentences import translate_sentence

TITLE_LIMIT_CHARS = 200
TEXT_CELLS = ("markdown", "raw", "heading")
EMPTY_QUESTION = "…"
NO_CODE = "# This cell has no code."
"""Replaces the code of a cell that has only outputs."""
NOTES_LIMIT = 50
"""Maximum number of left-out pieces that an answer lists with their reasons."""

_HEADING = re.compile(r"\A### [^\n]*\n*")
_ANSWERED_BY = re.compile(r"\A### [^\n]*\n*(?:\*(?:Model|Code): [^\n]*\*(?:\n+|\Z))?")
"""The beginning of an exported answer: a heading and, if there is one, the line below it that says who answered."""
# These two patterns read a text once. A pattern that backtracks would need minutes for a long text that almost matches.
_IMAGE_LINK = re.compile(
    r"(?:(?<!\n)\n+)?(?:!\[(?>(?:[^\[\]\\\n]++|\\.)*)\]\(attachment:[^()\n]*+\)"
    r"|<img\s(?:[^<>\n]{0,200}\s)?src=[\"']?attachment:[^<>\n]*+>)"
)
_FILE_NAMES = re.compile(r"(?:\A|(?<!\n)\n+)\*With [^\n]*\*\Z")


def is_notebook(document: JSONValue) -> bool:
    """Return whether the document has the keys of a notebook."""
    value = document.value
    return isinstance(value, dict) and "nbformat" in value and ("cells" in value or "worksheets" in value)


def listed_files(document: JSONValue) -> list[str]:
    """Return the names of the files that Plotline stored beside a notebook. Other documents list none."""
    files = document.object_at("metadata").object_at("plotline").get("files").value
    return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []


def parse_notebook(document: JSONValue, name: str, data: bytes) -> ParsedConversation:
    """Return the conversation in a notebook. Raises RefusedImport if it is invalid.

    `name`, `data`: name and bytes of its file.
    """
    cells = read_cells(document)
    metadata = document.object_at("metadata")
    own = metadata.object_at("plotline")
    # Version 3 of nbformat has the name of the notebook among its metadata.
    titles = (metadata.get("title").value, metadata.get("name").value)
    title = next((one for one in titles if isinstance(one, str) and one.strip()), name.removesuffix(".ipynb"))
    parser = _NotebookParser()
    if own.get("format").value == NOTEBOOK_FORMAT:
        parser.parse_exported(cells)
    else:
        parser.parse_foreign(cells, title)
    return ParsedConversation(
        title=title.strip()[:TITLE_LIMIT_CHARS] or "Notebook",
        created_at=parser.now,
        updated_at=parser.now,
        messages=tuple(parser.messages),
        attachments=tuple(parser.files),
        source_id=f"notebook {hashlib.sha256(data).hexdigest()}",
    )


@dataclass(slots=True)
class _NotebookParser:
    """Reads a notebook. Its fields hold the messages and files that were read so far, and the unfinished answer."""

    messages: list[ParsedMessage] = field(default_factory=list)
    files: list[ParsedAttachment] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    """The parts of the current answer."""
    images: list[tuple[int, ParsedAttachment]] = field(default_factory=list)
    """The images of the current answer, each with the index of the part after which it is shown."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """The pieces that were left out since the last answer."""
    model: str = ""
    last_message: JSON = None
    """The id of the message that the last cell belongs to, in a notebook that Plotline exported."""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def parse_foreign(self, cells: Sequence[JSONValue], title: str) -> None:
        """Read all cells as one answer."""
        self.messages.append(build_question("question", None, f"Notebook: {title}", self.now))
        self._read_cells(cells, lambda cell: self._read_answer_cell(cell, joined_text(cell.get("source"))))

    def parse_exported(self, cells: Sequence[JSONValue]) -> None:
        """Read the cells of a notebook that Plotline exported as questions and answers."""
        self._read_cells(cells, self._read_exported_cell)

    def _read_cells(self, cells: Sequence[JSONValue], read: Callable[[JSONValue], None]) -> None:
        for number, cell in enumerate(cells, start=1):
            if len(self.parts) > PARTS_LIMIT:
                raise cell.refusal(f"an answer may have {PARTS_LIMIT} parts.")
            self.left_out.cell = number
            with self.left_out.unless_readable():
                read(cell)
        self._finish_answer()

    def _read_exported_cell(self, cell: JSONValue) -> None:
        own = cell.object_at("metadata").object_at("plotline").as_object()
        role, model = own.get("role"), own.get("model")
        if role in ("header", "files", "end"):
            return
        source = joined_text(cell.get("source"))
        if role == Role.USER:
            self._finish_answer()
            self._add_question(cell, source)
            return
        if isinstance(model, str):
            self.model = model
        if role == Role.MODEL and own.get("message") != self.last_message:
            self.last_message = own.get("message")
            if cell.get("cell_type").value == "markdown":
                # Only the first cell of an answer has the export's heading. Headings in other cells were written by the
                # model.
                source = _ANSWERED_BY.sub("", source)
        self._read_answer_cell(cell, source, is_thought=own.get("kind") == PartKind.THOUGHT)

    def _add_question(self, cell: JSONValue, source: str) -> None:
        # First the links of images are removed, then the line with the names of other files, which is above them.
        text = unescape_text(_FILE_NAMES.sub("", _IMAGE_LINK.sub("", _HEADING.sub("", source)))).strip()
        images = self._cell_images(is_upload=True).read_attachments(cell)
        self.files += images
        parent = self.messages[-1].key if self.messages else None
        key = str(len(self.messages))
        self.messages.append(build_question(key, parent, text or EMPTY_QUESTION, self.now, images))

    def _finish_answer(self) -> None:
        """Add the current answer. An answer without parts is added only after a question."""
        self._add_notes()
        if not self.messages or self.messages[-1].role is not Role.USER:
            if not self.parts:
                return
            parent = self.messages[-1].key if self.messages else None
            self.messages.append(build_question(str(len(self.messages)), parent, EMPTY_QUESTION, self.now))
        question, key = self.messages[-1].key, str(len(self.messages))
        self.messages.append(build_answer(key, question, self.parts, self.now, model=self.model, images=self.images))
        self.files += [file for _, file in self.images]
        self.parts, self.images = [], []

    def _add_notes(self) -> None:
        """List the left-out pieces at the end of the answer."""
        reasons, self.left_out.reasons = self.left_out.reasons, []
        if not reasons:
            return
        lines = [gettext("These pieces of the notebook could not be read, and were left out:"), ""]
        for number, reason in reasons[:NOTES_LIMIT]:
            cell = gettext("Cell %(number)d:") % {"number": number}
            lines.append(f"- {cell} {escape_label(translate_sentence(reason))}")
        if len(reasons) > NOTES_LIMIT:
            lines.append(f"- {gettext('and %(count)d more') % {'count': len(reasons) - NOTES_LIMIT}}")
        self.parts.append(Text("\n".join(lines)))

    def _read_answer_cell(self, cell: JSONValue, source: str, *, is_thought: bool = False) -> None:
        kind = cell.get("cell_type").value
        if kind == "code":
            self._read_code_cell(cell, source)
            return
        if kind not in TEXT_CELLS:
            if source.strip():
                self.parts.append(Text(fence_code(source)))
            raise cell.get("cell_type").refusal(f"“{str(kind)[:40]}” is an unknown kind of cell. Its text is kept.")
        if kind == "heading":
            level = cell.get("level").value
            source = f"{'#' * level if isinstance(level, int) and 0 < level < 7 else '#'} {' '.join(source.split())}"
        reader = self._cell_images()
        images = reader.read_attachments(cell)
        texts, embedded = reader.take_embedded({MARKDOWN: source}, cell)
        images += embedded
        source = _IMAGE_LINK.sub("", str(texts[MARKDOWN])) if cell.has("attachments") or embedded else source
        if source.strip() or images:
            self.parts.append(Thought(source) if is_thought else Text(source))
            self._add_images(images)

    def _read_code_cell(self, cell: JSONValue, source: str) -> None:
        outputs = list(cell.get("outputs").items(PARTS_LIMIT))
        if not source.strip() and not outputs:
            return
        if not outputs and cell.get("execution_count").value is None:
            # The cell was never run. Providers require a result for executed code, so the code becomes text.
            self.parts.append(Text(fence_code(source, "python")))
            return
        result = read_outputs(outputs, self._cell_images(is_graph=True))
        self.parts.append(ExecutableCode(source if source.strip() else NO_CODE, language="PYTHON"))
        self.parts.append(CodeExecutionResult(output=result.text or None, outcome=result.outcome))
        self.parts += result.displays
        self._add_images(result.images)

    def _cell_images(self, *, is_graph: bool = False, is_upload: bool = False) -> CellImages:
        count = len(self.files) + len(self.images)
        return CellImages(count, self.left_out, is_graph=is_graph, is_upload=is_upload)

    def _add_images(self, images: Sequence[ParsedAttachment]) -> None:
        """Add images that are shown after the last part."""
        self.images += [(len(self.parts) - 1, file) for file in images]
