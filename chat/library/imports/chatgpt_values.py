"""Reads values in the messages of ChatGPT's `conversations.json`, also values of an unusual form. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import gettext, gettext_noop

from chat.library.imports.chatgpt_files import find_file_id
from chat.library.imports.json_paths import JSONValue
from chat.vocabulary.markdown_source import escape_label
from chat.vocabulary.parts import JSON

PARTS_LIMIT = 100_000
"""Maximum number of parts and files of one conversation. What several versions of an answer share counts for each."""
FILE_KINDS = {
    "image_asset_pointer": gettext_noop("image"),
    "audio_asset_pointer": gettext_noop("sound"),
    "video_container_asset_pointer": gettext_noop("video"),
}
FILE = gettext_noop("file")
NESTED_POINTERS = ("audio_asset_pointer", "video_container_asset_pointer", "frames_asset_pointers")
KIND_LIMIT_CHARS = 60
_WRITING = re.compile(r":::writing(?:\{([^{}]*)\})?\s*")
"""The line before a text that is meant to be copied, such as a mail. The line `:::` ends the text."""
_SUBJECT = re.compile(r'\bsubject="([^"]+)"')


def attached(value: JSONValue) -> Iterator[tuple[str, str, JSONValue]]:
    """Yield (id, name, place in the document) of each file that a message names."""
    for one in value.items(PARTS_LIMIT) if isinstance(value.value, list) else ():
        if isinstance(one.value, dict):
            yield find_file_id(one.text_at("id")), one.text_at("name")[:255], one


def pointers(piece: JSONValue) -> Iterator[JSONValue]:
    """Yield the pointers to files in a piece. The piece may be a pointer itself."""
    if piece.text_at("content_type") in FILE_KINDS:
        yield piece
        return
    for nested in map(piece.get, NESTED_POINTERS):
        for one in nested.items(PARTS_LIMIT) if isinstance(nested.value, list) else [nested]:
            if isinstance(one.value, dict):
                yield one


def with_type(content: JSONValue) -> tuple[JSONValue, str]:
    """Return the content of a message as an object, and its type. Content without a type is text."""
    value = content.value
    if isinstance(value, dict):
        return content, content.text_at("content_type") or "text"
    return JSONValue({"parts": value if isinstance(value, list) else [value]}, content.path), "text"


def unknown_texts(content: JSONValue) -> Iterator[str]:
    """Yield the texts of content of a kind that is not known."""
    parts = content.as_object().get("parts")
    inner = [one.get("text") if isinstance(one, dict) else one for one in parts] if isinstance(parts, list) else []
    yield from strings([*inner, content.text_at("text")])


def strings(values: JSON) -> Iterator[str]:
    """Yield the texts of a list; no texts for any other value."""
    yield from (value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def unknown_sentence(kind: str) -> str:
    """Return the sentence that replaces content of an unknown kind."""
    name = "".join(char for char in kind[:KIND_LIMIT_CHARS] if char.isalnum() or char in "_-./:") or "?"
    return gettext("(A part of kind `%(kind)s` was not imported.)") % {"kind": name}


def without_writing_marks(text: str) -> str:
    """Return a text without the lines that ChatGPT puts around text that is meant to be copied. A subject stays."""
    if ":::writing" not in text:
        return text
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        if mark := _WRITING.fullmatch(line):
            subject = _SUBJECT.search(mark[1] or "")
            lines += ["", f"**{escape_label(subject[1])}**", ""] if subject else [""]
            is_open = True
        elif is_open and line.strip() == ":::":
            lines.append("")
            is_open = False
        else:
            lines.append(line)
    return "\n".join(lines).strip("\n")
