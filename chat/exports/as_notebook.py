"""`ipynb`: what is in view as a notebook that runs: nbformat 4.5, source: nbformat.readthedocs.io/en/latest.

Text is Markdown cells, executed code a code cell with its recorded output and graphs. Code finds the files that were
attached where it found them when it was recorded, in its working directory by their names: with files, the download
is an archive of the notebook and these. Outputs are text and raster images, never HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from attachments.models import Attachment
from attachments.validation import RASTER_TYPES
from chat.exports.commonmark import fenced, in_line, plain, quoted, tame
from chat.exports.download import Download, base64_slices, json_bytes, kept_bytes
from chat.exports.names import stem
from chat.exports.reading import Placed, Source, Told
from chat.exports.sandbox_files import SandboxFiles
from chat.exports.words import function_words, heading_of, live_words, notice_words
from chat.exports.zipping import Entry, zipped
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, Part, PartKind, Role

FORMAT = "plotline-notebook"
VERSION = 1
NOTEBOOK_TYPE = "application/x-ipynb+json"
COPYING = "# Files that were attached here under names that others have too."
_ERROR_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
_TRACEBACK = "Traceback (most recent call last)"


def export(source: Source) -> Download:
    """The notebook, or an archive of it and the files that its code opens."""
    name = stem(source.conversation.title)
    files = SandboxFiles(source.sent_files())
    if not files:
        return Download(f"{name}.ipynb", NOTEBOOK_TYPE, chunks(source, files))
    return Download(f"{name}-notebook.zip", "application/zip", zipped(entries(source, files, "", name)))


def entries(source: Source, files: SandboxFiles, folder: str, name: str) -> Iterator[Entry]:
    """The notebook and its files, in a folder of an archive; `folder` ends with `/`, or is empty."""
    yield Entry(f"{folder}{name}.ipynb", chunks(source, files))
    # After the notebook: its code has told which names it uses.
    for file in files.stored():
        yield Entry(f"{folder}{file.name}", file.chunks(), is_compressed=True)


def chunks(source: Source, files: SandboxFiles) -> Iterator[bytes]:
    """The notebook."""
    yield b'{\n"nbformat": 4,\n"nbformat_minor": 5,\n"metadata": ' + json_bytes(_metadata(source)) + b',\n"cells": ['
    numbers = _Numbers()
    for number, cell in enumerate(_cells(source, files, numbers)):
        yield b",\n" if number else b"\n"
        yield from cell
    yield b"\n]\n}\n"


def _metadata(source: Source) -> dict[str, Any]:
    conversation = source.conversation
    return {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"},
        "title": conversation.title,
        "plotline": {
            "format": FORMAT,
            "version": VERSION,
            "conversation": str(conversation.pk),
            "model": conversation.model,
            "created_at": conversation.created_at.isoformat(),
            "exported_at": source.exported_at.isoformat(),
            "is_live": source.is_live(),
        },
    }


@dataclass(slots=True)
class _Numbers:
    """What counts through a notebook."""

    cells: int = 0
    runs: int = 0

    def cell_id(self) -> str:
        """The next cell's id."""
        self.cells += 1
        return f"cell-{self.cells}"


@dataclass(slots=True)
class _Run:
    """Code with what it gave."""

    code: str
    index: int
    """Of its part."""
    results: list[Part] = field(default_factory=list)
    drawn: list[Placed] = field(default_factory=list)

    @property
    def tags(self) -> list[str]:
        """How a notebook is to run it: what failed may fail again, what never ended is not begun."""
        outcomes = {part.outcome for part in self.results}
        if not outcomes or OUTCOME_DEADLINE_EXCEEDED in outcomes:
            return ["skip-execution"]
        return [] if outcomes <= {OUTCOME_OK, ""} else ["raises-exception"]


def _cells(source: Source, files: SandboxFiles, numbers: _Numbers) -> Iterator[Iterator[bytes]]:
    header = f"# {in_line(str(source.conversation))}"
    if source.is_live():
        header += f"\n\n*{in_line(live_words())}*"
    yield _markdown(numbers, header, {"role": "header"})
    for told in source.messages(shown_only=True):
        about = _about(told)
        if told.message.role == Role.USER:
            yield from _question(told, about, files, numbers)
        else:
            yield from _answer(told, about, files, numbers)


def _about(told: Told) -> dict[str, Any]:
    """Whose cell it is, and when it was made."""
    about: dict[str, Any] = {
        "role": told.message.role,
        "message": str(told.message.pk),
        "created_at": told.message.created_at.isoformat(),
    }
    if told.turn is not None:
        ended_at = told.turn.ended_at
        about |= {"model": told.turn.model, "model_version": told.turn.model_version, "status": told.turn.status}
        about |= {"ended_at": ended_at.isoformat() if ended_at else None}
    return about


def _question(told: Told, about: dict[str, Any], files: SandboxFiles, numbers: _Numbers) -> Iterator[Iterator[bytes]]:
    text = f"### {heading_of(told)}"
    if told.message.text:
        text += f"\n\n{plain(told.message.text)}"
    others = [placed for placed in told.attachments if placed.attachment.mime_type not in RASTER_TYPES]
    if others:
        named = ", ".join(in_line(files.name_of(placed.attachment)) for placed in others)
        text += f"\n\n*With {named}*"
    yield _markdown(numbers, text, about, [placed for placed in told.attachments if placed not in others])
    if copies := files.copies(placed.attachment for placed in told.attachments):
        lines = [f"shutil.copyfile({stored!r}, {name!r})" for stored, name in copies]
        code = "\n".join(
            ["# These files were attached here under names that others had before.", "import shutil", "", *lines]
        )
        yield _code_cell(numbers, _Run(code, 0), {**about, "role": "files"}, tags=[])


def _answer(told: Told, about: dict[str, Any], files: SandboxFiles, numbers: _Numbers) -> Iterator[Iterator[bytes]]:
    heading = f"### {heading_of(told)}"
    run: _Run | None = None
    for index, part in enumerate(told.parts):
        drawn = told.drawn_by(index)
        if part.kind is PartKind.EXECUTABLE_CODE and part.language in ("PYTHON", "", "LANGUAGE_UNSPECIFIED"):
            if run:
                yield _code_cell(numbers, run, about)
            if heading:
                yield _markdown(numbers, heading, about)
                heading = ""
            run = _Run(part.text or "", index, drawn=list(drawn))
            files.read(run.code)
            continue
        if run and part.kind in (PartKind.CODE_EXECUTION_RESULT, PartKind.INLINE_DATA):
            if part.kind is PartKind.CODE_EXECUTION_RESULT:
                run.results.append(part)
            run.drawn += drawn
            continue
        text = _words(part)
        if not text and not drawn:
            continue
        if run:
            yield _code_cell(numbers, run, about)
            run = None
        text = "\n\n".join(piece for piece in (heading, text) if piece)
        heading = ""
        yield _markdown(numbers, text, {**about, "part": index, "kind": part.kind.value}, drawn)
    if run:
        yield _code_cell(numbers, run, about)
    end = [piece for piece in (heading, notice_words(told) and f"*{in_line(notice_words(told))}*") if piece]
    if end or told.homeless:
        yield _markdown(numbers, "\n\n".join(end), {**about, "role": "end"}, told.homeless)


def _words(part: Part) -> str:
    text = part.text or ""
    match part.kind:
        case PartKind.TEXT:
            return tame(text) if text.strip() else ""
        case PartKind.THOUGHT:
            return quoted(f"**Thoughts**\n\n{tame(text.strip())}") if text.strip() else ""
        case PartKind.EXECUTABLE_CODE | PartKind.CODE_EXECUTION_RESULT:
            return fenced(text, "text")
        case PartKind.FUNCTION_CALL | PartKind.FUNCTION_RESPONSE:
            return f"*{in_line(function_words(part))}*"
        case _:
            return ""


def _markdown(
    numbers: _Numbers, text: str, about: dict[str, Any], images: list[Placed] | None = None
) -> Iterator[bytes]:
    """A Markdown cell; its images are in it."""
    images = [placed for placed in images or () if placed.attachment.mime_type in RASTER_TYPES]
    shown = [f"![{in_line(placed.attachment.name)}](attachment:image-{placed.index})" for placed in images]
    cell = {
        "cell_type": "markdown",
        "id": numbers.cell_id(),
        "metadata": {"plotline": about},
        "source": "\n\n".join([piece for piece in (text, *shown) if piece]),
    }
    yield json_bytes(cell)[:-1]
    if images:
        yield b', "attachments": {'
        for number, placed in enumerate(images):
            yield b", " if number else b""
            yield json_bytes(f"image-{placed.index}") + b": {" + json_bytes(placed.attachment.mime_type) + b': "'
            yield from base64_slices(kept_bytes(placed.attachment) or b"")
            yield b'"}'
        yield b"}"
    yield b"}"


def _code_cell(numbers: _Numbers, run: _Run, about: dict[str, Any], tags: list[str] | None = None) -> Iterator[bytes]:
    """A code cell with what the code gave when it was recorded."""
    tags = run.tags if tags is None else tags
    numbers.runs += 1
    cell = {
        "cell_type": "code",
        "id": numbers.cell_id(),
        "metadata": {"plotline": {**about, "part": run.index}, **({"tags": tags} if tags else {})},
        "execution_count": numbers.runs if run.results else None,
        "source": run.code,
    }
    yield json_bytes(cell)[:-1] + b', "outputs": ['
    number = 0
    for part in run.results:
        for output in _outputs(part):
            yield (b", " if number else b"") + json_bytes(output)
            number += 1
    for placed in run.drawn:
        yield b", " if number else b""
        yield from _display(placed.attachment)
        number += 1
    yield b"]}"


def _outputs(part: Part) -> Iterator[dict[str, Any]]:
    """The text of a result: what was printed, then the error it ended with."""
    text = part.text or ""
    if part.outcome in (OUTCOME_OK, ""):
        if text:
            yield {"output_type": "stream", "name": "stdout", "text": text}
        return
    printed, found, trace = text.rpartition(_TRACEBACK)
    if not found:
        # The message comes first at times, and there may be no traceback at all.
        printed, trace = "", text
    if printed:
        yield {"output_type": "stream", "name": "stdout", "text": printed}
    lines = f"{found}{trace}".rstrip("\n").split("\n")
    error = next((hit for line in reversed(lines) if (hit := _ERROR_LINE.match(line))), None)
    is_late = part.outcome == OUTCOME_DEADLINE_EXCEEDED
    yield {
        "output_type": "error",
        "ename": "TimeoutError" if is_late else error[1] if error else "Error",
        "evalue": "The code ran out of time." if is_late else (error[2] or "") if error else "",
        "traceback": lines,
    }


def _display(attachment: Attachment) -> Iterator[bytes]:
    """A graph as an output; other files by their name."""
    words = f"<{attachment.name}>"
    data = kept_bytes(attachment) if attachment.mime_type in RASTER_TYPES else None
    yield b'{"output_type": "display_data", "metadata": {}, "data": {"text/plain": ' + json_bytes(words)
    if data is not None:
        yield b", " + json_bytes(attachment.mime_type) + b': "'
        yield from base64_slices(data)
        yield b'"'
    yield b"}}"
