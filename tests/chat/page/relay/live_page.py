"""A page that follows one live answer, for tests that compare it with a page that is loaded later."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

from chat.messages.answer import Answer
from chat.messages.assembler import Assembler
from chat.messages.changes import Change
from chat.messages.log import Row, coalesce_changes, fold, to_row
from chat.messages.text_runs import PartRun, part_runs
from chat.models import Message, Turn
from chat.page.fragments import part_html, status_html, text_options
from chat.page.message_views import RenderedText
from chat.page.readers import OWNER
from chat.page.relay.live_message import LiveMessage
from chat.page.rendering.stream import split_markdown
from chat.page.transcript.answer_files import AnswerFiles
from chat.page.transcript.views import answer_view
from chat.vocabulary.parts import Text, Thought
from chat.vocabulary.stream_events import OutputsRedrawn, PartReceived, ToolOutput
from tests.dom import Page

MESSAGE_ID = uuid.UUID(int=7)
TURN = Turn(
    message=Message(pk=MESSAGE_ID, conversation_id=MESSAGE_ID, created_at=datetime(2026, 1, 1, tzinfo=UTC)),
    status=Turn.Status.RUNNING,
)
EMPTY_PAGE = f'<div id="message-{MESSAGE_ID}-parts"></div>' + status_html(answer_view(TURN.message, TURN, Answer()))


class LivePage:
    """A page that follows one live answer, and the log that the answer leaves."""

    def __init__(self) -> None:
        numbers = iter(range(1, 1000))
        self.assembler = Assembler(
            is_code_offered=True, new_id=lambda: str(uuid.UUID(int=next(numbers))), now_s=lambda: 0.0
        )
        self.live = LiveMessage(TURN, Answer())
        self.page = Page(EMPTY_PAGE)
        self.log: list[Row] = []

    def show(self, changes: Iterable[Change]) -> None:
        """Store the changes, and apply the frame that shows them."""
        changes = coalesce_changes(changes)
        self.log += [to_row(change) for change in changes]
        self.page.swap(self.live.update(changes))

    def receive(self, parts: Iterable[ToolOutput]) -> None:
        """Show parts in one frame."""
        changes: list[Change] = []
        for part in parts:
            if isinstance(part, OutputsRedrawn):
                changes += self.assembler.add(part)
            else:
                changes += self.assembler.add(PartReceived(part), made_by=part.made_by)
        self.show(changes)

    @property
    def parts_html(self) -> str:
        """The HTML of the answer on the page."""
        return self.page.ids[f"message-{MESSAGE_ID}-parts"].inner()

    def check(self) -> None:
        """Check that a reload, which reads the log, shows the same."""
        answer = fold(self.log)
        assert answer.parts == self.assembler.answer.parts
        assert answer.text == self.assembler.answer.text
        assert self.parts_html == render_whole(answer)
        texts = {run.start: run.part.long_text for run in shown_runs(answer) if isinstance(run.part, Text | Thought)}
        files = AnswerFiles(MESSAGE_ID, OWNER, answer.parts)
        for index, rendered in self.live.rendered_texts().items():
            options = text_options(MESSAGE_ID, index, OWNER, files.before(index))
            assert rendered == RenderedText(*split_markdown(texts[index], options))
        status = self.page.ids[f"message-{MESSAGE_ID}-status"].html()
        assert status == status_html(answer_view(TURN.message, TURN, answer))


def shown_runs(answer: Answer) -> list[PartRun]:
    """Return the runs of parts that pages show: adjoining texts are one run."""
    return [*part_runs(answer.parts, {one.part_index for one in answer.attachments})]


def render_whole(answer: Answer) -> str:
    """Render all parts as a reload does."""
    return "".join(map(part_html, answer_view(TURN.message, TURN, answer).parts))
