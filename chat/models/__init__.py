"""Database rows: people, conversations, turns, Python sessions, the catalogue of models, reviews."""

from __future__ import annotations

from chat.models import release as release
from chat.models.access_log import AccessEntry
from chat.models.catalogue import Instruction, LanguageModel, Preset
from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet, ListPosition, Page
from chat.models.endpoints import ENDPOINT_PROVIDER, EndpointModel, ModelEndpoint
from chat.models.feedback import REASON_LIMIT, Feedback, FeedbackNotAllowed
from chat.models.imports import ImportedConversation, ImportJob, ImportPiece
from chat.models.logins import LoginSession
from chat.models.message import CLEARED_INDEX, Message, MessageAttachment, Part, ProviderFile, RefusedFile
from chat.models.newer_file_runs import NewerFileRun
from chat.models.number_ledgers import NumberLedger
from chat.models.projects import Project, ProjectFile, ProjectQuerySet, ProjectRefused
from chat.models.python_sessions import PythonSession
from chat.models.quotas import Quota, QuotaUse, RunningExport
from chat.models.reviews import Label, Review, ReviewDecision, ReviewState, Verdict
from chat.models.shared_counts import SharedCount
from chat.models.shares import Share, ShareQuerySet, ShareRefused
from chat.models.tokens import ApiToken
from chat.models.turn import CallDecision, Round, Turn, TurnEvent
from chat.models.user import User

__all__ = [
    "CLEARED_INDEX",
    "ENDPOINT_PROVIDER",
    "REASON_LIMIT",
    "AccessEntry",
    "ApiToken",
    "CallDecision",
    "Conversation",
    "ConversationQuerySet",
    "EndpointModel",
    "Feedback",
    "FeedbackNotAllowed",
    "ImportJob",
    "ImportPiece",
    "ImportedConversation",
    "Instruction",
    "Label",
    "LanguageModel",
    "ListPosition",
    "LoginSession",
    "Message",
    "MessageAttachment",
    "ModelEndpoint",
    "NewerFileRun",
    "NumberLedger",
    "Page",
    "Part",
    "Preset",
    "Project",
    "ProjectFile",
    "ProjectQuerySet",
    "ProjectRefused",
    "ProviderFile",
    "PythonSession",
    "Quota",
    "QuotaUse",
    "RefusedFile",
    "Review",
    "ReviewDecision",
    "ReviewState",
    "Round",
    "RunningExport",
    "Share",
    "ShareQuerySet",
    "ShareRefused",
    "SharedCount",
    "Turn",
    "TurnEvent",
    "User",
    "Verdict",
]
