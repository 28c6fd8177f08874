"""Finds groups of blocks in long texts: the group that a page is opened for, and groups that a page loads later."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from django.utils.safestring import SafeString

from chat.messages.records import MessageRecord, records_by_id
from chat.messages.text_runs import PartRun
from chat.models import Conversation
from chat.models.full_text.excerpt import NO_MATCH, match_rank
from chat.models.full_text.query import parse
from chat.page.fragments import text_options
from chat.page.readers import GroupPlace, Reader
from chat.page.rendering.documents import DOCUMENT_LIMIT_CHARS
from chat.page.rendering.stream import render_group, split_documents
from chat.page.transcript.answer_files import AnswerFiles
from chat.vocabulary.parts import Text, Thought


def place_of_words(conversation: Conversation, message_id: uuid.UUID, query: str) -> GroupPlace | None:
    """Return the group of a message in which a search matches best; `None` if it matches in none."""
    terms = parse(query)
    is_here = bool(terms) and conversation.messages.filter(pk=message_id).exists()
    record = records_by_id([message_id]).get(message_id) if is_here else None
    best, best_rank = None, NO_MATCH
    for run in _long_texts(record) if record else ():
        documents = split_documents(run.part.long_text)
        for number, (_, start) in enumerate(documents):
            stop = documents[number + 1][1] if number + 1 < len(documents) else None
            rank = match_rank(run.part.long_text[start:stop], terms)
            if rank < best_rank:
                best, best_rank = GroupPlace(message_id, run.start, number), rank
    return best


def group_at(record: MessageRecord, place: GroupPlace, reader: Reader) -> SafeString | None:
    """Return the element of a group of a message that its pages may have left out; `None` if there is no such group."""
    for run in _long_texts(record):
        if run.start == place.part:
            files = AnswerFiles(record.message.conversation_id, reader, record.parts).before(run.start)
            options = text_options(place.message_id, place.part, reader, files)
            return render_group(run.part.long_text, place.number, options)
    return None


def _long_texts(record: MessageRecord) -> Iterator[PartRun]:
    for run in record.runs():
        if isinstance(run.part, Text | Thought) and len(run.part.long_text) > DOCUMENT_LIMIT_CHARS:
            yield run
