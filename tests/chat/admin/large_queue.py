"""Creates large review queues with bulk inserts."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.utils import timezone

from attachments.models import Attachment
from chat.models import Conversation, Feedback, Message, MessageAttachment, Part, Review, ReviewState, Turn
from chat.vocabulary.parts import OUTCOME_FAILED, CodeExecutionResult, Role
from tests.factories import make_user

OWNERS = 10
ANSWER_TEXT = "The result of the third run is lower than that of the second, as the figure shows. "


def make_large_queue(count: int) -> list[Conversation]:
    """Return `count` conversations of ten owners.

    Every 4th conversation has an answer, and every 20th of these answers has a graph, failed code and good feedback.
    Every 10th conversation is in review.
    """
    owners = [make_user() for _ in range(OWNERS)]
    conversations = [
        Conversation(owner=owners[number % OWNERS], title=f"Conversation {number}", model="plotline-demo")
        for number in range(count)
    ]
    Conversation.objects.bulk_create(conversations)
    answers = _make_answers(conversations[::4])
    _make_special_answers(answers[::20])
    Review.objects.bulk_create(
        Review(conversation=conversation, state=ReviewState.IN_REVIEW) for conversation in conversations[::10]
    )
    return conversations


def _make_answers(conversations: list[Conversation]) -> list[Message]:
    """Add a question, an answer and its turn to each conversation; one turn in 20 failed."""
    questions = [
        Message(conversation=conversation, index=0, role=Role.USER, text=f"Question {number}, please")
        for number, conversation in enumerate(conversations)
    ]
    answers = [
        Message(conversation=question.conversation, index=1, parent=question, role=Role.MODEL, text=ANSWER_TEXT)
        for question in questions
    ]
    Message.objects.bulk_create([*questions, *answers])
    ended_at = timezone.now() - timedelta(days=30)
    Turn.objects.bulk_create(
        Turn(
            conversation=answer.conversation,
            user_message=question,
            message=answer,
            status=Turn.Status.FAILED if number % 20 == 3 else Turn.Status.DONE,
            provider="gemini",
            model="plotline-demo",
            usage={"prompt": 100, "total": 100 + 100 * (number % 20)},
            ended_at=ended_at,
        )
        for number, (question, answer) in enumerate(zip(questions, answers, strict=True))
    )
    return answers


def _make_special_answers(answers: list[Message]) -> None:
    """Give each answer a failed code result, a graph and good feedback."""
    Part.objects.bulk_create(
        Part.from_value(CodeExecutionResult("no", OUTCOME_FAILED), index=0, message=answer) for answer in answers
    )
    graphs = [
        Attachment(
            owner=answer.conversation.owner,
            name="graph.png",
            mime_type="image/png",
            size_bytes=1,
            is_graph=True,
            sha256=hashlib.sha256(answer.pk.bytes).hexdigest(),
        )
        for answer in answers
    ]
    Attachment.objects.bulk_create(graphs)
    MessageAttachment.objects.bulk_create(
        MessageAttachment(message=answer, attachment=graph, index=0)
        for answer, graph in zip(answers, graphs, strict=True)
    )
    Feedback.objects.bulk_create(
        Feedback(message=answer, user=answer.conversation.owner, is_good=True) for answer in answers
    )
