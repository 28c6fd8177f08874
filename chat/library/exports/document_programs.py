"""Runs pandoc and Typst, which make Word and PDF documents from HTML, as processes with limits.

Their input is what models and people wrote. Pandoc's `--sandbox` refuses all files and addresses, and Typst reads only
the folder of one export, which holds its pictures. Both programs have an empty environment, no sockets, and limits on
memory and time. They are ended if the client of the export disconnects.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import IO

from chat.library.exports.document_html import PICTURES_LIMIT_BYTES, PictureFile
from chat.library.exports.export_format import ExportTooLarge, ExportUnavailable
from chat.page.render_queue import check_reader

PROGRAM = Path(__file__).with_name("program_with_limits.py")
"""The program is started, not imported, because Typst would take 6 MB of the server's memory."""
CONVERSION_LIMIT_S = 60.0
"""Maximum run time of one program."""
CHECK_INTERVAL_S = 0.25
"""Time between two checks whether the client is still connected."""
DRAWN_SIDE_LIMIT = 1_000
"""Maximum side length of a picture that is drawn, in CSS pixels."""
DRAWN_SCALE = 2
"""Pixels of the drawn PNG for each CSS pixel."""
PANDOC_MEMORY_MB = 768
TYPST_MEMORY_BYTES = 1024**3
HEAP_EXHAUSTED = 251
"""Exit status of pandoc if its heap is exhausted. A program that exceeds another limit is ended by a signal."""
LOGGED_CHARS = 200
"""Maximum number of characters of a program's stderr that are logged. They may quote the document."""


class ConversionFailed(Exception):
    """A program refused the document. The text is the end of the program's stderr."""


def find_pandoc() -> str:
    """Return the path of pandoc. Raises ExportUnavailable unless pandoc and Typst are installed."""
    spec = find_spec("pypandoc")
    path = Path(spec.origin).with_name("files") / "pandoc" if spec and spec.origin else None
    if path is None or not path.is_file() or find_spec("typst") is None:
        raise ExportUnavailable
    return str(path)


def convert_html(html: bytes, target: str, *options: str) -> IO[bytes]:
    """Return a document of HTML in a format of pandoc, as a file without a name.

    Raises ConversionFailed if pandoc refuses it, ExportTooLarge at a limit, ExportUnavailable without the programs.
    """
    return _run(
        *("0", "exec", find_pandoc(), "+RTS", f"-M{PANDOC_MEMORY_MB}m", "-RTS", "--quiet"),
        *("--sandbox", "--standalone", "--from=html-auto_identifiers", f"--to={target}", "--output=-"),
        *("--shift-heading-level-by=-1", *options),
        data=html,
    )


def compile_typst(source: bytes, pictures: Mapping[str, bytes]) -> IO[bytes]:
    """Return the PDF of a Typst document, as a file without a name. `pictures`: its files by name.

    Raises ConversionFailed if Typst refuses it, and ExportTooLarge at a limit.
    """
    with _folder_with({**pictures, "main.typ": source}) as folder:
        return _run(str(TYPST_MEMORY_BYTES), "typst", folder=folder)


def draw_pictures(pictures: Mapping[str, PictureFile]) -> list[bytes]:
    """Return pictures of any kind as PNG, which Typst draws. Raises the errors of `compile_typst`."""
    if not pictures:
        return []
    source = ["#set page(width: auto, height: auto, margin: 0pt)"]
    for name, picture in pictures.items():
        scale = min(1, DRAWN_SIDE_LIMIT / max(picture.width, picture.height, 1))
        size = f", width: {picture.width * scale}pt, height: {picture.height * scale}pt" if picture.width else ""
        source.append(f'#page[#image("{name}"{size})]')
    files = {name: one.data for name, one in pictures.items()}
    with _folder_with({**files, "main.typ": "\n".join(source).encode()}) as folder:
        _run(str(TYPST_MEMORY_BYTES), "typst-png", folder=folder).close()
        drawn = [Path(folder, f"page-{number}.png") for number in range(1, len(pictures) + 1)]
        if sum(path.stat().st_size for path in drawn) > PICTURES_LIMIT_BYTES:
            raise ExportTooLarge
        return [path.read_bytes() for path in drawn]


@contextmanager
def _folder_with(files: Mapping[str, bytes]) -> Iterator[str]:
    with TemporaryDirectory(prefix="plotline-document-") as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        yield folder


def _run(memory_bytes: str, *arguments: str, data: bytes = b"", folder: str = "/") -> IO[bytes]:
    # -I isolates the interpreter; the empty environment keeps the server's keys from the program.
    command = [sys.executable, "-I", str(PROGRAM), memory_bytes, str(int(CONVERSION_LIMIT_S)), *arguments]
    with ExitStack() as on_errors:
        # The output is a file, because the limit on file sizes does not apply to a pipe.
        output = on_errors.enter_context(TemporaryFile())
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"LANG": "C.UTF-8"},
        )
        with process:
            try:
                errors = _wait(process, data)
            finally:
                process.kill()
        if process.returncode < 0 or process.returncode == HEAP_EXHAUSTED:
            raise ExportTooLarge
        if process.returncode:
            raise ConversionFailed(errors.decode(errors="replace").strip()[-LOGGED_CHARS:])
        output.seek(0)
        on_errors.pop_all()
        return output


def _wait(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    """Send its input to a program, and return its stderr.

    Raises ExportTooLarge after the time limit, and ReaderLeft if the client has disconnected.
    """
    give_up_at, unsent = monotonic() + CONVERSION_LIMIT_S, data or None
    while monotonic() < give_up_at:
        try:
            return process.communicate(unsent, timeout=CHECK_INTERVAL_S)[1]
        except subprocess.TimeoutExpired:
            # After a timeout, `communicate` continues with the rest of the first input.
            unsent = None
            check_reader()
    raise ExportTooLarge
