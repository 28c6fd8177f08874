"""Database rows: people, conversations, turns, the catalogue of models, reviews."""

from __future__ import annotations

from chat.models.access_log import AccessEntry
from chat.models.catalogue import Instruction, LanguageModel, Preset
from chat.models.conversation import Conversation, ConversationQuerySet, ListPosition, Page
from chat.models.endpoints import ENDPOINT_PROVIDER, EndpointModel, ModelEndpoint
from chat.models.feedback import REASON_LIMIT, Feedback, FeedbackNotAllowed
from chat.models.imports import ImportedConversation
from chat.models.message import Message, MessageAttachment, Part, ProviderFile
from chat.models.reviews import Label, Review, ReviewDecision, ReviewState, Verdict
from chat.models.tokens import ApiToken
from chat.models.turn import Round, Turn, TurnEvent
from chat.models.user import User

__all__ = [
    "ENDPOINT_PROVIDER",
    "REASON_LIMIT",
    "AccessEntry",
    "ApiToken",
    "Conversation",
    "ConversationQuerySet",
    "EndpointModel",
    "Feedback",
    "FeedbackNotAllowed",
    "ImportedConversation",
    "Instruction",
    "Label",
    "LanguageModel",
    "ListPosition",
    "Message",
    "MessageAttachment",
    "ModelEndpoint",
    "Page",
    "Part",
    "Preset",
    "ProviderFile",
    "Review",
    "ReviewDecision",
    "ReviewState",
    "Round",
    "Turn",
    "TurnEvent",
    "User",
    "Verdict",
]
