"""MIME types of files that the Gemini API accepts, and the types that others are sent as. Pure.

The API answers 400 `Unsupported MIME type` to types that it does not know, although it reads all text alike. Source:
ai.google.dev/gemini-api/docs/{image-understanding,document-processing,audio,video-understanding}, and for Vertex AI
docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini (mimeType of Blob and FileData).
"""

from __future__ import annotations

from chat.vocabulary.text_types import is_text

PLAIN = "text/plain"

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
AUDIO = frozenset({"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"})
VIDEO = frozenset(
    f"video/{name}" for name in ("mp4", "mpeg", "mov", "quicktime", "avi", "x-flv", "mpg", "webm", "wmv", "3gpp")
)
DOCUMENTS = frozenset({"application/pdf", PLAIN})
ACCEPTED = IMAGES | AUDIO | VIDEO | DOCUMENTS

TEXT = frozenset({"text/html", "text/css", "text/md", "text/csv", "text/xml", "text/rtf"})
"""Types of text that only the Developer API accepts. Code that the model runs there gets a file of this type."""


def accepted_type(mime_type: str, *, vertexai: bool) -> str:
    """Return the type under which a file is sent; empty for a file that cannot be sent, such as an archive or a GIF."""
    essence = mime_type.split(";")[0].strip().lower()
    if essence in ACCEPTED or (essence in TEXT and not vertexai):
        return essence
    return PLAIN if is_text(essence) else ""
