"""The files of a project in the requests of its conversations.

They are sent before the first message, because they are then the same in each request, so that a provider's cache
contains them. They are read anew for each request: a file that is added or removed changes the next answer in all
conversations of the project. Questions and answers are sent back unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attachments.models import Attachment
from chat.answering.prompt.context_window import USED_SHARE, tokens_of
from chat.answering.prompt.table_notes import TableNotes
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Message, Turn
from chat.providers.requests import Content
from chat.vocabulary.parts import Part, Role, Text

FILES = "[Files of the project “{project}”, for all its conversations: {names}]"
NOT_SENT = "[The file {name} is not sent with this request.]"
WINDOW_SHARE = 0.5
"""Maximum share of the context window that files of a project fill, so that they do not displace the conversation."""


def project_record(turn: Turn, files: Sequence[Attachment]) -> MessageRecord | None:
    """Return the files as a record before the first message, which has no row. `None`: there are no files."""
    project = turn.conversation.project
    if not files or project is None:
        return None
    text = FILES.format(project=project.name, names=", ".join(file.name for file in files))
    # The id identifies the position of the files in the request.
    message = Message(pk=project.pk, conversation=turn.conversation, role=Role.USER, text=text)
    return MessageRecord(message, attachments=[PlacedAttachment(file, index, None) for index, file in enumerate(files)])


def project_contents(
    record: MessageRecord | None,
    part_of: Callable[[Attachment], Part],
    context_tokens: int | None,
    share: float,
    file_sizes_bytes: Mapping[str, int],
    tables: TableNotes,
) -> tuple[list[Content], int]:
    """Return the contents for the files, and their estimated tokens.

    Files that do not fit into their share of the window are only named. `share`: how much of the window to use; it is
    less than 1 after the provider has refused the request as too long. `tables`: the notes about tables.
    """
    if record is None:
        return [], 0
    files = [placed.attachment for placed in record.attachments]
    contents = [Content(Role.USER, (part_of(file),)) for file in files]
    sizes = [tokens_of(content, file_sizes_bytes) for content in contents]
    text = tables.text(files)
    limit = sum(sizes) if context_tokens is None else context_tokens * USED_SHARE * WINDOW_SHARE
    left = min(limit, sum(sizes)) * share if share < 1 else limit
    parts: list[Part] = [Text(record.message.text)]
    for file, content, size in zip(files, contents, sizes, strict=True):
        if size > left:
            parts.append(Text(NOT_SENT.format(name=file.name)))
            continue
        left -= size
        parts += content.parts
    parts += [Text(text)] if text else []
    sent = Content(Role.USER, tuple(parts))
    return [sent], tokens_of(sent, file_sizes_bytes)
