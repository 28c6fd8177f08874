"""Which types of files the Gemini API takes, and as what all others are sent; pure.

It answers 400 `Unsupported MIME type` to what it does not know, though nearly all text is the same to it. Source:
ai.google.dev/gemini-api/docs/{image-understanding,document-processing,audio,video-understanding}, and for Vertex AI
docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini (mimeType of Blob and FileData).
"""

from __future__ import annotations

PLAIN = "text/plain"

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
SOUND = frozenset({"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"})
FILMS = frozenset(
    f"video/{name}" for name in ("mp4", "mpeg", "mov", "quicktime", "avi", "x-flv", "mpg", "webm", "wmv", "3gpp")
)
DOCUMENTS = frozenset({"application/pdf", PLAIN})
TAKEN = IMAGES | SOUND | FILMS | DOCUMENTS

#: Text that the Developer API tells from plain text. Code that runs there finds it in a file of that type.
TEXTS = frozenset({"text/html", "text/css", "text/md", "text/csv", "text/xml", "text/rtf"})

#: Text that does not call itself `text/...`.
TEXTS_BY_OTHER_NAMES = frozenset(
    f"application/{prefix}{name}"
    for prefix in ("", "x-")
    for name in (
        *("json", "ndjson", "jsonlines", "ipynb+json", "javascript", "ecmascript", "typescript", "python"),
        *("python-code", "yaml", "toml", "xml", "sql", "sh", "shellscript", "latex", "tex", "r", "httpd-php", "rtf"),
    )
)


def accepted_type(mime_type: str, *, vertexai: bool) -> str:
    """The type to send a file of this type as; empty for what cannot be sent: archives, and images such as GIF."""
    essence = mime_type.split(";")[0].strip().lower()
    if essence in TAKEN or (essence in TEXTS and not vertexai):
        return essence
    is_text = essence.startswith("text/") or essence in TEXTS_BY_OTHER_NAMES or essence.endswith(("+json", "+yaml"))
    return PLAIN if is_text else ""
