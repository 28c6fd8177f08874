"""URLs of the API, of its documentation, and of the page where users manage their tokens."""

from __future__ import annotations

from django.urls import include, path

from chat.api import problems, token_pages
from chat.api.views import attachments, conversations, documentation, feedback, transfers, turns

calls = [
    path("conversations/", conversations.Conversations.as_view(), name="api-conversations"),
    path("conversations/<uuid:conversation_id>/", conversations.ConversationDetail.as_view(), name="api-conversation"),
    path(
        "conversations/<uuid:conversation_id>/messages/",
        conversations.ConversationMessages.as_view(),
        name="api-messages",
    ),
    path("conversations/<uuid:conversation_id>/turns/", turns.ConversationTurns.as_view(), name="api-turns"),
    path(
        "conversations/<uuid:conversation_id>/export/<slug:format>/",
        transfers.ConversationExport.as_view(),
        name="api-conversation-export",
    ),
    path("messages/<uuid:message_id>/feedback/", feedback.MessageFeedback.as_view(), name="api-message-feedback"),
    path("turns/<uuid:turn_id>/", turns.TurnDetail.as_view(), name="api-turn"),
    path("turns/<uuid:turn_id>/stop/", turns.TurnStop.as_view(), name="api-turn-stop"),
    path("turns/<uuid:turn_id>/events/", turns.TurnEvents.as_view(), name="api-turn-events"),
    path("attachments/", attachments.Attachments.as_view(), name="api-attachments"),
    path("attachments/<uuid:attachment_id>/", attachments.AttachmentDetail.as_view(), name="api-attachment"),
    path(
        "attachments/<uuid:attachment_id>/content/",
        attachments.AttachmentContent.as_view(),
        name="api-attachment-content",
    ),
    path("export/", transfers.Export.as_view(), name="api-export"),
    path("import/", transfers.Import.as_view(), name="api-import"),
]

urlpatterns = [
    path("api/v1/", include(calls)),
    path("api/schema/", documentation.schema, name="api-schema"),
    path("api/docs/", documentation.docs, name="api-docs"),
    path("api/<path:rest>", problems.not_found),
    path("accounts/tokens/", token_pages.tokens, name="account_tokens"),
    path("accounts/tokens/<int:token_id>/revoke/", token_pages.token_revoke, name="account_token_revoke"),
]
