"""Reads the messages of Plotline's own exports."""

from __future__ import annotations

from chat.library.imports.json_paths import JSONValue
from chat.library.imports.parts import read_part
from chat.library.imports.plotline_turns import read_decisions, read_rounds, read_turn
from chat.library.imports.records import PARTS_LIMIT, ParsedFeedback, ParsedMessage, ParsedPlacement
from chat.models import REASON_LIMIT
from chat.vocabulary.parts import Part, Role

ROLES = [role.value for role in Role]
ID_LIMIT_CHARS = 64


def read_message(value: JSONValue) -> ParsedMessage:
    """Return a message with its parts; an answer with its turn and feedback. Raises RefusedImport if it is invalid."""
    role = Role(value.get("role").as_choice(ROLES))
    is_answer = role is Role.MODEL
    placements = _read_placements(value.get("attachments"))
    rounds = read_rounds(value.get("turn").get("rounds")) if is_answer else ()
    has_decisions = is_answer and value.get("turn").has("decisions")
    parts, part_attachments = _read_parts(value.get("parts"), {placement.index for placement in placements})
    return ParsedMessage(
        key=value.get("id").as_text(ID_LIMIT_CHARS),
        parent=value.get("parent").as_text(ID_LIMIT_CHARS) if value.has("parent") else None,
        role=role,
        text=value.get("text").as_text(),
        created_at=value.get("created_at").as_time(),
        is_shown=value.get("is_shown").as_boolean(),
        last_shown=value.get("last_shown").as_integer(),
        parts=parts,
        part_attachments=part_attachments,
        placements=placements,
        turn=read_turn(value.get("turn"), round_count=len(rounds)) if is_answer else None,
        rounds=rounds,
        decisions=read_decisions(value.get("turn").get("decisions")) if has_decisions else (),
        feedback=_read_feedback(value.get("feedback")) if is_answer and value.has("feedback") else None,
    )


def _read_placements(value: JSONValue) -> tuple[ParsedPlacement, ...]:
    placements = tuple(
        ParsedPlacement(
            one.get("id").as_text(ID_LIMIT_CHARS),
            one.get("index").as_integer(),
            one.get("part_index").as_integer_or_none(),
        )
        for one in value.items(PARTS_LIMIT)
    )
    if len({placement.index for placement in placements}) < len(placements):
        raise value.refusal("two attachments have the same index.")
    return placements


def _read_parts(value: JSONValue, attachment_indexes: set[int]) -> tuple[tuple[Part, ...], dict[int, int]]:
    """Return the parts, and a map: index of a part with bytes -> index of the attachment that holds them."""
    parts: list[Part] = []
    part_attachments: dict[int, int] = {}
    for number, one in enumerate(value.items(PARTS_LIMIT)):
        if one.get("index").value != number:
            raise one.get("index").refusal(f"parts are numbered from 0 without a gap, so this must be {number}.")
        parts.append(read_part(one, attachment_indexes))
        if one.has("attachment_index"):
            part_attachments[number] = one.get("attachment_index").as_integer()
            if part_attachments[number] not in attachment_indexes:
                raise one.get("attachment_index").refusal("the message has no such attachment.")
    return tuple(parts), part_attachments


def _read_feedback(value: JSONValue) -> ParsedFeedback:
    return ParsedFeedback(
        is_good=value.get("is_good").as_boolean(),
        reason=value.get("reason").as_text(REASON_LIMIT),
        created_at=value.get("created_at").as_time(),
        updated_at=value.get("updated_at").as_time(),
    )
