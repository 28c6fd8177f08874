"""The messages of a request: the newest exchanges, and as many of their files and images as the limit allows."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from django.conf import settings

from attachments.chosen_readings import chosen_encodings
from attachments.models import Attachment
from chat.answering.prompt.answers import ReplayedImages, answer_contents, is_sent_back
from chat.answering.prompt.context_window import IMAGE_TOKENS, limit_tokens, part_tokens, select_newest, tokens_of
from chat.answering.prompt.continuations import is_same_model
from chat.answering.prompt.dates import date_note, dated_question
from chat.answering.prompt.file_choice import (
    FileChoice,
    FilesTooLarge,
    RequestBudget,
    attachment_ids,
    released_records,
    sent_files,
)
from chat.answering.prompt.own_code import own_code_contents
from chat.answering.prompt.private_records import is_left_out, without_data
from chat.answering.prompt.project_files import NOT_SENT, project_contents, project_record
from chat.answering.prompt.provider_files import RequestFiles, files_in_order, notes_of_files
from chat.answering.prompt.refusals import without_refused
from chat.answering.prompt.refused_files import refused_files
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.replayed_text import with_replayed_texts, with_short_results
from chat.answering.prompt.request_size import first_that_fits, message_bytes, part_bytes
from chat.answering.prompt.rows import PromptRows
from chat.answering.prompt.table_notes import find_table_notes
from chat.messages.records import MessageRecord
from chat.models import Turn
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import Setup
from chat.providers.requests import Content
from chat.vocabulary.data_uris import without_data_uris
from chat.vocabulary.parts import Engine, Part, Role, Text

KEPT = "[Files that the code wrote, and that I have kept: {names}]"


@dataclass(frozen=True, slots=True)
class Recipient:
    """The model that the request is sent to."""

    setup: Setup
    capabilities: Capabilities

    @property
    def context_tokens(self) -> int | None:
        """The size of the model's context window, set by the operator or reported by the endpoint. `None` if it is
        unknown.
        """
        if self.setup.context_tokens is not None:
            return self.setup.context_tokens
        return self.capabilities.context_tokens


class SentMessages:
    """Chooses what of a conversation a request contains, and makes the contents.

    The files of the project come before the first message. Text is chosen first, in whole exchanges; the oldest are
    left out. The rest of `REQUEST_LIMIT_BYTES` is for files and images: those of the question, of the project, then the
    newest first. Files and images that are not sent are named.
    """

    def __init__(
        self,
        turn: Turn,
        rows: PromptRows,
        own_rounds: MessageRecord | None,
        recipient: Recipient,
        replay: Replay,
        fixed_bytes: int,
    ) -> None:
        """`rows`: the rows of the turn. `own_rounds`: the earlier rounds of the turn's answer.

        `fixed_bytes`: size of the request without its messages. Raises as `_choose_files` and `_check_tables` do.
        """
        self._turn, self._recipient, self._replay = turn, recipient, replay
        rows = replace(rows, records=released_records(turn, rows.records))
        shown = without_refused(rows.records)
        if turn.private_data:
            shown = without_data(shown, rows.project_files)
        # The files of refused questions are included, because code finds them, too.
        all_files = files_in_order(rows.records, rows.project_files)
        self._tables = find_table_notes(all_files, turn)
        notes = notes_of_files(all_files, turn)
        budget_bytes = settings.REQUEST_LIMIT_BYTES - fixed_bytes - part_bytes(date_note(turn))
        self._project = project_record(turn, rows.project_files)
        budget_bytes -= self._size_bytes(self._project) if self._project else 0
        # The earlier rounds may take half of the room. The rest is for messages, files and images.
        rounds = own_rounds and with_replayed_texts(own_rounds)
        self._own_rounds = rounds and with_short_results(rounds, part_bytes, budget_bytes / 2)
        budget_bytes -= message_bytes(self._own_rounds) if self._own_rounds else 0
        self._records, budget_bytes = self._newest(shown, budget_bytes)
        self._dated_message, self._date = dated_question(turn, self._records)
        self.left_out = len(shown) - len(self._records)
        """Number of the oldest messages that are not sent. It is final when the contents are made."""
        self.tokens = 0
        """The estimated tokens of the contents. It is set when the contents are made."""

        self.choice, self.files = self._choose_files(rows, notes, budget_bytes)
        if replay.has_files and turn.engine == Engine.NATIVE and turn.offers_session:
            self._check_tables(files_in_order(shown, rows.project_files))
        self._images = ReplayedImages(self.choice.images, are_private=turn.private_data)

    def _choose_files(
        self, rows: PromptRows, notes: Mapping[uuid.UUID, str], budget_bytes: int
    ) -> tuple[FileChoice, RequestFiles]:
        """Return the files that are sent, and their form. Raises as `FileChoice` does."""
        capabilities, has_files = self._recipient.capabilities, self._replay.has_files and not self._turn.private_data
        *earlier, question = self._records
        later = [record for record in (self._own_rounds, self._project) if record]
        sent = attachment_ids([*self._records, *later])
        refused = refused_files(sent, account=capabilities.account, model=self._turn.model)
        budget = RequestBudget.of(budget_bytes, self._recipient.context_tokens)
        encodings = chosen_encodings(files_in_order(rows.records, rows.project_files))
        sources = [*earlier, *later] if has_files else []
        choice = FileChoice(question, sources, budget, capabilities, refused | notes.keys(), encodings)
        explains = has_files and self._turn.engine != Engine.SESSION
        files = RequestFiles(choice, question, capabilities, refused, notes, self._tables, explains_tables=explains)
        return choice, files

    def _check_tables(self, files: Iterable[Attachment]) -> None:
        """Raise FilesTooLarge if a table does not fit into the request. Code then runs in the tool set, which has the
        table.
        """
        for file in files:
            if self.files.is_too_large(file):
                raise FilesTooLarge(f"{file.name} does not fit into the request")

    def contents(self) -> Iterator[Content]:
        """Return the contents, in order. Raises BytesUnavailable if a file of the question cannot be read."""
        contents = [self._contents_of(record) for record in self._records]
        window, share = self._recipient.context_tokens, self._replay.context_share
        file_sizes = self.files.sizes_bytes
        of_project, project_tokens = project_contents(
            self._project, self._project_part, window, share, file_sizes, self._tables
        )
        sizes = [sum(tokens_of(content, file_sizes) for content in message) for message in contents]
        own_tokens, images_tokens = self._own_tokens()
        total = sum(sizes) + own_tokens + images_tokens
        limit = limit_tokens(total, window and max(window - project_tokens, 0), share)
        own = self._own_contents(limit - sizes[-1] - images_tokens)
        own_tokens = sum(tokens_of(content, file_sizes) for content in own)
        sent = select_newest(contents, sizes, limit - own_tokens)
        left_out = len(contents) - len(sent)
        self.left_out += left_out
        self.tokens = project_tokens + sum(sizes[left_out:]) + own_tokens
        return chain(of_project, chain.from_iterable(sent), own)

    def _project_part(self, file: Attachment) -> Part:
        assert self._project is not None
        return self.files.part(self._project, file, absent=NOT_SENT)

    def _contents_of(self, record: MessageRecord) -> list[Content]:
        if record.turn is None:
            return self._question_contents(record)
        if record.turn.is_own_code:
            contents = own_code_contents(record, self._images)
        elif is_left_out(record):
            contents = [Content(Role.USER, tuple(record.parts))]
        else:
            is_own = self._replay.has_signatures and is_same_model(record.turn, self._turn)
            contents = answer_contents(record, self._images, self._recipient.capabilities, is_own=is_own)
        return contents + self._kept_contents(record)

    def _own_contents(self, limit: float) -> list[Content]:
        """Return the earlier rounds of the answer. `limit`: the maximum number of their tokens, without images."""
        if self._own_rounds is None:
            return []
        record = with_short_results(self._own_rounds, self._own_part_tokens, limit)
        is_own = self._replay.has_signatures
        return answer_contents(record, self._images, self._recipient.capabilities, is_own=is_own)

    def _own_tokens(self) -> tuple[int, int]:
        """Return the estimated tokens of the earlier rounds of the answer, and the tokens of their images."""
        if self._own_rounds is None:
            return 0, 0
        images = sum(placed.attachment.pk in self.choice.images for placed in self._own_rounds.attachments)
        return sum(map(self._own_part_tokens, self._own_rounds.parts)), images * IMAGE_TOKENS

    def _own_part_tokens(self, part: Part) -> int:
        is_sent = is_sent_back(part, self._recipient.capabilities, is_own=self._replay.has_signatures)
        return part_tokens(part, {}) if is_sent else 0

    def _kept_contents(self, record: MessageRecord) -> list[Content]:
        """Return the kept files of an answer, as a content of the user."""
        kept = sent_files(record)
        if not kept:
            return []
        names = ", ".join(file.name for file in kept)
        parts = [self.files.part(record, file) for file in kept]
        return [Content(Role.USER, (Text(KEPT.format(names=names)), *self._tables.insert(parts, kept)))]

    def _question_contents(self, record: MessageRecord) -> list[Content]:
        """Return the content of a question: its files with notes about tables, its text, and the date if it is the
        dated question.

        Only the last question keeps its data URIs.
        """
        files = sent_files(record)
        sent = self._tables.insert([self.files.part(record, file) for file in files], files)
        text = record.message.text
        if record is not self._records[-1]:
            text = without_data_uris(text)
        note = (self._date,) if record.message is self._dated_message else ()
        return [Content(Role.USER, sent + ((Text(text),) if text else ()) + note)]

    def _newest(self, records: list[MessageRecord], limit_bytes: int) -> tuple[list[MessageRecord], int]:
        """Return the newest exchanges whose text is within the limit, and the number of bytes of the limit that are
        left.
        """
        replayed = [with_replayed_texts(record) if record.turn else record for record in records]
        sizes = [self._size_bytes(record) for record in replayed]
        first = first_that_fits(sizes, [record.turn is None for record in replayed], limit_bytes)
        return replayed[first:], limit_bytes - sum(sizes[first:])

    def _size_bytes(self, record: MessageRecord) -> int:
        """Return the size of a message without the bytes of its files."""
        return message_bytes(record) + self._tables.size_bytes(sent_files(record))
