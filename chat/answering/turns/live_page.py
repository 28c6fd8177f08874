"""The message of a live turn on open pages: makes frames of its stored changes."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import translation
from django.utils.safestring import SafeString

from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.store import StoreResult, TurnWrite
from chat.messages.answer import Answer
from chat.page.fragments import (
    EMPTY,
    delete_swap,
    join_html,
    message_html,
    partial,
    socket_message,
    title_swaps,
    usage_html,
)
from chat.page.message_views import MessageView, RenderedText
from chat.page.readers import OWNER
from chat.page.relay.frames import Announcement, NewRevision, Step
from chat.page.relay.live_message import LiveMessage
from chat.page.transcript.views import NO_TEXTS, answer_view, attachment_view, user_message_view
from chat.page.transcript.window import SNAPSHOT_MESSAGES

HIDDEN_LIMIT = SNAPSHOT_MESSAGES
"""The most messages that a frame removes one by one. If a new version hides more, pages read snapshots."""


class LivePage:
    """The state of one live turn on open pages."""

    def __init__(self, started: PlannedTurn, answer: Answer) -> None:
        self._started = started
        self._turn = started.turn
        self._turn_id, self._conversation_id = str(started.turn.pk), str(started.turn.conversation_id)
        self._answer = answer
        # The whole answer is written in one language, even if its owner chooses another one meanwhile.
        self._language = self._turn.conversation.owner.shown_language
        with translation.override(self._language):
            self._message = LiveMessage(self._turn, answer)
        self._is_known = True
        """False after a rendering error. From then on, pages read snapshots until the turn ends."""

    def opening(self) -> NewRevision | Announcement:
        """Return the frame that adds the question and its empty answer to the transcript."""
        started = self._started
        if len(started.hidden) > HIDDEN_LIMIT:
            return Announcement(self._conversation_id, self._turn.conversation.revision)
        content = join_html(delete_swap(f"message-{hidden}") for hidden in started.hidden)
        with translation.override(self._language):
            html = message_html(self._view())
            if started.has_question:
                files = [attachment_view(one, index, OWNER) for index, one in enumerate(started.attachments)]
                question = user_message_view(self._turn.user_message, files, OWNER, started.question_versions)
                html = message_html(question) + html
            content += partial("transcript", "beforeend", html)
            if started.names_conversation:
                content += title_swaps(self._turn.conversation)
        return NewRevision(
            conversation_id=self._conversation_id,
            revision=self._turn.conversation.revision,
            text=socket_message(content, turn=self._turn_id, seq=0),
            turn_id=self._turn_id,
            replaced_from=started.replaced.index if started.replaced else None,
        )

    def frame(self, write: TurnWrite, stored: StoreResult) -> Step | Announcement:
        """Return the frame of stored changes.

        The last frame contains the whole message, rendered as for a page that is loaded later.
        """
        if not (self._is_known or write.ending):
            return self.give_up()
        with translation.override(self._language):
            content = self._swaps(write, stored)
        return Step(
            conversation_id=self._conversation_id,
            revision=self._turn.conversation.revision,
            turn_id=self._turn_id,
            after=write.first_seq - 1,
            seq=write.last_seq,
            text=socket_message(content, turn=self._turn_id, seq=write.last_seq),
        )

    def _swaps(self, write: TurnWrite, stored: StoreResult) -> SafeString:
        swaps = self._message.update(write.changes) if self._is_known else EMPTY
        if write.ending or write.waits:
            texts = self._message.rendered_texts() if self._is_known else NO_TEXTS
            html = message_html(self._view(texts))
            swaps = partial(f"message-{self._turn.message_id}", "outerMorph", html)
        if stored.usage is not None:
            swaps += partial("conversation-usage", "outerMorph", usage_html(stored.usage))
        return swaps

    def give_up(self) -> Announcement:
        """Render nothing more until the end; return a frame that makes open pages read a snapshot."""
        self._is_known = False
        return Announcement(self._conversation_id, None)

    def _view(self, texts: Mapping[int, RenderedText] = NO_TEXTS) -> MessageView:
        return answer_view(self._turn.message, self._turn, self._answer, self._started.answer_versions, texts)
