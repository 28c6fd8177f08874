"""Makes the ledgers of numbers of answers, from the messages before them and their attached tables, and stores them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.module_loading import import_string

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.messages.numbers.as_json import NumberJSON, number_json
from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.sources import SourceText
from chat.messages.records import MessageRecord, records_by_id
from chat.models import Message, NumberLedger
from chat.models.plain_sql import select_rows
from chat.vocabulary.data_json import encode_data
from chat.vocabulary.display_text import display_text
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FunctionResponse,
    PartKind,
    Role,
    Text,
    ToolResponse,
)
from chat.vocabulary.text_types import is_text

VERSION = 6
"""Version of the code that traces numbers. Ledgers of another version are made again."""
MESSAGES_LIMIT = 60
"""Maximum number of messages before an answer that are searched: the newest ones of its branch."""
FILE_LIMIT_BYTES = 1_000_000
_OUTPUTS = {
    kind.value
    for kind in (
        PartKind.CODE_EXECUTION_RESULT,
        PartKind.DISPLAY,
        PartKind.FUNCTION_RESPONSE,
        PartKind.TOOL_RESPONSE,
    )
}


def find_ledger(message_id: uuid.UUID) -> NumberLedger | None:
    """Return the stored ledger of an answer; `None` if it must be made first."""
    return NumberLedger.objects.filter(message=message_id, version=VERSION).first()


def has_results(answer_id: uuid.UUID) -> bool:
    """Return whether an answer, or any message before it, has outputs or files from which its numbers may come.

    Without them, few numbers have a source, so the answer is traced only when a person asks for it.
    """
    before = (
        "JOIN chat_message earlier ON earlier.id = message_id"
        ' WHERE earlier.conversation_id = chat_message.conversation_id AND earlier."index" <= chat_message."index"'
    )
    has_output = f"EXISTS (SELECT 1 FROM chat_part {before} AND kind IN %s)"
    has_file = f"EXISTS (SELECT 1 FROM chat_messageattachment {before})"
    condition = f"chat_message.id = %s AND ({has_output} OR {has_file})"
    return bool(select_rows(Message, condition, answer_id, _OUTPUTS, columns="chat_message.id"))


def store_ledger(message_id: uuid.UUID, *, only_with_results: bool = False) -> NumberLedger | None:
    """Trace the numbers of an answer and store them. Returns `None` if the answer is live or was deleted.

    `only_with_results`: an answer without results, see `has_results`, is not traced either.
    """
    if only_with_results and not has_results(message_id):
        return None
    message = Message.objects.select_related("turn").filter(pk=message_id, role=Role.MODEL).first()
    if message is None or (message.turn is not None and message.turn.is_live):
        return None
    text, numbers, unread = message.text, list[NumberJSON](), list[str]()
    if any(map(str.isdigit, text)):
        numbers = [number_json(text, one) for one in trace_numbers(text, list(branch_sources(message, unread)))]
    without = sum(one["verdict"] == "nowhere" for one in numbers)
    values = {"version": VERSION, "numbers": numbers, "without_source": without, "unread_files": unread}
    ledger = NumberLedger(message=message, **values)
    try:
        with transaction.atomic():
            NumberLedger.objects.bulk_create(
                [ledger], update_conflicts=True, unique_fields=["message"], update_fields=[*values, "created_at"]
            )
    except IntegrityError:
        # The message was deleted meanwhile.
        return None
    return ledger


def branch_sources(message: Message, unread: list[str]) -> Iterator[SourceText]:
    """Yield the texts that the numbers of an answer may come from, the nearest first: outputs, files, questions, code.

    `unread`: the list to which the names of attached files are added that `file_text` cannot read, except images.
    """
    path = _path(message)
    records = records_by_id(path)
    ordered = [records[pk] for pk in path if pk in records]
    sources = [source for record in ordered for source in _sources_of(record, unread)]
    for kind in ("output", "file", "question", "code"):
        yield from (source for source in sources if source.kind == kind)


def _path(message: Message) -> list[uuid.UUID]:
    """Return the ids of an answer and of up to `MESSAGES_LIMIT` messages before it on its branch, the newest first."""
    rows = Message.objects.filter(conversation=message.conversation_id, index__lt=message.index)
    rows = rows.filter(index__gte=message.index - MESSAGES_LIMIT)
    parents = dict(rows.values_list("pk", "parent_id"))
    path, before = [message.pk], message.parent_id
    while before in parents:
        path.append(before)
        before = parents[before]
    return path


def _sources_of(record: MessageRecord, unread: list[str]) -> Iterator[SourceText]:
    pk = record.message.pk
    if record.message.role == Role.USER:
        yield SourceText("question", record.message.text, pk)
        yield from _file_sources(record, unread)
        return
    shown_calls = record.calls_with_parts()
    for index, part in enumerate(record.parts):
        match part:
            case ExecutableCode():
                yield SourceText("code", part.code, pk, index)
            case CodeExecutionResult():
                yield SourceText("output", part.output or "", pk, index)
            case Display():
                yield SourceText("output", display_text(part.bundle), pk, index)
            case FunctionResponse() | ToolResponse() if part.call_id not in shown_calls:
                yield SourceText("output", encode_data(dict(part.result or {})), pk, index)
            case Text() if record.turn is None:
                yield SourceText("question", part.text, pk, index)
            case _:
                pass


def _file_sources(record: MessageRecord, unread: list[str]) -> Iterator[SourceText]:
    """Yield the attached text files, such as CSV, and workbooks. Add the names of all others but images to `unread`."""
    for placed in record.attachments:
        if placed.attachment.mime_type.startswith("image/"):
            continue
        text = file_text(placed.attachment)
        if text is None:
            unread.append(placed.attachment.name)
        else:
            yield SourceText("file", text, record.message.pk, None)


def file_text(attachment: Attachment) -> str | None:
    """Return the text of a file, or the cells of a workbook, that numbers may come from.

    The result is `None` if the file is too large, of another kind, or not available now. Reading a workbook waits for a
    kernel.
    """
    if attachment.size_bytes > FILE_LIMIT_BYTES:
        return None
    if not is_text(attachment.mime_type):
        text: str | None = import_string(settings.WORKBOOK_READER)(attachment)
        return text
    try:
        return read_bytes(attachment).decode(errors="replace").replace("\r\n", "\n")
    except BytesUnavailable:
        return None
