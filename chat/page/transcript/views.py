"""Builds the template views of messages, from message records or from the answer of a live turn."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from django.urls import reverse

from attachments.models import Attachment
from chat.messages.answer import Answer
from chat.messages.approval import Approval, awaited_approval
from chat.messages.calls_as_code import CallsAsCode
from chat.messages.changes import AnswerAttachment
from chat.messages.code_results import CodeResults, codes_without_result, earlier_results
from chat.messages.files_of_code import attachment_names, written_files
from chat.messages.records import MessageRecord
from chat.messages.text_runs import part_runs
from chat.models import Feedback, Message, Turn
from chat.page.attachment_views import AttachmentView, WrittenFileView
from chat.page.fragments import part_view
from chat.page.message_views import NO_HTML, CodeContext, MessageView, PartView, Rating, RenderedText, Versions
from chat.page.number_list import has_just_ended, numbers_url
from chat.page.readers import OWNER, Reader
from chat.page.render_queue import check_reader
from chat.page.rendering.markdown import render_question
from chat.page.transcript.answer_details import answer_details, cleared_outputs, code_place
from chat.page.transcript.answer_files import AnswerFiles
from chat.page.transcript.graph_captions import with_captions
from chat.page.transcript.reruns import RerunState, rerun_view
from chat.page.transcript.sources import grounding_of
from chat.page.transcript.turn_notices import turn_notice
from chat.vocabulary.fences import unfence_code
from chat.vocabulary.parts import Part, Role, Text, Thought, WrittenFile

ShownAttachments: TypeAlias = Mapping[int | None, Sequence[AttachmentView]]
"""Index of a part -> attachments that are shown after it. Key `None`: attachments at the end of the message."""

NO_TEXTS: Mapping[int, RenderedText] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer to be shown, from stored rows or from the memory of the process that runs its turn."""

    message: Message
    turn: Turn
    parts: Sequence[Part]
    attachments: ShownAttachments
    cleared: Sequence[AttachmentView]
    """Graphs that code has shown and then cleared."""
    retry_notice: str
    left_out: int
    approval: Approval | None
    move_reason: str
    earlier_readings: tuple[str, ...]
    is_traced: bool
    rating: Rating | None
    reruns: Mapping[str, RerunState] | None
    """Index of a part, as text -> state of running its code again. `None`: code cannot be run again."""
    texts: Mapping[int, RenderedText]
    """Rendered texts by the index of the first part of their run (`text_runs`)."""


def message_view(record: MessageRecord, reader: Reader, versions: Versions | None = None) -> MessageView:
    """Return the view of one message."""
    files = [attachment_view(placed.attachment, placed.index, reader) for placed in record.attachments]
    if record.turn is None:
        return user_message_view(record.message, files, reader, versions)
    shown: dict[int | None, list[AttachmentView]] = {}
    for placed, view in zip(record.attachments, files, strict=True):
        shown.setdefault(placed.part_index, []).append(view)
    has_rating = _shows_something(record.parts) and not record.is_live
    answer = ShownAnswer(
        record.message,
        record.turn,
        record.parts,
        shown,
        cleared=[attachment_view(placed.attachment, placed.index, reader) for placed in record.cleared],
        retry_notice=record.retry_notice,
        left_out=record.left_out,
        approval=record.approval,
        move_reason=record.move_reason,
        earlier_readings=record.earlier_readings,
        is_traced=record.is_traced or has_just_ended(record.turn),
        rating=rating_of(record.message, record.feedback) if has_rating else None,
        reruns=None if record.is_live else record.message.reruns or {},
        texts=NO_TEXTS,
    )
    return model_message_view(answer, reader, versions)


def rating_of(message: Message, feedback: Feedback | None) -> Rating:
    """Return the owner's rating of an answer."""
    return Rating(message.pk, feedback.is_good, feedback.reason) if feedback else Rating(message.pk)


def _shows_something(parts: Sequence[Part]) -> bool:
    """Return whether an answer has visible content to rate. Empty texts and thoughts hold only signatures."""
    return any(part.text if isinstance(part, Text | Thought) else True for part in parts)


def user_message_view(
    message: Message, attachments: Sequence[AttachmentView], reader: Reader, versions: Versions | None
) -> MessageView:
    """Return the view of a user's message."""
    id_prefix, has_buttons = f"message-{message.pk}", reader.has_scripts
    return MessageView(
        message_id=message.pk,
        reader=reader,
        role=Role.USER,
        status=Turn.Status.DONE,
        text=message.text,
        is_own_code=unfence_code(message.text) is not None,
        text_html=render_question(message.text, id_prefix, has_buttons=has_buttons) if message.text else NO_HTML,
        parts=(),
        attachments=tuple(attachments),
        notice=None,
        created_at=message.created_at.isoformat(),
        versions=versions,
    )


def answer_view(
    message: Message,
    turn: Turn,
    answer: Answer,
    versions: Versions | None = None,
    texts: Mapping[int, RenderedText] = NO_TEXTS,
) -> MessageView:
    """Return the owner's view of an answer that this process holds in memory. `texts`: rendered texts, by part."""
    shown: dict[int | None, list[AttachmentView]] = {}
    for attachment in answer.attachments:
        shown.setdefault(attachment.part_index, []).append(new_attachment_view(attachment))
    shown_answer = ShownAnswer(
        message,
        turn,
        answer.parts,
        shown,
        cleared=[new_attachment_view(attachment) for attachment in answer.cleared.graphs],
        retry_notice=answer.retry_notice,
        left_out=answer.messages_left_out,
        approval=awaited_approval(answer),
        move_reason=answer.move_reason,
        earlier_readings=(),
        is_traced=not turn.is_live,
        texts=texts,
        rating=Rating(message.pk) if not turn.is_live and _shows_something(answer.parts) else None,
        reruns=None if turn.is_live else message.reruns or {},
    )
    return model_message_view(shown_answer, OWNER, versions)


def _document_url(message: Message, format_name: str) -> str:
    url = reverse("conversation-export", args=[message.conversation_id, format_name])
    return f"{url}?message={message.pk}"


def model_message_view(answer: ShownAnswer, reader: Reader, versions: Versions | None) -> MessageView:
    """Return the view of a model's message."""
    if not reader.may_act:
        answer = replace(answer, approval=None, rating=None, reruns=None, earlier_readings=())
    message, turn, parts = answer.message, answer.turn, answer.parts
    shown = with_captions(message.pk, parts, answer.attachments)
    unplaced = [view for index, views in shown.items() if index is None or index >= len(parts) for view in views]
    # A live answer does not show files yet, because a later block may change them.
    files = () if turn.is_live else file_views(message, written_files(parts), unplaced, reader)
    kept_ids = {file.kept.attachment_id for file in files if file.kept}
    return MessageView(
        message_id=message.pk,
        reader=reader,
        role=Role.MODEL,
        status=turn.status,
        text="",
        text_url=reverse("message-text", args=[message.pk]) if reader.may_act else "",
        numbers_url=numbers_url(message.pk, parts) if reader.may_act and not turn.is_live else "",
        is_traced=answer.is_traced,
        pdf_url=_document_url(message, "pdf") if reader.may_act else "",
        word_url=_document_url(message, "docx") if reader.may_act else "",
        parts=_part_views(answer, shown, reader),
        attachments=tuple(view for view in unplaced if view.attachment_id not in kept_ids),
        files=files,
        notice=turn_notice(turn, parts),
        created_at=message.created_at.isoformat(),
        versions=versions,
        retry_notice=answer.retry_notice if turn.is_live else "",
        left_out=answer.left_out,
        approval=answer.approval if turn.status == Turn.Status.WAITING else None,
        move_reason=answer.move_reason,
        earlier_readings=answer.earlier_readings,
        # Sources are shown only after the end of the turn, because a live turn may still change them.
        grounding=None if turn.is_live else grounding_of(turn.sources, turn.queries),
        details=answer_details(turn, reader, parts),
        cleared=cleared_outputs(turn, parts, answer.cleared, reader),
        rating=answer.rating,
    )


def _part_views(answer: ShownAnswer, shown: ShownAttachments, reader: Reader) -> tuple[PartView, ...]:
    """Return the views of an answer's parts, one for each run (`text_runs`). `shown`: the attachments with captions."""
    message_id, parts = answer.message.pk, answer.parts
    results, earlier, hidden = CodeResults(parts), earlier_results(parts), CallsAsCode(parts).hidden
    # The code of a live answer may still get a result.
    without_result = set() if answer.turn.is_live else codes_without_result(parts)
    files = AnswerFiles(answer.message.conversation_id, reader, parts)
    views = []
    for run in part_runs(parts, shown):
        check_reader()
        start, part = run.start, run.part
        context = CodeContext(
            result=results.result_of.get(start),
            has_code=start in results.code_of,
            is_without_result=start in without_result,
            is_earlier_result=start in earlier,
            is_hidden=start in hidden,
            file_links=files.before(start),
            place=code_place(answer.turn, part, reader),
            is_live=answer.turn.is_live,
        )
        rendered, attachments = answer.texts.get(start), shown.get(run.last, ())
        view = part_view(message_id, start, part, attachments, reader=reader, rendered=rendered, context=context)
        views.append(replace(view, rerun=rerun_view(message_id, start, part, answer.reruns)))
    return tuple(views)


def file_views(
    message: Message, files: Sequence[WrittenFile], attachments: Iterable[AttachmentView], reader: Reader
) -> tuple[WrittenFileView, ...]:
    """Return the views of files that code wrote. `attachments`: those at the message's end.

    An attachment with the name of a file is taken to be that file, which was kept.
    """
    if not files:
        return ()
    kept = {view.name: view for view in attachments}
    names = attachment_names(files)
    return tuple(_file_view(message, file, kept.get(names[file.name]), reader) for file in files)


def _file_view(message: Message, file: WrittenFile, kept: AttachmentView | None, reader: Reader) -> WrittenFileView:
    view = WrittenFileView(file.name, file.size_bytes, file.modified_at, is_new=file.is_new, kept=kept)
    if not reader.may_act:
        return view
    return replace(
        view,
        url=reverse("api-session-file", args=[message.conversation_id, file.name]),
        keep_url=reverse("api-keep-file", args=[message.pk, file.name]),
        kept_state_url=reverse("api-attachment", args=[kept.attachment_id]) if kept else "",
    )


def answer_markdown(record: MessageRecord) -> str:
    """Return the texts of an answer as the model wrote them."""
    texts = (run.part.text.strip("\n") for run in record.runs() if isinstance(run.part, Text))
    return "\n\n".join(filter(None, texts))


def attachment_view(attachment: Attachment, index: int, reader: Reader) -> AttachmentView:
    """Return the view of a stored attachment with this index in its message."""
    return _attachment_view(attachment, attachment.pk, index, reader)


def new_attachment_view(attachment: AnswerAttachment) -> AttachmentView:
    """Return the owner's view of an attachment of a live answer."""
    return _attachment_view(attachment, uuid.UUID(attachment.attachment_id), attachment.index, OWNER)


def _attachment_view(
    attachment: Attachment | AnswerAttachment, attachment_id: uuid.UUID, index: int, reader: Reader
) -> AttachmentView:
    return AttachmentView(
        index=index,
        attachment_id=attachment_id,
        url=reader.file_url(attachment_id),
        name=attachment.name,
        mime_type=attachment.mime_type,
        size_bytes=attachment.size_bytes,
        width=attachment.width,
        height=attachment.height,
        scale=attachment.scale,
        is_graph=attachment.is_graph,
        reader=reader,
    )
