"""URLs of the API, of its documentation, and of the page where users manage their tokens."""

from __future__ import annotations

from django.urls import include, path, register_converter
from django.urls.converters import PathConverter

from chat.api import problems, token_pages
from chat.api.views import (
    attachments,
    code,
    conversations,
    documentation,
    exports_and_imports,
    feedback,
    files,
    limits,
    newer_files,
    numbers,
    projects,
    sessions,
    shares,
    tables,
    turns,
)
from chat.page.queued_views import ended_with_client


class AnyPathConverter(PathConverter):
    """Matches any path, also one with line breaks, which Django's own converter does not."""

    regex = "(?s:.+)"


register_converter(AnyPathConverter, "any_path")

calls = [
    path("conversations/", conversations.Conversations.as_view(), name="api-conversations"),
    path("conversations/<uuid:conversation_id>/", conversations.ConversationDetail.as_view(), name="api-conversation"),
    path(
        "conversations/<uuid:conversation_id>/messages/",
        conversations.ConversationMessages.as_view(),
        name="api-messages",
    ),
    path(
        "conversations/<uuid:conversation_id>/shares/",
        shares.ConversationShares.as_view(),
        name="api-conversation-shares",
    ),
    path("projects/", projects.Projects.as_view(), name="api-projects"),
    path("projects/<uuid:project_id>/", projects.ProjectDetail.as_view(), name="api-project"),
    path("projects/<uuid:project_id>/files/", projects.ProjectFiles.as_view(), name="api-project-files"),
    path(
        "projects/<uuid:project_id>/files/<uuid:attachment_id>/",
        projects.ProjectFileDetail.as_view(),
        name="api-project-file",
    ),
    path("shares/<uuid:share_id>/", shares.ShareDetail.as_view(), name="api-share"),
    path("conversations/<uuid:conversation_id>/turns/", turns.ConversationTurns.as_view(), name="api-turns"),
    path(
        "conversations/<uuid:conversation_id>/export/<slug:format>/",
        ended_with_client(exports_and_imports.ConversationExport.as_view()),
        name="api-conversation-export",
    ),
    path("conversations/<uuid:conversation_id>/session/run/", code.SessionRun.as_view(), name="api-session-run"),
    path("messages/<uuid:message_id>/parts/<int:index>/rerun/", code.PartRerun.as_view(), name="api-rerun"),
    path(
        "messages/<uuid:message_id>/parts/<int:index>/rerun/stop/",
        code.PartRerunStop.as_view(),
        name="api-rerun-stop",
    ),
    path(
        "conversations/<uuid:conversation_id>/session/",
        sessions.ConversationSession.as_view(),
        name="api-session",
    ),
    # Accept a slash at the end, because all other addresses have one. This path is first: the next one matches slashes.
    path("conversations/<uuid:conversation_id>/session/files/<path:name>/", sessions.SessionFile.as_view(schema=None)),
    path(
        "conversations/<uuid:conversation_id>/session/files/<path:name>",
        sessions.SessionFile.as_view(),
        name="api-session-file",
    ),
    path(
        "conversations/<uuid:conversation_id>/session/interrupt/",
        sessions.SessionInterrupt.as_view(),
        name="api-session-interrupt",
    ),
    path(
        "conversations/<uuid:conversation_id>/session/restart/",
        sessions.SessionRestart.as_view(),
        name="api-session-restart",
    ),
    path(
        "conversations/<uuid:conversation_id>/session/close/",
        sessions.SessionClose.as_view(),
        name="api-session-close",
    ),
    path(
        "conversations/<uuid:conversation_id>/session/keep/",
        sessions.SessionKeep.as_view(),
        name="api-session-keep",
    ),
    path(
        "conversations/<uuid:conversation_id>/session/replay/",
        code.SessionReplay.as_view(),
        name="api-session-replay",
    ),
    path("conversations/<uuid:conversation_id>/newer-files/", newer_files.NewerFiles.as_view(), name="api-newer-files"),
    path("newer-files/<uuid:run_id>/", newer_files.NewerFileRunDetail.as_view(), name="api-newer-file-run"),
    path("messages/<uuid:message_id>/files/<path:name>/keep/", files.FileKeep.as_view(), name="api-keep-file"),
    path("messages/<uuid:message_id>/numbers/", numbers.MessageNumbers.as_view(), name="api-message-numbers"),
    path("messages/<uuid:message_id>/feedback/", feedback.MessageFeedback.as_view(), name="api-message-feedback"),
    path("turns/<uuid:turn_id>/", turns.TurnDetail.as_view(), name="api-turn"),
    path("turns/<uuid:turn_id>/stop/", turns.TurnStop.as_view(), name="api-turn-stop"),
    path("turns/<uuid:turn_id>/approval/", turns.TurnApproval.as_view(), name="api-turn-approval"),
    path("turns/<uuid:turn_id>/events/", turns.TurnEvents.as_view(), name="api-turn-events"),
    path("attachments/", attachments.Attachments.as_view(), name="api-attachments"),
    path("attachments/<uuid:attachment_id>/", attachments.AttachmentDetail.as_view(), name="api-attachment"),
    path(
        "attachments/<uuid:attachment_id>/content/",
        attachments.AttachmentContent.as_view(),
        name="api-attachment-content",
    ),
    path("attachments/<uuid:attachment_id>/table/", tables.AttachmentTable.as_view(), name="api-attachment-table"),
    path("export/", exports_and_imports.Export.as_view(), name="api-export"),
    path("import/", exports_and_imports.Import.as_view(), name="api-import"),
    path("limits/", limits.Limits.as_view(), name="api-limits"),
]

urlpatterns = [
    path("api/v1/", include(calls)),
    path("api/schema/", documentation.schema, name="api-schema"),
    path("api/docs/", documentation.docs, name="api-docs"),
    path("api/<any_path:rest>", problems.not_found),
    path("accounts/tokens/", token_pages.tokens, name="account_tokens"),
    path("accounts/tokens/after-reset/", token_pages.tokens_after_reset, name="account_tokens_after_reset"),
    path("accounts/tokens/revoke/", token_pages.token_revoke_all, name="account_tokens_revoke"),
    path("accounts/tokens/<int:token_id>/revoke/", token_pages.token_revoke, name="account_token_revoke"),
]
