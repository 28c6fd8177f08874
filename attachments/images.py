"""Decides which files are images. Pure."""

from __future__ import annotations

from typing import Protocol


class _HasWidth(Protocol):
    @property
    def width(self) -> int | None: ...


class MaybeImage:
    """A file with a field or column `width`, which is set only for images that pages show."""

    __slots__ = ()

    @property
    def is_image(self: _HasWidth) -> bool:
        """Return whether pages show the file as an image. They only offer all other files for download."""
        return self.width is not None


def is_image_type(mime_type: str) -> bool:
    """Return whether a MIME type is that of an image, which may be one that pages do not show, such as SVG."""
    return mime_type.startswith("image/")
