"""URLs of pages."""

from __future__ import annotations

from django.urls import include, path

from chat import views

urlpatterns = [
    path("", include("chat.transfers")),
    path("", views.home, name="home"),
    path("conversations/", views.conversations, name="conversations"),
    path("accounts/readings/", views.readings, name="account_readings"),
    path("c/new/", views.conversation_new, name="conversation-new"),
    path("c/<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/rename/", views.conversation_rename, name="conversation-rename"),
    path("c/<uuid:conversation_id>/settings/", views.conversation_settings, name="conversation-settings"),
    path("c/<uuid:conversation_id>/marks/", views.conversation_marks, name="conversation-marks"),
    path("c/<uuid:conversation_id>/delete/", views.conversation_delete, name="conversation-delete"),
    path(
        "c/<uuid:conversation_id>/messages/<uuid:message_id>/feedback/", views.message_feedback, name="message-feedback"
    ),
]
