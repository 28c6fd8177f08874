"""Makes the frames of a live turn for open pages: its question, and its stored changes."""

from __future__ import annotations

import logging
from itertools import chain

from django.utils import translation
from django.utils.safestring import SafeString

from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.store import StoreResult, TurnWrite
from chat.messages.answer import Answer
from chat.messages.changes import OutputCut, PartReplaced, PartStarted, TextAppended
from chat.models import Turn
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
from chat.page.readers import OWNER
from chat.page.relay.frames import Announcement, NewRevision, Step
from chat.page.relay.live_message import LiveMessage
from chat.page.transcript.views import NO_TEXTS, answer_view, attachment_view, user_message_view
from chat.page.transcript.window import SNAPSHOT_MESSAGES

logger = logging.getLogger(__name__)

HIDDEN_LIMIT = SNAPSHOT_MESSAGES
"""Maximum number of messages that a frame removes one by one. If a new version hides more, pages read snapshots."""


QUICK_LIMIT_CHARS = 2_000
"""Maximum length of text that is rendered on the event loop, which takes a few milliseconds. Longer text may contain
many formulas, each of which takes a few milliseconds.
"""


def is_quick(write: TurnWrite, answer: Answer) -> bool:
    """Return whether the frame of stored changes is rendered so quickly that the event loop may wait for it."""
    if write.ending or write.waits:
        return answer.size_chars <= QUICK_LIMIT_CHARS
    texts = (change.text for change in write.changes if isinstance(change, TextAppended | OutputCut))
    parts = (one.part.long_text for one in write.changes if isinstance(one, PartStarted | PartReplaced))
    return sum(map(len, chain(texts, parts))) <= QUICK_LIMIT_CHARS


def open_message(turn: Turn, answer: Answer) -> LiveMessage:
    """Return the message of a live turn as open pages show it. `answer`: the answer as far as it is stored."""
    with translation.override(_language(turn)):
        return LiveMessage(turn, answer)


def opening(started: PlannedTurn) -> NewRevision | Announcement:
    """Return the frame that adds the question and its empty answer to the transcript."""
    turn = started.turn
    conversation_id, turn_id = str(turn.conversation_id), str(turn.pk)
    if len(started.hidden) > HIDDEN_LIMIT:
        return Announcement(conversation_id, turn.conversation.revision)
    content = join_html(delete_swap(f"message-{hidden}") for hidden in started.hidden)
    with translation.override(_language(turn)):
        html = message_html(answer_view(turn.message, turn, Answer(), started.answer_versions))
        if started.has_question:
            files = [attachment_view(one, index, OWNER) for index, one in enumerate(started.attachments)]
            question = user_message_view(turn.user_message, files, OWNER, started.question_versions)
            html = message_html(question) + html
        content += partial("transcript", "beforeend", html)
        if started.names_conversation:
            content += title_swaps(turn.conversation)
    return NewRevision(
        conversation_id=conversation_id,
        revision=turn.conversation.revision,
        text=socket_message(content, turn=turn_id, seq=0),
        turn_id=turn_id,
        replaced_from=started.replaced.index if started.replaced else None,
    )


def frame(
    message: LiveMessage, started: PlannedTurn, answer: Answer, write: TurnWrite, stored: StoreResult
) -> Step | Announcement:
    """Return the frame of stored changes.

    The last frame contains the whole message, rendered as for a page that is loaded later. After an error, no frame is
    rendered until then: pages read snapshots.
    """
    turn = started.turn
    if message.is_known or write.ending:
        try:
            with translation.override(_language(turn)):
                content = _swaps(message, started, answer, write, stored)
            return Step(
                conversation_id=str(turn.conversation_id),
                revision=turn.conversation.revision,
                turn_id=str(turn.pk),
                after=write.first_seq - 1,
                seq=write.last_seq,
                text=socket_message(content, turn=str(turn.pk), seq=write.last_seq),
            )
        except Exception:
            # The changes are stored, so pages can read a snapshot.
            logger.exception("changes of turn %s could not be rendered", turn.pk)
            message.is_known = False
    return Announcement(str(turn.conversation_id), None)


def _swaps(
    message: LiveMessage, started: PlannedTurn, answer: Answer, write: TurnWrite, stored: StoreResult
) -> SafeString:
    turn = started.turn
    swaps = message.update(write.changes) if message.is_known else EMPTY
    if write.ending or write.waits:
        texts = message.rendered_texts() if message.is_known else NO_TEXTS
        html = message_html(answer_view(turn.message, turn, answer, started.answer_versions, texts))
        swaps = partial(f"message-{turn.message_id}", "outerMorph", html)
    if stored.usage is not None:
        swaps += partial("conversation-usage", "outerMorph", usage_html(stored.usage))
    return swaps


def _language(turn: Turn) -> str:
    """Return the language of the whole answer. It stays the same if the owner chooses another one meanwhile."""
    return turn.conversation.owner.shown_language
