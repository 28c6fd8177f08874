"""Runs inside a kernel: shows matplotlib figures as graphs, whatever backend the code chooses, and compares them.

Each display of a figure gets its title as metadata. A figure that is saved to a file is compared with those that were
displayed, by what it contains: files of other sizes and resolutions differ in all their bytes.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import wraps
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING

from IPython.display import display

from chat.python.kernels.in_kernel.import_watch import when_imported

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

INLINE_BACKEND = "module://matplotlib_inline.backend_inline"
TITLE_KEY = "plotline_title"
"""The key of a figure's title in the metadata of a display."""
_TITLE_LIMIT_CHARS = 200
_VALUES_LIMIT = 100_000
"""Maximum number of texts and data values of one figure that are compared."""
_FILES_LIMIT = 5_000
_DESCRIPTIONS = (
    *("get_text", "get_xlim", "get_ylim", "get_zlim", "get_xydata", "get_offsets", "get_array"),
    *("get_facecolor", "get_color", "get_alpha", "get_linestyle", "get_linewidth", "get_marker", "get_cmap"),
    *("get_clim", "get_xscale", "get_yscale"),
)
"""Methods of matplotlib's artists whose results do not depend on the resolution."""


class CellFigures:
    """The figures that the present cell has displayed and saved."""

    def __init__(self, shell: InteractiveShell) -> None:
        """Add the hooks to IPython, and to matplotlib as soon as it is imported."""
        self._shown: set[int] = set()
        self._saved: dict[str, tuple[int, str, bool]] = {}
        os.environ.setdefault("MPLBACKEND", INLINE_BACKEND)
        enable, describe = shell.enable_matplotlib, shell.display_formatter.format

        def describe_figure(value: object, *arguments: object, **options: object) -> tuple[dict[str, object], ...]:
            forms, metadata = describe(value, *arguments, **options)
            module = sys.modules.get("matplotlib.figure")
            if module is not None and isinstance(value, module.Figure):
                self._shown.add(_content(value))
                metadata = {**metadata, TITLE_KEY: _title(value)}
            return forms, metadata

        # `%matplotlib notebook`, `widget`, `qt` and others need a window or scripts in the page.
        shell.enable_matplotlib = lambda gui=None: enable("inline")
        shell.display_formatter.format = describe_figure
        when_imported("matplotlib.rcsetup", _choose_inline)
        when_imported("matplotlib.pyplot", _switch_to_inline)
        when_imported("matplotlib.figure", self._watch_figures)

    def forget(self) -> None:
        """Forget the figures of earlier cells."""
        self._shown.clear()
        self._saved.clear()

    def saved(self, path: str) -> tuple[bool, str | None]:
        """Return whether the image in this file should be displayed, and the title of the figure saved to it."""
        content, title, is_empty = self._saved.get(os.path.realpath(path), (0, None, False))
        return not (is_empty or content in self._shown), title

    def _watch_figures(self, module: ModuleType) -> None:
        save = module.Figure.savefig

        # pyplot copies the signature of this method, so it must be kept.
        @wraps(save)
        def savefig(figure: Figure, fname: object, *arguments: object, **options: object) -> object:
            result = save(figure, fname, *arguments, **options)
            if isinstance(fname, str | os.PathLike):
                self._note_saved(figure, os.fspath(fname))
            return result

        # Without a window, matplotlib's own method warns and shows nothing.
        @wraps(module.Figure.show)
        def show(figure: Figure, warn: bool = True) -> None:
            display(figure)

        module.Figure.savefig, module.Figure.show = savefig, show

    def _note_saved(self, figure: Figure, path: str | bytes) -> None:
        name = os.path.realpath(os.fsdecode(path))
        if not os.path.splitext(name)[1]:
            name += ".png"
        is_empty = not any(child is not figure.patch for child in figure.get_children())
        if len(self._saved) < _FILES_LIMIT:
            self._saved[name] = _content(figure), _title(figure), is_empty


def _choose_inline(rcsetup: ModuleType) -> None:
    """Make every backend chosen in matplotlib's settings the inline one, also after `matplotlib.use("Agg")`."""
    validate = rcsetup.validate_backend

    def validate_backend(name: object) -> object:
        return INLINE_BACKEND if isinstance(name, str) else validate(name)

    vars(rcsetup)["validate_backend"] = rcsetup._validators["backend"] = validate_backend


def _switch_to_inline(pyplot: ModuleType) -> None:
    switch = pyplot.switch_backend
    vars(pyplot)["switch_backend"] = lambda newbackend: switch(INLINE_BACKEND)


def _title(figure: Figure) -> str:
    """Return the title of a figure, or else those of its axes."""
    # The code in a cell may have replaced any of these methods by one that fails.
    with contextlib.suppress(Exception):
        main = figure.get_suptitle()
        axes = dict.fromkeys(one.get_title(place) for one in figure.axes for place in ("center", "left", "right"))
        return (main or ", ".join(filter(None, axes)))[:_TITLE_LIMIT_CHARS]
    return ""


def _content(figure: Figure) -> int:
    """Return a number that differs between figures that show different things, whatever their resolution."""
    with contextlib.suppress(Exception):
        values = tuple(islice(_describe_artists(figure), _VALUES_LIMIT))
        if len(values) < _VALUES_LIMIT:
            return hash(values)
    # A unique number, so that the figure counts as new and is shown.
    return hash(object())


def _describe_artists(artist: Artist) -> Iterator[object]:
    """Yield the texts and data of an artist and of all artists in it, without positions on the screen."""
    name = type(artist).__name__
    yield name
    yield from (_value(artist, method) for method in _DESCRIPTIONS)
    if name == "Legend":
        yield from (_value(text, "get_text") for text in getattr(artist, "get_texts", tuple)())
    transform, path = getattr(artist, "get_patch_transform", None), getattr(artist, "get_path", None)
    if transform is not None and path is not None:
        yield transform().transform_path(path()).vertices.tobytes()
    if hasattr(artist, "get_paths"):
        yield from (path.vertices.tobytes() for path in artist.get_paths())
    if name.endswith("Axis"):
        yield _value(getattr(artist, "label", artist), "get_text")
    elif hasattr(artist, "get_xaxis") or hasattr(artist, "get_suptitle"):
        for child in artist.get_children():
            yield from _describe_artists(child)


def _value(artist: Artist, method: str) -> object:
    """Return what a method of an artist returns, as a text or bytes; `None` if it has no such method."""
    call = getattr(artist, method, None)
    value: object = call() if call is not None else None
    # Use the name of a colour map, because its text has a memory address, which differs each time.
    value = getattr(value, "name", value)
    as_bytes = getattr(value, "tobytes", None)
    return str(value) if as_bytes is None else as_bytes()
