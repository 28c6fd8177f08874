"""Rows of conversations and of the catalogue of models."""

from __future__ import annotations

from chat.models.catalogue import Instruction, LanguageModel, Preset
from chat.models.conversation import (
    Conversation,
    ConversationQuerySet,
    Message,
    MessageAttachment,
    Part,
    ProviderFile,
    Turn,
    TurnEvent,
)

__all__ = [
    "Conversation",
    "ConversationQuerySet",
    "Instruction",
    "LanguageModel",
    "Message",
    "MessageAttachment",
    "Part",
    "Preset",
    "ProviderFile",
    "Turn",
    "TurnEvent",
]
