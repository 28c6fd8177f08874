"""Writes the cells of a notebook as JSON, in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from attachments.models import Attachment
from attachments.validation import RASTER_TYPES
from chat.library.exports.encoding import encode_base64, encode_json
from chat.library.exports.notebook_outputs import display_output, result_outputs
from chat.library.exports.source import load_bytes
from chat.messages.records import PlacedAttachment
from chat.vocabulary.code_outcomes import ABORTED, LOST, RUNNING, SUCCESS, TIMEOUT, outcome_word
from chat.vocabulary.markdown_source import escape_label
from chat.vocabulary.parts import CodeExecutionResult, Display, JSONObject


@dataclass(slots=True)
class CodeRun:
    """Code, and its outputs when it ran."""

    code: str
    part_index: int
    is_edited: bool = False
    """True if a person changed the code before it ran."""
    outputs: list[CodeExecutionResult | Display | PlacedAttachment] = field(default_factory=list)
    """Results, rich outputs and graphs, in their order."""

    @property
    def has_output(self) -> bool:
        """True if the code has any output besides graphs."""
        return any(not isinstance(output, PlacedAttachment) for output in self.outputs)

    @property
    def tags(self) -> list[str]:
        """Tags for Jupyter: failed code may fail again, and code that timed out or did not reach its end is not run."""
        results = [output for output in self.outputs if isinstance(output, CodeExecutionResult)]
        outcomes = {outcome_word(result) for result in results} - {RUNNING}
        if not outcomes or outcomes & {TIMEOUT, ABORTED, LOST}:
            return ["skip-execution"]
        return [] if outcomes == {SUCCESS} else ["raises-exception"]


class CellWriter:
    """Writes the cells of one notebook, and numbers them and their runs."""

    def __init__(self) -> None:
        self._cells = 0
        self._runs = 0

    def _next_id(self) -> str:
        self._cells += 1
        return f"cell-{self._cells}"

    def markdown(
        self, text: str, metadata: JSONObject, attachments: Sequence[PlacedAttachment] = ()
    ) -> Iterator[bytes]:
        """Yield a Markdown cell. The images among the attachments are embedded below its text."""
        images = [placed for placed in attachments if placed.attachment.mime_type in RASTER_TYPES]
        links = [f"![{escape_label(placed.attachment.name)}](attachment:image-{placed.index})" for placed in images]
        cell: JSONObject = {
            "cell_type": "markdown",
            "id": self._next_id(),
            "metadata": {"plotline": metadata},
            "source": "\n\n".join([text, *links] if text else links),
        }
        yield encode_json(cell).removesuffix(b"}")
        if images:
            yield b', "attachments": {'
            for number, placed in enumerate(images):
                yield b", " if number else b""
                yield encode_json(f"image-{placed.index}") + b": {"
                yield encode_json(placed.attachment.mime_type) + b': "'
                yield from encode_base64(load_bytes(placed.attachment) or b"")
                yield b'"}'
            yield b"}"
        yield b"}"

    def code(self, run: CodeRun, metadata: JSONObject, tags: Sequence[str] | None = None) -> Iterator[bytes]:
        """Yield a code cell with the recorded outputs. `tags`: by default those of the run."""
        tags = run.tags if tags is None else tags
        self._runs += 1
        about_run = {**metadata, "part": run.part_index, **({"is_edited": True} if run.is_edited else {})}
        cell: JSONObject = {
            "cell_type": "code",
            "id": self._next_id(),
            "metadata": {"plotline": about_run, **({"tags": [*tags]} if tags else {})},
            "execution_count": self._runs if run.has_output else None,
            "source": run.code,
        }
        yield encode_json(cell).removesuffix(b"}") + b', "outputs": ['
        for number, output in enumerate(_encoded_outputs(run)):
            yield b", " if number else b""
            yield from output
        yield b"]}"


def _encoded_outputs(run: CodeRun) -> Iterator[Iterator[bytes]]:
    for output in run.outputs:
        match output:
            case CodeExecutionResult():
                yield from (iter([encode_json(one)]) for one in result_outputs(output))
            case Display():
                yield iter([encode_json(display_output(output))])
            case PlacedAttachment():
                yield _attachment_output(output.attachment)


def _attachment_output(attachment: Attachment) -> Iterator[bytes]:
    """Yield an image as an output. For another file, yield only its name."""
    data = load_bytes(attachment) if attachment.mime_type in RASTER_TYPES else None
    yield b'{"output_type": "display_data", "metadata": {}, "data": {"text/plain": '
    yield encode_json(f"<{attachment.name}>")
    if data is not None:
        yield b", " + encode_json(attachment.mime_type) + b': "'
        yield from encode_base64(data)
        yield b'"'
    yield b"}}"
