"""Writes the rows of parsed messages: the messages with their turns, parts, files and feedback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from attachments.models import Attachment
from attachments.store import NewAttachment, create_attachments
from chat.library.imports.records import ParsedAttachment, ParsedConversation, ParsedMessage
from chat.models import CallDecision, Conversation, Feedback, Message, MessageAttachment, Part, Project, Round, Turn

BATCH_ROWS = 200
BATCH_FILES = 20
REWRITTEN_OF_TURN = (
    *("provider", "model", "status", "code_execution", "private_data"),
    *("sources", "created_at", "started_at", "ended_at"),
)


@dataclass(slots=True)
class ConversationRows:
    """Writes the rows of one conversation, and keeps them. Each message must be written after its parent."""

    conversation: Conversation
    parsed: ParsedConversation
    messages: dict[str, Message] = field(default_factory=dict)
    """Key in the file -> written message."""
    files: dict[str, Attachment] = field(default_factory=dict)
    """Key in the file -> written attachment."""

    def write(self, messages: Sequence[ParsedMessage]) -> None:
        """Write the next messages, with the files that they show."""
        self._write_files_of(messages)
        _store_messages(self.conversation, messages, self.messages)
        _store_turns(self.conversation, messages, self.messages)
        _store_parts(messages, self.messages, self.files)
        _store_feedback(self.conversation.owner_id, messages, self.messages)

    def rewrite(self, messages: Sequence[ParsedMessage]) -> None:
        """Replace the texts, parts and files of messages that are here already, and update their turns."""
        self._write_files_of(messages)
        ids = [self.messages[message.key].pk for message in messages]
        for start in range(0, len(ids), BATCH_ROWS):
            Part.objects.filter(message__in=ids[start : start + BATCH_ROWS]).delete()
            MessageAttachment.objects.filter(message__in=ids[start : start + BATCH_ROWS]).delete()
        for message in messages:
            row = Message.objects.filter(pk=self.messages[message.key].pk)
            row.update(text=message.text, created_at=message.created_at)
            if message.turn is not None:
                values = {name: getattr(message.turn, name) for name in REWRITTEN_OF_TURN}
                Turn.objects.filter(message=self.messages[message.key]).update(**values)
        _store_parts(messages, self.messages, self.files)

    def write_other_files(self) -> None:
        """Write the files that no message shows."""
        self._write_files(self.parsed.attachments)

    def _write_files_of(self, messages: Sequence[ParsedMessage]) -> None:
        keys = {placement.key for message in messages for placement in message.placements}
        self._write_files(file for file in self.parsed.attachments if file.key in keys)

    def _write_files(self, files: Iterable[ParsedAttachment]) -> None:
        new = [file for file in files if file.key not in self.files]
        self.files.update(_store_attachments(new, self.conversation.owner_id))


def lock_projects(conversations: Iterable[ParsedConversation], owner_id: int) -> dict[str, Project]:
    """Return the projects that conversations name, by name. Of several with one name, take the one that changed last.

    The locks prevent that they are deleted before the transaction ends. To avoid deadlocks, all code locks projects
    first, in the order of their ids.
    """
    names = {conversation.project for conversation in conversations if conversation.project}
    rows = Project.objects.filter(owner_id=owner_id, name__in=names).defer("instruction")
    rows = rows.order_by("pk").select_for_update(no_key=True)
    return {project.name: project for project in sorted(rows, key=lambda project: (project.updated_at, project.pk))}


def create_conversation(parsed: ParsedConversation, owner_id: int, projects: Mapping[str, Project]) -> Conversation:
    """Write the row of a conversation. `projects`: those of `lock_projects`, in the same transaction."""
    return Conversation.objects.create(
        owner_id=owner_id,
        project=projects.get(parsed.project),
        title=parsed.title,
        title_source=parsed.title_source,
        model=parsed.model,
        code_execution=parsed.code_execution,
        engine=parsed.engine,
        approval=parsed.approval,
        release=parsed.release,
        web_search=parsed.web_search,
        private_data=parsed.private_data,
        system_instruction=parsed.system_instruction,
        side_tokens=parsed.side_tokens,
        side_cost=parsed.side_cost,
        revision=max((message.last_shown for message in parsed.messages), default=0),
    )


def _store_attachments(parsed: Sequence[ParsedAttachment], owner_id: int) -> dict[str, Attachment]:
    """Return the stored attachments by their key."""
    stored: dict[str, Attachment] = {}
    for start in range(0, len(parsed), BATCH_FILES):
        batch = parsed[start : start + BATCH_FILES]
        rows = create_attachments(
            [
                NewAttachment(
                    owner_id=owner_id,
                    data=file.data,
                    name=file.name,
                    mime_type=file.mime_type,
                    width=file.width,
                    height=file.height,
                    scale=file.scale,
                    is_graph=file.is_graph,
                )
                for file in batch
            ]
        )
        stored.update((file.key, row) for file, row in zip(batch, rows, strict=True))
    return stored


def _store_messages(conversation: Conversation, parsed: Sequence[ParsedMessage], rows: dict[str, Message]) -> None:
    """Store the messages, and add them by their key to `rows`."""
    for message in parsed:
        parent = None if message.parent is None else rows[message.parent]
        rows[message.key] = Message(
            conversation=conversation,
            parent=parent,
            index=0 if parent is None else parent.index + 1,
            is_shown=message.is_shown,
            last_shown=message.last_shown,
            role=message.role,
            text=message.text,
            created_at=message.created_at,
        )
    Message.objects.bulk_create([rows[message.key] for message in parsed], batch_size=BATCH_ROWS)


def _store_turns(conversation: Conversation, parsed: Sequence[ParsedMessage], rows: Mapping[str, Message]) -> None:
    turns: list[Turn] = []
    rounds: list[Round] = []
    decisions: list[CallDecision] = []
    for message in parsed:
        if message.turn is None or message.parent is None:
            continue
        turn = message.turn
        turn.conversation = conversation
        turn.user_message = rows[message.parent]
        turn.message = rows[message.key]
        turns.append(turn)
        for index, one in enumerate(message.rounds):
            one.turn, one.index = turn, index
            rounds.append(one)
        for decision in message.decisions:
            decision.turn = turn
            decisions.append(decision)
    Turn.objects.bulk_create(turns, batch_size=BATCH_ROWS)
    Round.objects.bulk_create(rounds, batch_size=BATCH_ROWS)
    CallDecision.objects.bulk_create(decisions, batch_size=BATCH_ROWS)


def _store_parts(parsed: Sequence[ParsedMessage], rows: Mapping[str, Message], files: Mapping[str, Attachment]) -> None:
    """Store the parts of all messages, and the positions of their attachments."""
    parts: list[Part] = []
    links: list[MessageAttachment] = []
    for message in parsed:
        row = rows[message.key]
        attachments = {placement.index: files[placement.key] for placement in message.placements}
        parts += [
            Part.from_value(
                part, index=index, message=row, attachment=attachments.get(message.part_attachments.get(index, -1))
            )
            for index, part in enumerate(message.parts)
        ]
        links += [
            MessageAttachment(
                message=row,
                attachment=files[placement.key],
                index=placement.index,
                part_index=placement.part_index,
            )
            for placement in message.placements
        ]
    Part.objects.bulk_create(parts, batch_size=BATCH_ROWS)
    MessageAttachment.objects.bulk_create(links, batch_size=BATCH_ROWS)


def _store_feedback(owner_id: int, parsed: Sequence[ParsedMessage], rows: Mapping[str, Message]) -> None:
    """Store the feedback as the new owner's."""
    given = [(message.feedback, rows[message.key]) for message in parsed if message.feedback is not None]
    feedback = [Feedback(message=row, user_id=owner_id, is_good=one.is_good, reason=one.reason) for one, row in given]
    Feedback.objects.bulk_create(feedback, batch_size=BATCH_ROWS)
    # Creating rows sets their times to now, so these are updated afterwards.
    for stored, (one, _) in zip(feedback, given, strict=True):
        stored.created_at, stored.updated_at = one.created_at, one.updated_at
    Feedback.objects.bulk_update(feedback, ["created_at", "updated_at"], batch_size=BATCH_ROWS)
