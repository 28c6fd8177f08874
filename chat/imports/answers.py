"""Answers of other tools as ours: parts in order, images after the part that drew them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from chat.imports.drafts import AttachmentDraft, MessageDraft, PlacedDraft, TurnDraft
from chat.models import Turn
from chat.parts import Part, PartKind, Role
from chat.rendering.markers import Marker, join_text


def question(key: str, parent: str | None, text: str, created_at: datetime, **fields: Any) -> MessageDraft:  # noqa: ANN401
    """What a person said, with the one part that questions have here."""
    part = Part(PartKind.TEXT, text=text)
    return MessageDraft(
        key=key, parent=parent, role=Role.USER.value, text=text, created_at=created_at, parts=(part,), **fields
    )


def answer(
    key: str,
    parent: str,
    parts: Sequence[Part],
    created_at: datetime,
    *,
    model: str = "",
    images: Sequence[tuple[int, AttachmentDraft]] = (),
) -> MessageDraft:
    """What a model said; `images`: with the index of the part after which each is shown.

    Without a part it is an answer that never came, and can be asked for again.
    """
    placed = tuple(PlacedDraft(file.key, number, part) for number, (part, file) in enumerate(images))
    status = Turn.Status.DONE if parts else Turn.Status.INTERRUPTED
    return MessageDraft(
        key=key,
        parent=parent,
        role=Role.MODEL.value,
        text=join_text(_pieces(parts, images))[0],
        created_at=created_at,
        parts=tuple(parts),
        attachments=placed,
        turn=TurnDraft(
            model=model[:200],
            status=status.value,
            created_at=created_at,
            columns={
                "code_execution": any(part.kind is PartKind.EXECUTABLE_CODE for part in parts),
                "started_at": created_at,
                "ended_at": created_at,
            },
        ),
    )


def _pieces(parts: Sequence[Part], images: Sequence[tuple[int, AttachmentDraft]]) -> Iterator[str | Marker]:
    for index, part in enumerate(parts):
        if part.kind is PartKind.TEXT and part.text:
            yield part.text
        for number, (after, file) in enumerate(images):
            if after == index and file.width is not None:
                yield Marker("GRAPH" if file.is_graph else "IMAGE", number)
