"""Our own exports, as `docs/export-format.md` describes them, back into drafts: nothing of them is believed.

An answer that was still being written when it was exported is an interrupted one here. A model that nobody may choose
here is left for the server's default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chat.catalogue.choices import check_choice
from chat.catalogue.setups import UnknownModel
from chat.exports.as_json import FORMAT, TEXT_NAMES, VERSION
from chat.imports.drafts import (
    MESSAGES_LIMIT,
    PARTS_LIMIT,
    AttachmentDraft,
    ConversationDraft,
    FeedbackDraft,
    MessageDraft,
    PlacedDraft,
)
from chat.imports.files import FoundFile, checked_file
from chat.imports.parts import check_part, points_into, without_images
from chat.imports.places import Place
from chat.imports.plotline_turns import MODES, amount, turn_draft
from chat.models import REASON_LIMIT, Conversation
from chat.parts import Part, PartKind, Role
from chat.turns.sound import TOKENS_LIMIT

ReadFile = Callable[[str], bytes | None]
"""The bytes at a path beside the document; None where there is no such file."""

SOURCES = [source.value for source in Conversation.TitleSource]
ROLES = [role.value for role in Role]
KINDS = [kind.value for kind in PartKind]


def is_ours(document: Place) -> bool:
    """Whether it says so."""
    return isinstance(document.value, dict) and document.value.get("format") == FORMAT


def draft(document: Place, read_file: ReadFile) -> ConversationDraft:
    """The conversation of a document. Raises RefusedImport."""
    if document.at("version").value != VERSION:
        raise document.at("version").refuse(f"only version {VERSION} is known here.")
    about = document.at("conversation")
    messages = [_message(place) for place in document.at("messages").items(MESSAGES_LIMIT)]
    _check_tree(messages, document.at("messages"))
    sent = {placed.key for message in messages for placed in message.attachments if message.role == Role.USER}
    attachments, missing = _attachments(document.at("attachments"), sent, read_file)
    return ConversationDraft(
        title=about.at("title").text(200),
        created_at=about.at("created_at").moment(),
        updated_at=about.at("updated_at").moment(),
        messages=tuple(_with_files(message, attachments, missing, document) for message in messages),
        attachments=tuple(attachments.values()),
        columns={
            "title_source": about.at("title_source").one_of(SOURCES),
            "model": _known_model(about.at("model").text(200)),
            "code_execution": about.at("code_execution").one_of(MODES),
            "system_instruction": about.at("system_instruction").text(),
            "side_tokens": about.at("side_tokens").integer(TOKENS_LIMIT),
            "side_cost": amount(about.at("side_cost")),
        },
    )


def _known_model(name: str) -> str:
    try:
        check_choice(name)
    except UnknownModel:
        return ""
    return name


def _message(place: Place) -> MessageDraft:
    role = place.at("role").one_of(ROLES)
    parts: list[Part] = []
    attached: dict[int, int] = {}
    for number, said in enumerate(place.at("parts").items(PARTS_LIMIT)):
        if said.at("index").value != number:
            raise said.at("index").refuse(f"parts count from 0 without a gap: this one is {number}.")
        parts.append(_part(said))
        if said.has("attachment_index"):
            attached[number] = said.at("attachment_index").integer()
    placed = _placed(place)
    _check_files(place, parts, attached, {file.index for file in placed})
    return MessageDraft(
        key=place.at("id").text(64),
        parent=place.at("parent").text(64) if place.has("parent") else None,
        role=role,
        text=place.at("text").text(),
        created_at=place.at("created_at").moment(),
        is_shown=place.at("is_shown").boolean(),
        last_shown=place.at("last_shown").integer(),
        parts=tuple(parts),
        part_attachments=attached,
        attachments=placed,
        turn=turn_draft(place.at("turn")) if role == Role.MODEL else None,
        feedback=_feedback(place.at("feedback")) if role == Role.MODEL and place.has("feedback") else None,
    )


def _feedback(place: Place) -> FeedbackDraft:
    return FeedbackDraft(
        is_good=place.at("is_good").boolean(),
        reason=place.at("reason").text(REASON_LIMIT),
        created_at=place.at("created_at").moment(),
        updated_at=place.at("updated_at").moment(),
    )


def _placed(place: Place) -> tuple[PlacedDraft, ...]:
    placed = tuple(
        PlacedDraft(said.at("id").text(64), said.at("index").integer(), said.at("part_index").integer_or_none())
        for said in place.at("attachments").items(PARTS_LIMIT)
    )
    if len({file.index for file in placed}) < len(placed):
        raise place.at("attachments").refuse("two attachments have the same index.")
    return placed


def _check_files(place: Place, parts: list[Part], attached: dict[int, int], indexes: set[int]) -> None:
    """Parts speak of attachments that the message has."""
    for number, part in enumerate(parts):
        check_part(part, indexes, place.below(f"parts[{number}]"))
        if attached.get(number, -1) not in {*indexes, -1}:
            raise place.refuse(f"part {number} has its bytes in an attachment that the message does not have.")


def _part(place: Place) -> Part:
    kind = PartKind(place.at("kind").one_of(KINDS))
    words = place.at(TEXT_NAMES.get(kind, "text"))
    return Part(
        kind=kind,
        text=None if words.value is None else words.text(),
        language=place.at("language").text_or(""),
        outcome=place.at("outcome").text_or(""),
        call_id=place.at("id").text_or(""),
        mime_type=place.at("mime_type").text_or(""),
        fields=place.at("fields").mapping() if place.has("fields") else {},
        thought_signature=place.at("thought_signature").base64() if place.has("thought_signature") else None,
    )


def _check_tree(messages: list[MessageDraft], place: Place) -> None:
    """Parents come first, questions and answers take turns, and one path from the start is in view."""
    depths: dict[str, int] = {}
    by_key = {message.key: message for message in messages}
    shown: list[MessageDraft] = []
    for number, message in enumerate(messages):
        here = Place(None, f"{place.path}[{number}]")
        if message.key in depths:
            raise here.refuse("there is a message with this id already.")
        parent = by_key.get(message.parent) if message.parent else None
        if message.parent is not None and message.parent not in depths:
            raise here.refuse("its parent is not before it.")
        depths[message.key] = depths[message.parent] + 1 if message.parent is not None else 0
        if message.role == Role.MODEL and (parent is None or parent.role != Role.USER):
            raise here.refuse("an answer must follow a question.")
        if message.is_shown:
            if message.parent != (shown[-1].key if shown else None):
                raise here.refuse("the messages in view are no path.")
            shown.append(message)


def _attachments(place: Place, sent: set[str], read_file: ReadFile) -> tuple[dict[str, AttachmentDraft], set[str]]:
    """Those whose bytes are there, and the ids of the rest."""
    found: dict[str, AttachmentDraft] = {}
    missing: set[str] = set()
    for said in place.items(MESSAGES_LIMIT):
        key = said.at("id").text(64)
        data = _bytes(said, read_file)
        if data is None:
            missing.add(key)
            continue
        if key in found:
            raise said.refuse("there is an attachment with this id already.")
        found[key] = checked_file(
            FoundFile(
                key=key,
                name=said.at("name").text(255),
                data=data,
                mime_type=said.at("mime_type").text(100),
                is_graph=said.at("is_graph").boolean(),
                is_sent=key in sent and not said.at("is_graph").boolean(),
                created_at=said.at("created_at").moment(),
            ),
            said,
        )
        if found[key].sha256 != said.at("sha256").text(64):
            raise said.at("sha256").refuse("its bytes are not those that were exported.")
    return found, missing


def _bytes(place: Place, read_file: ReadFile) -> bytes | None:
    """What is in the document or beside it; None where the export says that it could not be had."""
    if place.has("data"):
        return place.at("data").base64()
    if not place.has("file"):
        return None
    data = read_file(place.at("file").text(1000))
    if data is None:
        raise place.at("file").refuse("there is no such file beside this document; import the whole archive.")
    return data


def _with_files(
    message: MessageDraft, found: dict[str, AttachmentDraft], missing: set[str], document: Place
) -> MessageDraft:
    """The message without places of files whose bytes could not be exported."""
    unknown = [placed.key for placed in message.attachments if placed.key not in found and placed.key not in missing]
    if unknown:
        raise document.at("attachments").refuse(f"there is none with id “{unknown[0]}”, which a message has.")
    kept = tuple(placed for placed in message.attachments if placed.key in found)
    if len(kept) == len(message.attachments):
        return message
    indexes = {placed.index for placed in kept}
    attached = {part: index for part, index in message.part_attachments.items() if index in indexes}
    parts = tuple(part if points_into(part, indexes) else without_images(part) for part in message.parts)
    return replace(message, attachments=kept, part_attachments=attached, parts=parts)
