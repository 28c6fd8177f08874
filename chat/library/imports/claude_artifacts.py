"""Reads the artifacts and files that Claude writes, and shows each version of them as Markdown. Pure.

Exports of 2024 have artifacts as tags in the text, later ones as calls of the tool `artifacts`, and those since the end
of 2025 also files that the tools `create_file` and `str_replace` write. A change that cannot be applied is shown as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from django.utils.translation import gettext

from chat.library.imports.chatgpt_canvas import DOCUMENT_LIMIT_CHARS, TITLE_LIMIT_CHARS, Document
from chat.vocabulary.markdown_source import escape_label, fence_code
from chat.vocabulary.parts import JSON, JSONObject, Thought

ARTIFACT_TOOLS = ("artifacts", "create_file", "str_replace")
DOCUMENTS_LIMIT = 100
"""Maximum number of artifacts on one path. Later ones are shown, but changes are not applied to them."""
TAGS_LIMIT = 1_000

_KINDS = {
    "text/markdown": "document",
    "text/html": "code/html",
    "image/svg+xml": "code/svg",
    "application/vnd.ant.mermaid": "code/mermaid",
    "application/vnd.ant.react": "code/jsx",
}
_TAG = re.compile(r'<ant(Artifact|Thinking)\b((?>[^<>"]{1,300}|"[^"]{0,300}"){0,20})>')
_ATTRIBUTE = re.compile(r'\b(type|language|title)="([^"]{0,300})"')
_SUFFIX = re.compile(r"\.([A-Za-z0-9]{1,10})\Z")


def read_artifact(
    tool: str, call: JSONObject, documents: Mapping[str, Document]
) -> tuple[dict[str, Document], str] | None:
    """Return the documents after a call and what it did as Markdown; `None` for a call that is not understood."""
    key = call.get("id" if tool == "artifacts" else "path")
    if not isinstance(key, str):
        return None
    known = documents.get(key)
    content = call.get("file_text" if tool == "create_file" else "content")
    if tool == "str_replace" or call.get("command") == "update":
        read = _change(call, known)
        if read is None:
            return None
        document, shown = read
    elif isinstance(content, str) and len(content) <= DOCUMENT_LIMIT_CHARS:
        document = _create(tool, key, call, content, known)
        shown = document.markdown(content)
    else:
        return None
    changed = dict(documents)
    changed.pop(key, None)
    if document is not None and len(changed) < DOCUMENTS_LIMIT:
        changed[key] = document
    return changed, shown


def _create(tool: str, key: str, call: JSONObject, content: str, known: Document | None) -> Document:
    if tool == "create_file":
        name = key.rpartition("/")[2]
        suffix = _SUFFIX.search(name)
        is_text = suffix is None or suffix[1].lower() in ("md", "txt")
        title, kind = name, "document" if is_text or suffix is None else f"code/{suffix[1].lower()}"
    else:
        title = _text(call, "title") or (known.title if known else "")
        kind = _kind(_text(call, "type"), _text(call, "language")) if call.get("type") or not known else known.kind
    shown_title = " ".join(title.split())[:TITLE_LIMIT_CHARS] or gettext("Untitled")
    return Document(shown_title, kind, content, version=known.version + 1 if known else 1)


def _kind(mime_type: str, language: str) -> str:
    return _KINDS.get(mime_type) or (f"code/{language}" if language or "code" in mime_type else "document")


def _change(call: JSONObject, known: Document | None) -> tuple[Document | None, str] | None:
    """Return the changed document, and its new text; or the change itself if it cannot be applied."""
    old, new = call.get("old_str"), call.get("new_str", "")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if known is not None and known.content is not None and old and old in known.content:
        content = known.content.replace(old, new, 1)
        if len(content) <= DOCUMENT_LIMIT_CHARS:
            document = replace(known, content=content, version=known.version + 1)
            return document, document.markdown(content)
    title = known.title if known else (_text(call, "path").rpartition("/")[2] or gettext("Untitled"))
    heading = gettext("Change of the document “%(title)s”") % {"title": escape_label(title[:TITLE_LIMIT_CHARS])}
    shown = f"**{heading}**\n\n{fence_code(old, 'text')}\n\n→\n\n{fence_code(new, 'text')}"
    return replace(known, content=None, version=known.version + 1) if known else None, shown


def split_artifacts(text: str) -> Iterator[str | Document | Thought]:
    """Yield the text of an answer in pieces: artifacts and thoughts in tags, and what is around them."""
    start = 0
    for number, tag in enumerate(_TAG.finditer(text)):
        if number >= TAGS_LIMIT:
            break
        if tag.start() < start:
            continue
        end = text.find(closing := f"</ant{tag[1]}>", tag.end())
        if end < 0 and not tag[2].strip():
            break
        if end < 0:
            # The answer was stopped before the end tag.
            end = len(text)
        yield text[start : tag.start()]
        content = text[tag.end() : end].strip("\n")
        if tag[1] == "Thinking":
            yield Thought(content)
        else:
            names: dict[str, JSON] = dict(_ATTRIBUTE.findall(tag[2]))
            yield Document(
                _text(names, "title") or gettext("Untitled"),
                _kind(_text(names, "type"), _text(names, "language")),
                content[:DOCUMENT_LIMIT_CHARS],
            )
        start = end + len(closing)
    yield text[start:]


def _text(values: Mapping[str, JSON], name: str) -> str:
    text = values.get(name)
    return text if isinstance(text, str) else ""
