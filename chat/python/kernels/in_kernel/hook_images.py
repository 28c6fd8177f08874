"""Runs inside a kernel: displays the images that a cell saved to files, after the cell."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
from pathlib import Path
from types import ModuleType

from IPython.display import display

from chat.python.kernels.in_kernel.file_walk import written_entries
from chat.python.kernels.in_kernel.hook_figures import TITLE_KEY, CellFigures
from chat.python.kernels.in_kernel.import_watch import when_imported

_IMAGE_TYPES = {f".{kind}": f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp")} | {".jpg": "image/jpeg"}
_IMAGE_LIMIT_BYTES = 10 * 1024 * 1024
_IMAGES_LIMIT_COUNT = 32


class SavedImages:
    """Displays image files that cells save, and remembers those of earlier cells."""

    def __init__(self, figures: CellFigures) -> None:
        """Start without known files, because the folders of a new kernel are empty."""
        self._figures = figures
        self._known_times: dict[str, int] = {}
        when_imported("PIL.ImageShow", _display_pillow_images)
        # Search the folder of temporary files only in the sandbox, where it belongs to this kernel alone.
        self._folders = [os.getcwd(), *([tempfile.gettempdir()] if "PLOTLINE_KERNEL" in os.environ else [])]

    def show(self) -> None:
        """Display the images that are new or changed and whose figure the cell has not displayed."""
        times = self._image_files()
        new_paths = [path for path, time in times.items() if self._known_times.get(path) != time]
        self._known_times.update(times)
        for path in sorted(new_paths, key=lambda path: times[path])[:_IMAGES_LIMIT_COUNT]:
            is_new_graph, title = self._figures.saved(path)
            # Reading fails if the code has opened too many files, or if another process has just removed the image.
            with contextlib.suppress(OSError):
                # Another process may still write the image.
                if is_new_graph and 0 < len(data := _read_bounded(path)) <= _IMAGE_LIMIT_BYTES:
                    metadata = {"saved": True} if title is None else {"saved": True, TITLE_KEY: title}
                    display(_image_bundle(path, data), metadata=metadata, raw=True)

    def _image_files(self) -> dict[str, int]:
        """Return the paths of image files in the writable folders, with their modification times in nanoseconds.

        Empty files and those that are too large are left out.
        """
        return {
            os.path.join(folder, name): status.st_mtime_ns
            for folder in self._folders
            for name, status in written_entries(folder)
            if Path(name).suffix.lower() in _IMAGE_TYPES and 0 < status.st_size <= _IMAGE_LIMIT_BYTES
        }


def _display_pillow_images(module: ModuleType) -> None:
    """Make Pillow's `Image.show` display the image, because no program can open a window here."""
    module.register(module.IPythonViewer(), 0)


def _read_bounded(path: str) -> bytes:
    """Return the bytes of a file; of one that is too large, one byte more than the limit."""
    with Path(path).open("rb") as file:
        return file.read(_IMAGE_LIMIT_BYTES + 1)


def _image_bundle(path: str, data: bytes) -> dict[str, str]:
    """Return the bytes of an image file as a MIME bundle for `display`."""
    return {_IMAGE_TYPES[Path(path).suffix.lower()]: base64.b64encode(data).decode()}
