"""Readers of messages: what each may see and do. Views of messages are made for a reader, and templates ask it.

| reader | its files | acts | scripts | service | costs |
|---|---|---|---|---|---|
| owner | their own addresses | yes | yes | yes | yes |
| staff, on the review page | addresses of the review | no | yes | yes | yes |
| guest, with a share link | addresses below the link | no | no | no | no |
| export as a web page | in the page | no | no | yes | no |
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from django.urls import reverse

FileUrl: TypeAlias = Callable[[uuid.UUID], str]
"""Returns the URL of an attachment by its id."""


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """A group of blocks in a long text (`rendering.groups`)."""

    message_id: uuid.UUID
    part: int
    """Index of the message's part with which the text begins."""
    number: int

    @property
    def name(self) -> str:
        """The value of the URL parameter `at` that names this group."""
        return f"{self.message_id}.{self.part}.{self.number}"

    @property
    def query(self) -> str:
        """What follows the path in the URL of a page that holds this group of a text: query and fragment."""
        return f"?at={self.name}#{self.element_id}"

    @property
    def element_id(self) -> str:
        """The id of the element of the group."""
        return f"part-{self.message_id}-{self.part}-b{self.number}"

    @classmethod
    def parse(cls, text: str) -> GroupPlace | None:
        """Return the group that a value of the URL parameter `at` names; `None` if the value is malformed."""
        match = re.fullmatch(r"([0-9a-f-]{36})\.(\d{1,6})\.(\d{1,6})", text, re.ASCII)
        try:
            return cls(uuid.UUID(match[1]), int(match[2]), int(match[3])) if match else None
        except ValueError:
            return None


GroupUrl: TypeAlias = Callable[[GroupPlace], str]
"""Returns the URL of a group that a page does not hold."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What one kind of reader may see and do. New fields must be off by default, because anybody may be a guest."""

    file_url: FileUrl
    may_act: bool = False
    """Whether the reader owns the conversation, and so may ask, rate, decide, run code and use the session's files."""
    has_scripts: bool = False
    """Whether the page has the scripts that copy code, and that sort, unfold and save tables."""
    sees_service: bool = False
    """Whether the reader sees which provider and endpoint answered."""
    sees_costs: bool = False
    """Whether the reader sees tokens, costs, the settings of the model, and why code was offered."""
    group_url: GroupUrl | None = None
    """Returns the URL of a group. `None`: the page holds all groups of long texts."""
    near: GroupPlace | None = None
    """The group that the page was opened for."""
    embeds_files: bool = False
    """Whether the page embeds files: `file_url` returns a placeholder, which the export replaces by the bytes."""


OWNER = Reader(
    lambda attachment_id: reverse("attachment-content", args=[attachment_id]),
    group_url=lambda place: reverse("message-blocks", args=[place.message_id, place.part, place.number]),
    may_act=True,
    has_scripts=True,
    sees_service=True,
    sees_costs=True,
)


def staff_reader(file_url: FileUrl, group_url: GroupUrl | None = None, near: GroupPlace | None = None) -> Reader:
    """Return a reader of the staff, who sees the messages as their owner does and changes nothing."""
    return Reader(file_url, has_scripts=True, sees_service=True, sees_costs=True, group_url=group_url, near=near)


def guest_reader(file_url: FileUrl, near: GroupPlace | None = None) -> Reader:
    """Return the reader of a share link, who needs no account."""
    return Reader(file_url, group_url=lambda place: place.query, near=near)


def export_reader(file_url: FileUrl) -> Reader:
    """Return the reader of an exported page, which the owner may send to anybody."""
    return Reader(file_url, sees_service=True, embeds_files=True)
