"""URL routes of the attachments app."""

from __future__ import annotations

from django.urls import path

from attachments import views

urlpatterns = [
    path("", views.upload, name="attachment-upload"),
    path("<uuid:attachment_id>/content/", views.content, name="attachment-content"),
]
