"""Reads the sources, images and outputs of a notebook's cells.

Pieces that cannot be read are left out, and the reason is stored. One broken output must not prevent the import.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from attachments.validation import PLAIN, RASTER_TYPES
from chat.library.imports.file_checks import UncheckedFile, check_file
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import PARTS_LIMIT, ParsedAttachment
from chat.library.imports.refusal import RefusedImport
from chat.page.rendering.displays import interactive_name
from chat.python.kernels.display_files import take_files
from chat.vocabulary.display_bundles import Bundle, bound_bundle
from chat.vocabulary.display_text import informative_text, text_in
from chat.vocabulary.parts import JSON, OUTCOME_FAILED, OUTCOME_OK, Display

LINES_LIMIT = 1_000_000

_ANSI_ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def joined_text(value: JSONValue) -> str:
    """Return a text, which notebooks may write as a list of lines. Null is an empty text, and a number its digits."""
    if isinstance(value.value, list):
        return "".join(_line(line) for line in value.items(LINES_LIMIT))
    return _line(value)


def _line(value: JSONValue) -> str:
    return str(value.value) if isinstance(value.value, int | float) else value.as_text_or_empty()


@dataclass(slots=True)
class LeftOut:
    """The reasons why pieces of a notebook were left out."""

    cell: int = 0
    """The number of the cell that is being read. The first one is 1."""
    reasons: list[tuple[int, str]] = field(default_factory=list)
    """Pairs (number of the cell, reason). The reason begins with the path of the piece."""

    @contextmanager
    def unless_readable(self) -> Iterator[None]:
        """Store a RefusedImport as a reason instead of raising it."""
        try:
            yield
        except RefusedImport as refusal:
            self.reasons.append((self.cell, str(refusal)))


@dataclass(slots=True)
class CellImages:
    """Reads the images of one cell, and numbers them."""

    count: int
    """Number of images in the notebook before the next one."""
    left_out: LeftOut
    is_graph: bool = False
    is_upload: bool = False
    """True if a user attached the images to a question."""

    def read_attachments(self, cell: JSONValue) -> list[ParsedAttachment]:
        """Return the images that are embedded in a Markdown cell."""
        bundles = cell.get("attachments")
        names = bundles.value if isinstance(bundles.value, dict) else {}
        images: list[ParsedAttachment] = []
        for name in names:
            bundle = bundles.get(name)
            with self.left_out.unless_readable():
                image = self._read_image(bundle)
                if image is None:
                    raise bundle.refusal(f"“{name[:100]}” is not a PNG, JPEG, GIF or WebP image.")
                images.append(image)
        return images

    def read_bundle(self, bundle: JSONValue) -> ParsedAttachment | None:
        """Return the raster image of a MIME bundle, or `None` if it has none that can be read."""
        with self.left_out.unless_readable():
            return self._read_image(bundle)
        return None

    def _read_image(self, bundle: JSONValue) -> ParsedAttachment | None:
        types = sorted(
            (name for name in bundle.as_object() if name in RASTER_TYPES), key=lambda name: not bundle.get(name).value
        )
        if not types:
            return None
        mime_type = types[0]
        value = bundle.get(mime_type)
        # Some tools write a data URI, and some omit the padding.
        text = "".join(joined_text(value).split()).rpartition(";base64,")[2].rstrip("=")
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise value.refusal("there must be base64 here.") from None
        if not data:
            raise value.refusal("the image is empty.")
        return self._check(mime_type, data, value)

    def take_embedded(self, texts: Bundle, value: JSONValue) -> tuple[Bundle, list[ParsedAttachment]]:
        """Return the Markdown and HTML of a bundle without the files in their `data:` URIs, and these files."""
        rest, files = take_files(texts)
        taken: list[ParsedAttachment] = []
        for file in files:
            with self.left_out.unless_readable():
                taken.append(self._check(file.mime_type, file.data, value))
        known = {name: form if isinstance(form, str) else texts[name] for name, form in rest.items() if name in texts}
        return known, taken

    def _check(self, mime_type: str, data: bytes, value: JSONValue) -> ParsedAttachment:
        key = f"{'graph' if self.is_graph else 'image'}-{self.count + 1}"
        file = UncheckedFile(
            key=key,
            name=f"{key}.{mime_type.rpartition('/')[2]}",
            data=data,
            mime_type=mime_type,
            is_graph=self.is_graph and mime_type in RASTER_TYPES,
            is_upload=self.is_upload,
        )
        image = check_file(file, value)
        self.count += 1
        return image


@dataclass(slots=True)
class CellResult:
    """The outputs of a code cell."""

    texts: list[str] = field(default_factory=list)
    outcome: str = OUTCOME_OK
    displays: list[Display] = field(default_factory=list)
    """Rich outputs, which contain more than plain text."""
    images: list[ParsedAttachment] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text that the code printed, the plain texts of its outputs, and its error."""
        return "".join(self.texts)

    def add(self, output: JSONValue, images: CellImages) -> None:
        """Add an output. Raises RefusedImport if it is invalid."""
        output_type = output.get("output_type").as_text_or_empty()
        if output_type == "stream":
            self.texts.append(joined_text(output.get("text")))
        elif output_type == "error":
            self.outcome = OUTCOME_FAILED
            is_new_line = not self.texts or self.texts[-1].endswith("\n")
            self.texts.append(("" if is_new_line else "\n") + _error_text(output))
        elif output.has("data"):
            self._add_bundle(output.get("data"), images)
        else:
            raise output.get("output_type").refusal(f"“{output_type[:40]}” is no kind of output that can be read.")

    def _add_bundle(self, data: JSONValue, images: CellImages) -> None:
        image = images.read_bundle(data)
        if image is not None:
            self.images.append(image)
            return
        bundle, files = images.take_embedded(_read_texts(data), data)
        self.images += files
        if bundle.keys() <= {PLAIN} or (informative_text(bundle) and not interactive_name(bundle)):
            self.texts.append(text_in(bundle, PLAIN))
            return
        stored, _ = bound_bundle(bundle)
        if not stored:
            raise data.refusal("the output is too large.")
        self.displays.append(Display(stored))


def read_outputs(outputs: Iterable[JSONValue], images: CellImages) -> CellResult:
    """Return the text, the outcome, the rich outputs and the images of a code cell's outputs."""
    result = CellResult()
    for output in outputs:
        with images.left_out.unless_readable():
            result.add(output, images)
    return result


def _error_text(output: JSONValue) -> str:
    """Return the traceback of an error, or its name and value if tools removed the traceback."""
    traceback = output.get("traceback")
    if isinstance(traceback.value, list):
        text = "\n".join(joined_text(line) for line in traceback.items(PARTS_LIMIT))
    else:
        text = joined_text(traceback)
    if not text.strip():
        name, value = joined_text(output.get("ename")), joined_text(output.get("evalue"))
        text = ": ".join(word for word in (name, value) if word) or "Error"
    return _ANSI_ESCAPE.sub("", text)


def _read_texts(data: JSONValue) -> Bundle:
    """Return a MIME bundle without its raster images. Its texts may be lists of lines."""
    bundle: dict[str, JSON] = {}
    for mime_type, value in data.as_object().items():
        if mime_type in RASTER_TYPES or value is None:
            continue
        is_json = mime_type.endswith("json")
        bundle[mime_type] = value if is_json else joined_text(data.get(mime_type))
    return bundle
