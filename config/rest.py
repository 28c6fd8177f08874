"""Settings of Django REST framework and of drf-spectacular, which describes the API."""

from __future__ import annotations

from typing import Any

from config.env import Env

env = Env()

#: Calls of the REST API that one user may make per minute on one server process. Some requests of pages count, too.
API_CALLS_PER_MINUTE = env.integer("API_CALLS_PER_MINUTE", 600, minimum=1)
#: Maximum number of these calls that start a turn or code of a session, decide, upload a file or import conversations.
#: Also the maximum number of accounts created from one address.
API_WRITES_PER_MINUTE = env.integer("API_WRITES_PER_MINUTE", 60, minimum=1)

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "chat.api.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["chat.api.parsers.LimitedJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "chat.api.negotiation.FixedContentNegotiation",
    "DEFAULT_THROTTLE_CLASSES": ["chat.people.quotas.throttles.CallThrottle"],
    "DEFAULT_SCHEMA_CLASS": "chat.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "chat.api.problems.handle_exception",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Plotline",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": "Conversations with Gemini whose answers run code and show their graphs.",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Requests and responses differ: a field may be required in responses only, and a file is binary in requests only.
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "ApprovalKind": "chat.messages.approval.ApprovalKind",
        "ConversationApproval": "chat.models.Conversation.Approval",
        "AttachmentStatus": "attachments.models.Attachment.Status",
        "CodeExecution": "chat.models.Conversation.CodeExecution",
        "ConversationEngine": "chat.models.Conversation.Engine",
        "Engine": "chat.vocabulary.parts.Engine",
        "Finish": "chat.vocabulary.stream_events.Finish",
        "PartKind": "chat.vocabulary.parts.PartKind",
        "Refusal": "chat.vocabulary.parts.Refusal",
        "PythonSessionState": "chat.models.PythonSession.State",
        "Role": "chat.vocabulary.parts.Role",
        "RerunVerdict": "chat.python.reruns.verdicts.Verdict",
        "TurnStatus": "chat.models.Turn.Status",
    },
}
