"""Recognition of images by MIME type and by size in pixels."""

from __future__ import annotations

import pytest

from attachments.images import is_image_type
from attachments.models import Attachment
from chat.page.attachment_views import AttachmentView
from chat.page.readers import OWNER


@pytest.mark.parametrize(
    ("mime_type", "expected"),
    [("image/png", True), ("image/svg+xml", True), ("application/pdf", False), ("text/image/png", False), ("", False)],
)
def test_only_mime_types_that_begin_with_image_are_image_types(mime_type: str, expected: bool) -> None:
    assert is_image_type(mime_type) is expected


@pytest.mark.parametrize(("width", "expected"), [(3, True), (None, False)])
def test_only_files_with_a_size_in_pixels_are_shown_as_images(width: int | None, expected: bool) -> None:
    row = Attachment(width=width)
    view = AttachmentView(
        0, row.pk, "", "a.png", "image/png", 1, width=width, height=width, is_graph=False, reader=OWNER
    )
    assert (row.is_image, view.is_image) == (expected, expected)
