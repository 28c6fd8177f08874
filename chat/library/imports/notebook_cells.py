"""Reads the sources, images and outputs of a notebook's cells."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from attachments.validation import PLAIN, RASTER_TYPES
from chat.library.imports.file_checks import UncheckedFile, check_file
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import PARTS_LIMIT, ParsedAttachment
from chat.vocabulary.parts import OUTCOME_FAILED, OUTCOME_OK

LINES_LIMIT = 1_000_000

_ANSI_ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def joined_text(value: JSONValue) -> str:
    """Return a text, which notebooks may write as a list of lines. Null is an empty text."""
    if isinstance(value.value, list):
        return "".join(line.as_text() for line in value.items(LINES_LIMIT))
    return value.as_text_or("")


@dataclass(slots=True)
class CellImages:
    """Reads the images of one cell, and numbers them."""

    count: int
    """Number of images in the notebook before the next one."""
    is_graph: bool = False
    is_upload: bool = False
    """Whether a user attached the images to a question."""

    def read_attachments(self, cell: JSONValue) -> list[ParsedAttachment]:
        """Return the images that are embedded in a Markdown cell. Raises RefusedImport."""
        if not cell.has("attachments"):
            return []
        bundles = cell.get("attachments")
        images = [self.read_bundle(bundles.get(name)) for name in bundles.as_object()]
        return [image for image in images if image is not None]

    def read_bundle(self, bundle: JSONValue) -> ParsedAttachment | None:
        """Return the raster image of a MIME bundle, or `None` if it has none. Raises RefusedImport."""
        mime_type = next((name for name in bundle.as_object() if name in RASTER_TYPES), None)
        if mime_type is None:
            return None
        value = bundle.get(mime_type)
        try:
            data = base64.b64decode("".join(joined_text(value).split()), validate=True)
        except (binascii.Error, ValueError):
            raise value.refusal("there must be base64 here.") from None
        self.count += 1
        key = f"{'graph' if self.is_graph else 'image'}-{self.count}"
        file = UncheckedFile(
            key=key,
            name=f"{key}.{mime_type.removeprefix('image/')}",
            data=data,
            mime_type=mime_type,
            is_graph=self.is_graph,
            is_upload=self.is_upload,
        )
        return check_file(file, value)


@dataclass(slots=True)
class CellResult:
    """What a code cell produced."""

    text: str = ""
    outcome: str = OUTCOME_OK
    images: list[ParsedAttachment] = field(default_factory=list)


def read_outputs(outputs: Iterable[JSONValue], images: CellImages) -> CellResult:
    """Return the text, the outcome and the images of a code cell's outputs. Raises RefusedImport."""
    result = CellResult()
    texts: list[str] = []
    for output in outputs:
        output_type = output.get("output_type").as_text()
        if output_type == "stream":
            texts.append(joined_text(output.get("text")))
        elif output_type == "error":
            result.outcome = OUTCOME_FAILED
            lines = [joined_text(line) for line in output.get("traceback").items(PARTS_LIMIT)]
            texts.append(_ANSI_ESCAPE.sub("", "\n".join(lines)))
        elif output.has("data"):
            image = images.read_bundle(output.get("data"))
            if image is not None:
                result.images.append(image)
            elif output.get("data").has(PLAIN):
                texts.append(joined_text(output.get("data").get(PLAIN)))
    result.text = "".join(texts)
    return result
