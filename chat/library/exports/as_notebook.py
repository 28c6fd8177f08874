"""The format `ipynb`: the shown messages as a notebook that can be run, in nbformat 4.5.

Each run of Python code is a code cell with its recorded outputs, whether the provider's sandbox or the session ran it.
The rest of the messages is in Markdown cells. Code expects the attached files in its working directory, so if there are
files, the download is an archive of the notebook and the files. `notebook_outputs` says which types of rich outputs it
contains.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from attachments.validation import RASTER_TYPES
from chat.library.exports.download import Download
from chat.library.exports.encoding import encode_json
from chat.library.exports.export_format import ExportFormat
from chat.library.exports.file_names import file_stem
from chat.library.exports.notebook_cells import CellWriter, CodeRun
from chat.library.exports.part_markdown import part_markdown
from chat.library.exports.sandbox_files import SandboxFiles, sandbox_files
from chat.library.exports.sentences import LIVE_SENTENCE, end_sentences, message_heading
from chat.library.exports.source import ExportSource
from chat.library.exports.table_readings import tables_text
from chat.library.exports.zip_stream import ZipEntry, stream_zip
from chat.messages.code_results import earlier_results
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.page.transcript.answer_details import answered_by
from chat.vocabulary.markdown_source import escape_label, escape_text
from chat.vocabulary.parts import (
    OUTCOME_RUNNING,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    InlineData,
    JSONObject,
    PartKind,
    Role,
)

NOTEBOOK_FORMAT = "plotline-notebook"
NOTEBOOK_VERSION = 1
NOTEBOOK_TYPE = "application/x-ipynb+json"
ZIP_TYPE = "application/zip"


def export(source: ExportSource) -> Download:
    """Export the notebook, or an archive of it and the files that its code opens."""
    name = file_stem(source.conversation.title)
    files = sandbox_files(source)
    if not files:
        return Download(f"{name}.ipynb", NOTEBOOK_TYPE, chunks(source, files))
    return Download(f"{name}-notebook.zip", ZIP_TYPE, stream_zip(entries(source, files, "", name)))


FORMAT = ExportFormat("ipynb", "Notebook", "Runs in Jupyter, with its files", (NOTEBOOK_TYPE, ZIP_TYPE), export)


def entries(source: ExportSource, files: SandboxFiles, folder: str, name: str) -> Iterator[ZipEntry]:
    """Yield the notebook and its files as entries of an archive. `folder`: empty, or a path that ends with `/`."""
    yield ZipEntry(f"{folder}{name}.ipynb", chunks(source, files))
    # The files come after the notebook, because its code determines their names.
    for file in files.stored():
        yield ZipEntry(f"{folder}{file.name}", file.chunks())


def chunks(source: ExportSource, files: SandboxFiles) -> Generator[bytes]:
    """Yield the notebook."""
    yield b'{\n"nbformat": 4,\n"nbformat_minor": 5,\n"metadata": ' + encode_json(_metadata(source, files))
    yield b',\n"cells": ['
    for number, cell in enumerate(_cells(source, files, CellWriter())):
        yield b",\n" if number else b"\n"
        yield from cell
    yield b"\n]\n}\n"


def _metadata(source: ExportSource, files: SandboxFiles) -> JSONObject:
    conversation = source.conversation
    return {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"},
        "title": conversation.title,
        "plotline": {
            "format": NOTEBOOK_FORMAT,
            "version": NOTEBOOK_VERSION,
            "conversation": str(conversation.pk),
            "model": conversation.model,
            "created_at": conversation.created_at.isoformat(),
            "exported_at": source.exported_at.isoformat(),
            "is_live": source.is_live(),
            "files": [file.name for file in files.stored()],
        },
    }


def _cells(source: ExportSource, files: SandboxFiles, writer: CellWriter) -> Iterator[Iterator[bytes]]:
    header = f"# {escape_label(str(source.conversation))}"
    if source.is_live():
        header += f"\n\n*{escape_label(LIVE_SENTENCE)}*"
    if text := tables_text(files):
        header += f"\n\n{text}"
    yield writer.markdown(header, {"role": "header"})
    for record in source.messages(shown_only=True):
        metadata = _cell_metadata(record)
        if record.message.role == Role.USER:
            yield from _question_cells(record, metadata, files, writer)
        else:
            yield from _answer_cells(record, metadata, files, writer)


def _cell_metadata(record: MessageRecord) -> JSONObject:
    """Return the metadata about a message that each of its cells contains."""
    metadata: JSONObject = {
        "role": record.message.role,
        "message": str(record.message.pk),
        "created_at": record.message.created_at.isoformat(),
    }
    turn = record.turn
    if turn is not None:
        answered = answered_by(turn)
        metadata |= {"provider": answered.provider, "endpoint": answered.endpoint, "engine": answered.engine}
        metadata |= {"model": answered.model, "model_version": turn.model_version, "status": turn.status}
        metadata |= {"ended_at": turn.ended_at.isoformat() if turn.ended_at else None}
    return metadata


def _question_cells(
    record: MessageRecord, metadata: JSONObject, files: SandboxFiles, writer: CellWriter
) -> Iterator[Iterator[bytes]]:
    text = f"### {escape_label(message_heading(record))}"
    if record.message.text:
        text += f"\n\n{escape_text(record.message.text)}"
    others = [placed.attachment for placed in record.attachments if placed.attachment.mime_type not in RASTER_TYPES]
    if others:
        text += f"\n\n*With {', '.join(escape_label(files.name_of(file)) for file in others)}*"
    yield writer.markdown(text, metadata, record.attachments)
    if copies := files.copies(placed.attachment for placed in record.attachments):
        lines = [f"shutil.copyfile({stored!r}, {name!r})" for stored, name in copies]
        comment = "# These files have the names of earlier files, which they replace from here on."
        run = CodeRun("\n".join([comment, "import shutil", "", *lines]), 0)
        yield writer.code(run, {**metadata, "role": "files"}, tags=())


@dataclass(frozen=True, slots=True)
class _Block:
    """A part that becomes a Markdown cell."""

    text: str
    part_index: int
    kind: PartKind
    attachments: list[PlacedAttachment]


def _answer_cells(
    record: MessageRecord, metadata: JSONObject, files: SandboxFiles, writer: CellWriter
) -> Iterator[Iterator[bytes]]:
    # An import removes these lines from the first cell of an answer, because they are not the model's.
    answered = answered_by(record.turn).sentence
    heading = f"### {escape_label(message_heading(record))}" + (f"\n\n*{escape_label(answered)}*" if answered else "")
    for block in _answer_blocks(record):
        if isinstance(block, CodeRun):
            if heading:
                yield writer.markdown(heading, metadata)
            files.note_numbered_names(block.code)
            yield writer.code(block, metadata)
        else:
            text = "\n\n".join(piece for piece in (heading, block.text) if piece)
            about_part: JSONObject = {"part": block.part_index, "kind": block.kind.value}
            yield writer.markdown(text, {**metadata, **about_part}, block.attachments)
        heading = ""
    pieces = [*([heading] if heading else []), *(f"*{escape_label(sentence)}*" for sentence in end_sentences(record))]
    if pieces or record.unplaced:
        yield writer.markdown("\n\n".join(pieces), {**metadata, "role": "end"}, record.unplaced)


def _answer_blocks(record: MessageRecord) -> Iterator[CodeRun | _Block]:
    """Yield the runs of Python code in an answer with their outputs, and its other parts, in order."""
    shown_calls, without_result = record.calls_with_parts(), record.codes_without_result()
    earlier, by_part = earlier_results(record.parts), record.attachments_by_part()
    code_run: CodeRun | None = None
    for run in record.runs():
        part, attachments = run.part, by_part[run.last]
        if isinstance(part, ExecutableCode) and part.is_python:
            if code_run:
                yield code_run
            code_run = CodeRun(part.code, run.start, part.is_edited, [*attachments])
            continue
        if code_run and isinstance(part, CodeExecutionResult | Display | InlineData):
            # The image of inline data is exported as its attachment.
            if isinstance(part, CodeExecutionResult) and run.start in earlier:
                # The last result of the run says how the code ended.
                part = replace(part, outcome=OUTCOME_RUNNING)
            code_run.outputs += attachments if isinstance(part, InlineData) else [part, *attachments]
            continue
        text = part_markdown(
            part,
            shown_calls,
            has_attachments=bool(attachments),
            is_without_result=run.start in without_result,
            is_earlier_result=run.start in earlier,
        )
        if text or attachments:
            if code_run:
                yield code_run
                code_run = None
            yield _Block(text, run.start, part.kind, attachments)
    if code_run:
        yield code_run
