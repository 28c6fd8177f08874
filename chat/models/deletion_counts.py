"""Counts what would be deleted with conversations or accounts, to be shown before a person confirms."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet

from attachments.models import Attachment
from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet
from chat.models.message import Message, MessageAttachment, Part
from chat.models.newer_file_runs import NewerFileRun


def attachments_only_of(conversations: ConversationQuerySet | QuerySet[Conversation]) -> QuerySet[Attachment]:
    """Return the attachments that no other conversation, run on a newer file or project has. They are deleted, too."""
    ids = conversations.order_by().values("pk")
    is_kept = ~Q(message__conversation__in=ids)
    links = MessageAttachment.objects.filter(attachment=OuterRef("pk"))
    parts = Part.objects.filter(attachment=OuterRef("pk"))
    runs = NewerFileRun.objects.filter(newer=OuterRef("pk"))
    return Attachment.objects.filter(
        Exists(links) | Exists(parts) | Exists(runs),
        ~Exists(links.filter(is_kept)),
        ~Exists(parts.filter(is_kept)),
        ~Exists(runs.exclude(conversation__in=ids)),
        project_files__isnull=True,
    )


def count_messages_and_files(conversations: QuerySet[Conversation]) -> tuple[int, int]:
    """Return how many messages and files are deleted with these conversations."""
    messages = Message.objects.filter(conversation__in=conversations.order_by().values("pk"))
    return messages.count(), attachments_only_of(conversations).count()


def count_of_accounts(user_ids: Collection[int]) -> tuple[int, int, int]:
    """Return how many conversations, messages and files are deleted with these accounts.

    Conversations that their owner has already deleted, and whose rows a thread will delete soon, are not counted.
    """
    conversations = Conversation.objects.filter(owner__in=user_ids)
    messages = Message.objects.filter(conversation__in=conversations)
    return conversations.count(), messages.count(), Attachment.objects.filter(owner__in=user_ids).count()
