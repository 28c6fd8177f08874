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
from chat.models.feedback import REASON_LIMIT, Feedback, NoFeedbackHere
from chat.models.imported import ImportedConversation
from chat.models.reviews import AccessEntry, Decision, Label, Review, State, Verdict
from chat.models.tokens import ApiToken

__all__ = [
    "REASON_LIMIT",
    "AccessEntry",
    "ApiToken",
    "Conversation",
    "ConversationQuerySet",
    "Decision",
    "Feedback",
    "ImportedConversation",
    "Instruction",
    "Label",
    "LanguageModel",
    "Message",
    "MessageAttachment",
    "NoFeedbackHere",
    "Page",
    "Part",
    "Place",
    "Preset",
    "ProviderFile",
    "Review",
    "State",
    "Turn",
    "TurnEvent",
    "Verdict",
]
