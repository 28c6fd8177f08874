"""Builds questions and answers from the files of other tools. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from chat.library.imports.records import ParsedAttachment, ParsedMessage, ParsedPlacement
from chat.models import Turn
from chat.vocabulary.markers import Marker, join_text
from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode, JSONObject, Part, Role, Text
from chat.vocabulary.sanitize import one_line

MODEL_LIMIT_CHARS = 200


def build_question(
    key: str, parent: str | None, text: str, created_at: datetime, files: Sequence[ParsedAttachment] = ()
) -> ParsedMessage:
    """Return a user's message with one text part and these files."""
    return ParsedMessage(
        key=key,
        parent=parent,
        role=Role.USER,
        text=text,
        created_at=created_at,
        parts=(Text(text),),
        placements=tuple(ParsedPlacement(file.key, index, None) for index, file in enumerate(files)),
    )


def build_answer(
    key: str,
    parent: str,
    parts: Sequence[Part],
    created_at: datetime,
    *,
    model: str = "",
    images: Sequence[tuple[int, ParsedAttachment]] = (),
    sources: Sequence[JSONObject] = (),
    is_notebook: bool = True,
) -> ParsedMessage:
    """Return an answer with its turn. `images`: pairs (index of the part after which the image is shown, image).

    `is_notebook`: true if texts after code are separate cells, which need no blank line before them. `sources`: the web
    pages that it cites, as `Turn` stores them. No provider of this server made the answer.

    An answer without parts is interrupted, so that the user can ask for it again.
    """
    parts = [*_separated(parts, also_around_code=not is_notebook)]
    turn = Turn(
        model=one_line(model[:MODEL_LIMIT_CHARS]),
        status=Turn.Status.DONE if parts else Turn.Status.INTERRUPTED,
        sources=list(sources),
        code_execution=any(isinstance(part, ExecutableCode) for part in parts),
        created_at=created_at,
        started_at=created_at,
        ended_at=created_at,
    )
    return ParsedMessage(
        key=key,
        parent=parent,
        role=Role.MODEL,
        text=join_text(_text_pieces(parts, images))[0],
        created_at=created_at,
        parts=tuple(parts),
        placements=tuple(ParsedPlacement(file.key, index, part) for index, (part, file) in enumerate(images)),
        turn=turn,
    )


def _separated(parts: Sequence[Part], *, also_around_code: bool) -> Iterator[Part]:
    """Yield the parts with blank lines between texts that would be joined on the page or in the message's text."""
    has_text = False
    for part in parts:
        if isinstance(part, Text) and part.text:
            yield replace(part, text=f"\n\n{part.text}") if has_text else part
            has_text = True
        else:
            yield part
            is_code = isinstance(part, ExecutableCode | CodeExecutionResult)
            has_text = has_text and (also_around_code or not is_code)


def _text_pieces(parts: Sequence[Part], images: Sequence[tuple[int, ParsedAttachment]]) -> Iterator[str | Marker]:
    """Yield the texts of an answer, and a marker where each image is shown."""
    markers: dict[int, list[Marker]] = defaultdict(list)
    for index, (shown_after, file) in enumerate(images):
        if file.is_image:
            markers[shown_after].append(Marker("GRAPH" if file.is_graph else "IMAGE", index))
    for part_index, part in enumerate(parts):
        if isinstance(part, Text) and part.text:
            yield part.text
        yield from markers[part_index]
