"""URL routes of the attachments app. `config.urls` has that of the upload, which the throttles of the API limit."""

from __future__ import annotations

from django.urls import path

from attachments import views

urlpatterns = [
    path("<uuid:attachment_id>/content/", views.content, name="attachment-content"),
]
