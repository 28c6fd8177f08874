"""Reads the rows from which prompts are built, for many turns at once."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from attachments.models import Attachment
from chat.messages.records import MessageRecord, attachments_by_message, records_of_conversations
from chat.models import Instruction, ProjectFile, Turn
from chat.models.plain_sql import find_row
from chat.providers import get_provider
from chat.providers.base import Capabilities


@dataclass(frozen=True, slots=True)
class PromptRows:
    """The rows from which the prompt of one turn is built."""

    records: list[MessageRecord]
    """The shown messages before the turn's answer, in order."""
    instruction: Instruction | None
    """The operator's texts for all models."""
    capabilities: Capabilities | None
    """The capabilities of the turn's model. `None` if its service is not set up any more."""
    project_files: Sequence[Attachment] = ()
    """The files of the conversation's project."""


def read_rows(
    turns: Sequence[Turn],
    *,
    without_files: Collection[uuid.UUID] = (),
    known: Mapping[uuid.UUID, Capabilities] = MappingProxyType({}),
) -> list[PromptRows]:
    """Read the rows of several turns, in their order. Runs at most two queries, or five if a turn has earlier messages.

    Files of projects take one more query. Each model of an endpoint takes at most three more.

    `turns`: with both messages loaded. `without_files`: questions that are known to have no files. `known`: turn id ->
    capabilities of its model, if they need not be read.
    """
    instruction = find_row(Instruction, "id = 1")
    with_history = {turn.conversation_id for turn in turns if turn.user_message.index}
    new = [pk for turn in turns for pk in (turn.user_message_id, turn.message_id)]
    earlier = records_of_conversations(with_history, without=new) if with_history else {}
    questions = [turn.user_message_id for turn in turns if turn.user_message_id not in without_files]
    files = attachments_by_message({"message__in": questions}) if questions else {}
    find_capabilities = cache(_find_capabilities)
    of_projects = files_of_projects({turn.conversation.project_id for turn in turns} - {None})
    return [
        PromptRows(
            [
                *(
                    record
                    for record in earlier.get(turn.conversation_id, [])
                    if record.message.index < turn.user_message.index
                ),
                MessageRecord(turn.user_message, attachments=files.get(turn.user_message_id, [])),
            ],
            instruction,
            known.get(turn.pk) or find_capabilities(turn.provider, turn.endpoint, turn.model),
            of_projects.get(turn.conversation.project_id, ()),
        )
        for turn in turns
    ]


def _find_capabilities(provider: str, endpoint: str, model: str) -> Capabilities | None:
    try:
        return get_provider(provider, endpoint).capabilities(model)
    except LookupError:
        return None


def files_of_projects(project_ids: Collection[uuid.UUID | None]) -> dict[uuid.UUID | None, list[Attachment]]:
    """Return the files of projects, in the order in which they were added."""
    if not project_ids:
        return {}
    files: dict[uuid.UUID | None, list[Attachment]] = defaultdict(list)
    for link in ProjectFile.objects.filter(project__in=project_ids).select_related("attachment").order_by("pk"):
        files[link.project_id].append(link.attachment)
    return files
