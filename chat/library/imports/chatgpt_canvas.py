"""Reads the documents that ChatGPT writes in a canvas, and shows each version of them as Markdown. Pure.

Calls of the tool `canmore` create a document, change it, or comment on it. A change names the text that it replaces by
a regular expression. No expression is ever run, because a file could contain one that never ends. Only text, `.*`, and
text around `.*` are supported. Any other change is shown as it is.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from django.utils.translation import gettext

from chat.library.imports.json_paths import objects_in
from chat.vocabulary.markdown_source import escape_label, fence_code
from chat.vocabulary.parts import JSON, JSONObject
from chat.vocabulary.sanitize import sanitize_json

DOCUMENT_LIMIT_CHARS = 2_000_000
CHANGES_LIMIT = 200
"""Maximum number of changes or comments of one call."""
GAPS_LIMIT = 10
CALL_LIMIT_CHARS = 2 * DOCUMENT_LIMIT_CHARS
TITLE_LIMIT_CHARS = 200
RECIPIENT = "canmore."

_ANYTHING = re.compile(r"\(?(?:\[\\s\\S\]|\.)[*+]\??\)?")
"""The part of a pattern that matches any text."""
_GROUP = re.compile(r"\\\d")
_ESCAPED = re.compile(r"\\([^a-zA-Z0-9])")
_FLAGS = re.compile(r"\A\(\?[a-z]{1,6}\)")


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a document."""

    title: str
    kind: str
    """`document`, or `code/` and the name of a language."""
    content: str | None
    """`None`: the content is not known, because a change could not be applied."""
    version: int = 1

    def markdown(self, content: str) -> str:
        """Return the heading and the content of this version."""
        if self.version == 1:
            heading = gettext("Document “%(title)s”") % {"title": escape_label(self.title)}
        else:
            values = {"title": escape_label(self.title), "number": self.version}
            heading = gettext("Document “%(title)s”, version %(number)s") % values
        kind, _, language = self.kind.partition("/")
        is_code = kind == "code"
        info = "".join(char for char in language[:30] if char.isalnum() or char in "+#-")
        return f"**{heading}**\n\n{fence_code(content, info) if is_code else content.strip()}"


def read_call(
    recipient: str, text: str, document: Document | None, title: str = ""
) -> tuple[Document | None, str] | None:
    """Return the document after a call, and what the call did as Markdown; `None` for a call that is not understood.

    `document`: the one before the call. `title`: the one in the tool's answer; empty if that has none.
    """
    if len(text) > CALL_LIMIT_CHARS:
        return None
    value = _load(text)
    if not isinstance(value, dict):
        return None
    match recipient.removeprefix(RECIPIENT):
        case "create_textdoc":
            return _create(value, title)
        case "update_textdoc":
            return _update(value, document)
        case "comment_textdoc":
            return document, _comments(value, document)
    return None


def _load(text: str) -> JSON:
    """Return the values of a call; null if it is no JSON. The end of a call that was stopped is completed."""
    for end in ("", '"}', "}"):
        with suppress(ValueError, RecursionError):
            return sanitize_json(json.loads(text.rstrip("\\") + end if end else text, strict=False))
    return None


def _create(value: JSONObject, title: str) -> tuple[Document, str] | None:
    content, kind, name = value.get("content"), value.get("type"), value.get("name")
    if not isinstance(content, str) or len(content) > DOCUMENT_LIMIT_CHARS:
        return None
    named = title or (name.replace("_", " ") if isinstance(name, str) else "") or gettext("Untitled")
    document = Document(" ".join(named.split())[:TITLE_LIMIT_CHARS], kind if isinstance(kind, str) else "", content)
    return document, document.markdown(content)


def _update(value: JSONObject, document: Document | None) -> tuple[Document | None, str] | None:
    changes = list(islice(objects_in(value.get("updates")), CHANGES_LIMIT))
    if not changes:
        return None
    if document is None:
        return None, _changes(changes, None)
    content = document.content
    for change in changes:
        content = _apply(content, change)
    changed = replace(document, content=content, version=document.version + 1)
    if content is None:
        return changed, _changes(changes, document)
    return changed, changed.markdown(content)


def _apply(content: str | None, change: JSONObject) -> str | None:
    """Return the content after one change; `None` if its pattern is not supported, or does not match."""
    pattern, replacement = change.get("pattern"), change.get("replacement")
    if not isinstance(pattern, str) or not isinstance(replacement, str) or not pattern:
        return None
    if _GROUP.search(replacement):
        # The replacement refers to a group of the pattern, but the pattern is not run.
        return None
    pattern = _FLAGS.sub("", pattern)
    if _ANYTHING.fullmatch(pattern.removeprefix("^").removesuffix("$")):
        return replacement if len(replacement) <= DOCUMENT_LIMIT_CHARS else None
    if content is None:
        return None
    for literal in (pattern, _ESCAPED.sub(r"\1", pattern)):
        if literal in content:
            count = content.count(literal) if change.get("multiple") is True else 1
            if len(content) + count * len(replacement) > DOCUMENT_LIMIT_CHARS:
                return None
            return content.replace(literal, replacement, count)
    span = _find_span(content, pattern.removeprefix("^"))
    if span is None or len(content) + len(replacement) > DOCUMENT_LIMIT_CHARS:
        return None
    return f"{content[: span[0]]}{replacement}{content[span[1] :]}"


def _find_span(content: str, pattern: str) -> tuple[int, int] | None:
    """Return the span that a pattern of texts with gaps matches, such as `## Day 1.*?## Day 2`; `None`: no match."""
    texts = [_ESCAPED.sub(r"\1", text) for text in _ANYTHING.split(pattern.removesuffix("$"))]
    gaps = _ANYTHING.findall(pattern)
    if not 2 <= len(texts) <= GAPS_LIMIT:
        return None
    start = content.find(texts[0]) if texts[0] else 0
    end = start + len(texts[0])
    for gap, text in zip(gaps, texts[1:], strict=False):
        if start < 0:
            return None
        is_lazy = gap.rstrip(")").endswith("?") and text
        found = content.find(text, end) if is_lazy else _find_last(content, text, end)
        if found < 0:
            return None
        end = found + len(text)
    return start, end


def _find_last(content: str, text: str, start: int) -> int:
    """Return the position of the last occurrence of a text at or after `start`; -1 if there is none.

    `str.rfind` takes quadratic time for some texts. `str.find` takes linear time, so it searches the reversed text.
    """
    found = content[start:][::-1].find(text[::-1])
    return len(content) - found - len(text) if found >= 0 else -1


def _changes(changes: list[JSONObject], document: Document | None) -> str:
    """Return a readable list of changes that could not be applied."""
    title = document.title if document else gettext("Untitled")
    heading = gettext("Changes to the document “%(title)s”") % {"title": escape_label(title)}
    pieces = [f"**{heading}**"]
    for change in changes:
        pattern, replacement = change.get("pattern"), change.get("replacement")
        old, new = (one if isinstance(one, str) else "" for one in (pattern, replacement))
        pieces += [gettext("Replaced:"), fence_code(old), gettext("by:"), fence_code(new)]
    return "\n\n".join(pieces)


def _comments(value: JSONObject, document: Document | None) -> str:
    title = document.title if document else gettext("Untitled")
    heading = gettext("Comments on the document “%(title)s”") % {"title": escape_label(title)}
    lines = []
    for one in islice(objects_in(value.get("comments")), CHANGES_LIMIT):
        pattern, comment = one.get("pattern"), one.get("comment")
        place = f"“{escape_label(pattern[:TITLE_LIMIT_CHARS])}”: " if isinstance(pattern, str) and pattern else ""
        lines.append(f"- {place}{escape_label(comment) if isinstance(comment, str) else ''}")
    return "\n\n".join([f"**{heading}**", "\n".join(lines)])
