"""Describes a file that is new in an answer. Pure."""

from __future__ import annotations

import hashlib
import mimetypes

from attachments.images import is_image_type
from attachments.validation import BINARY, ImageInfo, UnreadableImage, inspect_image, safe_mime_type, safe_name
from chat.messages.changes import AnswerAttachment


def describe_attachment(
    data: bytes, mime_type: str, name: str, *, index: int, part_index: int, attachment_id: str, is_graph: bool
) -> AnswerAttachment:
    """Return the attachment with these bytes. `is_graph`: whether code drew it, if it is an image.

    `mime_type` and `name` come from the provider or the tool, and are not trusted.
    """
    try:
        image: ImageInfo | None = inspect_image(data)
    except UnreadableImage:
        image = None
    if image:
        mime_type = image.mime_type
    elif is_image_type(mime_type):
        # The image is broken, so it is stored as a file to download. A browser could not show it.
        mime_type = BINARY
    is_graph = image is not None and is_graph
    kind = "graph" if is_graph else "image" if image else "file"
    # Python's table lacks the registered type of WAV, which IPython uses.
    extension = ".wav" if mime_type == "audio/wav" else mimetypes.guess_extension(mime_type) or ".bin"
    default_name = f"{kind}-{index + 1}{extension}"
    return AnswerAttachment(
        index=index,
        part_index=part_index,
        attachment_id=attachment_id,
        name=safe_name(name or default_name, default_name),
        mime_type=safe_mime_type(mime_type),
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        width=image.width if image else None,
        height=image.height if image else None,
        is_graph=is_graph,
        data=data,
        scale=image.scale if image and is_graph else 1,
    )
