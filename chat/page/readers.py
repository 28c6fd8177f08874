"""Who reads a message: what this reader sees and may do. Views of messages are made for a reader, and templates ask it.

| reader | its files | acts | scripts | service | costs |
|---|---|---|---|---|---|
| owner | their own addresses | yes | yes | yes | yes |
| staff, on the review page | addresses of the review | no | yes | yes | yes |
| guest, with a share link | addresses below the link | no | no | no | no |
| export as a web page | in the page | no | no | yes | no |
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from django.urls import reverse

FileUrl: TypeAlias = Callable[[uuid.UUID], str]
"""Returns the URL of an attachment by its id."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What one kind of reader sees and may do. A new field must be off by default, because anybody may be a guest."""

    file_url: FileUrl
    may_act: bool = False
    """Whether the reader owns the conversation: asks, rates, decides, runs code, and uses the session's files."""
    has_scripts: bool = False
    """Whether the page has the scripts that copy code, and that sort, unfold and save tables."""
    sees_service: bool = False
    """Whether the reader sees which provider and endpoint answered."""
    sees_costs: bool = False
    """Whether the reader sees tokens, costs, the settings of the model, and why code was offered."""
    embeds_files: bool = False
    """Whether `file_url` stands for the bytes of a file. The page then contains it once for each file."""


OWNER = Reader(
    lambda attachment_id: reverse("attachment-content", args=[attachment_id]),
    may_act=True,
    has_scripts=True,
    sees_service=True,
    sees_costs=True,
)


def staff_reader(file_url: FileUrl) -> Reader:
    """Return a reader of the staff, who sees the messages as their owner does and changes nothing."""
    return Reader(file_url, has_scripts=True, sees_service=True, sees_costs=True)


def guest_reader(file_url: FileUrl) -> Reader:
    """Return a reader who has nothing but a link."""
    return Reader(file_url)


def export_reader(file_url: FileUrl) -> Reader:
    """Return the reader of an exported page, to whom the owner may send it."""
    return Reader(file_url, sees_service=True, embeds_files=True)
