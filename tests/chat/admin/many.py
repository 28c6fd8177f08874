"""Many conversations at once, of a few people, some with a question, an answer and its turn."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.utils import timezone

from attachments.models import Attachment
from chat.models import Conversation, Feedback, Message, MessageAttachment, Part, Review, State, Turn
from chat.parts import PartKind, Role
from tests.factories import make_user

PEOPLE = 10
TEXT = "The result of the third run is lower than that of the second, as the figure shows. "


def make_conversations(count: int) -> list[Conversation]:
    """Every 4th has an answer, of which every 20th has a graph, a failed run and is good; every 10th is reviewed.

    The newest is the last.
    """
    people = [make_user() for _ in range(PEOPLE)]
    start = timezone.now() - timedelta(days=30)
    conversations = [
        Conversation(owner=people[number % PEOPLE], title=f"Conversation {number}", model="plotline-demo")
        for number in range(count)
    ]
    Conversation.objects.bulk_create(conversations)
    answered = conversations[::4]
    questions = [
        Message(conversation=each, index=0, role=Role.USER, text=f"Question {number}, please")
        for number, each in enumerate(answered)
    ]
    answers = [
        Message(conversation=each, index=1, parent=question, role=Role.MODEL, text=TEXT)
        for each, question in zip(answered, questions, strict=True)
    ]
    Message.objects.bulk_create([*questions, *answers])
    turns = [
        Turn(
            conversation=each,
            user_message=question,
            message=answer,
            status=Turn.Status.FAILED if number % 20 == 3 else Turn.Status.DONE,
            provider="gemini",
            model="plotline-demo",
            usage={"prompt": 100, "total": 100 + 100 * (number % 20)},
            ended_at=start,
        )
        for number, (each, question, answer) in enumerate(zip(answered, questions, answers, strict=True))
    ]
    Turn.objects.bulk_create(turns)
    special = answers[::20]
    Part.objects.bulk_create(
        Part(message=answer, index=0, kind=PartKind.CODE_EXECUTION_RESULT, outcome="OUTCOME_FAILED", text="no")
        for answer in special
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
        for answer in special
    ]
    Attachment.objects.bulk_create(graphs)
    MessageAttachment.objects.bulk_create(
        MessageAttachment(message=answer, attachment=graph, index=0)
        for answer, graph in zip(special, graphs, strict=True)
    )
    Feedback.objects.bulk_create(
        Feedback(message=answer, user=answer.conversation.owner, is_good=True) for answer in special
    )
    Review.objects.bulk_create(Review(conversation=each, state=State.IN_REVIEW) for each in conversations[::10])
    for number, each in enumerate(conversations):
        each.updated_at = start + timedelta(minutes=number)
    Conversation.objects.bulk_update(conversations, ["updated_at"], batch_size=500) if count < 1000 else None
    return conversations
