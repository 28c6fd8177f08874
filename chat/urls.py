"""URLs of pages."""

from __future__ import annotations

from django.urls import include, path

from chat.library import conversation_views as views
from chat.library import list_views

urlpatterns = [
    path("", include("chat.library.export_import_views")),
    path("", include("chat.library.upload_views")),
    path("", include("chat.library.command_views")),
    path("", include("chat.library.creation_views")),
    path("", include("chat.library.preview_views")),
    path("", include("chat.library.number_views")),
    path("", include("chat.library.newer_file_views")),
    path("", include("chat.library.share_views")),
    path("", include("chat.library.project_views")),
    path("", views.home, name="home"),
    path("conversations/", list_views.conversations, name="conversations"),
    path("conversations/states/", list_views.conversation_states, name="conversation-states"),
    path("gallery/", views.graphs, name="graphs"),
    path("accounts/readings/", views.readings, name="account_readings"),
    path("c/<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/rename/", list_views.conversation_rename, name="conversation-rename"),
    path("c/<uuid:conversation_id>/settings/", views.conversation_settings, name="conversation-settings"),
    path("c/<uuid:conversation_id>/gallery/", views.graphs, name="conversation-graphs"),
    path("c/<uuid:conversation_id>/session/", views.conversation_session, name="conversation-session"),
    path("c/<uuid:conversation_id>/marks/", list_views.conversation_marks, name="conversation-marks"),
    path("c/<uuid:conversation_id>/read/", list_views.conversation_read, name="conversation-read"),
    path("c/<uuid:conversation_id>/delete/", list_views.conversation_delete, name="conversation-delete"),
    path("c/<uuid:conversation_id>/restore/", list_views.conversation_restore, name="conversation-restore"),
    path("messages/<uuid:message_id>/text/", views.message_text, name="message-text"),
    path(
        "messages/<uuid:message_id>/parts/<int:part>/blocks/<int:number>/", views.message_blocks, name="message-blocks"
    ),
    path(
        "c/<uuid:conversation_id>/messages/<uuid:message_id>/feedback/", views.message_feedback, name="message-feedback"
    ),
]
