"""Runs pandoc and Typst, which make Word and PDF documents from HTML, as processes with limits.

Their input is what models and people wrote. Pandoc's `--sandbox` refuses all files and addresses, and Typst reads only
the folder of one export, which holds its pictures. Both have no environment, no sockets, and limits on memory and time.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from chat.library.exports import limits_program
from chat.library.exports.document_html import PictureFile
from chat.library.exports.export_format import ExportBusy, ExportTooLarge

CONVERSION_LIMIT_S = 60.0
"""Longest run of one program."""
QUEUE_LIMIT_S = 30.0
"""Longest wait for the documents that were asked for before."""
AT_ONCE = 2
DRAWN_SIDE_LIMIT = 1_000
"""Longest side of a picture that is drawn, in CSS pixels. Each has two pixels of the PNG."""
PANDOC_MEMORY_MB = 768
TYPST_MEMORY_BYTES = 1024**3
HEAP_EXHAUSTED = 251
"""Exit status of pandoc. A program that exceeds another limit ends by a signal."""

_slots = threading.BoundedSemaphore(AT_ONCE)


class ConversionFailed(Exception):
    """A program refused the document. The text is what it wrote to stderr."""


@contextmanager
def conversion_slot() -> Iterator[None]:
    """Hold one of the places of this process for conversions. Raises ExportBusy."""
    if not _slots.acquire(timeout=QUEUE_LIMIT_S):
        raise ExportBusy
    try:
        yield
    finally:
        _slots.release()


def convert_html(
    html: str, target: str, metadata: Mapping[str, str], variables: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """Return a document of HTML in a format of pandoc. Raises ConversionFailed and ExportTooLarge.

    `metadata`: fields of the document, as plain text. `variables`: of pandoc's template, in the language of the format.
    """
    spec = find_spec("pypandoc")
    if spec is None or spec.origin is None:
        raise ConversionFailed("pypandoc is not installed")
    return _run(
        *("0", "exec", str(Path(spec.origin).with_name("files") / "pandoc"), "+RTS", f"-M{PANDOC_MEMORY_MB}m", "-RTS"),
        *("--sandbox", "--standalone", "--from=html-auto_identifiers", f"--to={target}", "--output=-"),
        "--shift-heading-level-by=-1",
        *(f"--metadata={name}={value}" for name, value in metadata.items()),
        *(f"--variable={name}={value}" for name, value in variables.items()),
        data=html.encode(),
    )


def compile_typst(source: bytes, pictures: Mapping[str, bytes]) -> bytes:
    """Return the PDF of a Typst document. `pictures`: its files by name. Raises ConversionFailed and ExportTooLarge."""
    with TemporaryDirectory(prefix="plotline-") as folder:
        for name, data in {**pictures, "main.typ": source}.items():
            Path(folder, name).write_bytes(data)
        return _run(str(TYPST_MEMORY_BYTES), "typst", folder=folder)


def draw_pictures(pictures: Mapping[str, PictureFile]) -> list[bytes]:
    """Return pictures of any kind as PNG, by Typst. Raises ConversionFailed and ExportTooLarge."""
    if not pictures:
        return []
    source = ["#set page(width: auto, height: auto, margin: 0pt)"]
    for name, picture in pictures.items():
        scale = min(1, DRAWN_SIDE_LIMIT / max(picture.width, picture.height, 1))
        size = f", width: {picture.width * scale}pt, height: {picture.height * scale}pt" if picture.width else ""
        source.append(f'#page[#image("{name}"{size})]')
    with TemporaryDirectory(prefix="plotline-") as folder:
        for name, data in {
            **{name: one.data for name, one in pictures.items()},
            "main.typ": "\n".join(source).encode(),
        }.items():
            Path(folder, name).write_bytes(data)
        _run(str(TYPST_MEMORY_BYTES), "typst-png", folder=folder)
        return [Path(folder, f"page-{number}.png").read_bytes() for number in range(1, len(pictures) + 1)]


def _run(memory_bytes: str, *arguments: str, data: bytes = b"", folder: str = "/") -> bytes:
    # -I isolates the interpreter; the empty environment keeps the server's keys from the program.
    command = [sys.executable, "-I", limits_program.__file__, memory_bytes, str(int(CONVERSION_LIMIT_S)), *arguments]
    try:
        completed = subprocess.run(
            command,
            input=data,
            capture_output=True,
            cwd=folder,
            env={"LANG": "C.UTF-8"},
            timeout=CONVERSION_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ExportTooLarge from None
    if completed.returncode < 0 or completed.returncode == HEAP_EXHAUSTED:
        raise ExportTooLarge
    if completed.returncode:
        raise ConversionFailed(completed.stderr.decode(errors="replace")[-2_000:])
    return completed.stdout
