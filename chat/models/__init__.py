"""Rows of conversations and of the catalogue of models."""

from __future__ import annotations

from chat.models.catalogue import Instruction, LanguageModel, Preset
from chat.models.conversation import (
    Conversation,
    ConversationQuerySet,
    Message,
    MessageAttachment,
    Page,
    Part,
    Place,
    ProviderFile,
    Turn,
    TurnEvent,
)
from chat.models.imported import ImportedConversation
from chat.models.tokens import ApiToken

__all__ = [
    "ApiToken",
    "Conversation",
    "ConversationQuerySet",
    "ImportedConversation",
    "Instruction",
    "LanguageModel",
    "Message",
    "MessageAttachment",
    "Page",
    "Part",
    "Place",
    "Preset",
    "ProviderFile",
    "Turn",
    "TurnEvent",
]
