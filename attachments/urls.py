"""Routes of the attachments app. The upload's route is in `config.urls`, because it uses the throttles of the API."""

from __future__ import annotations

from django.urls import path

from attachments import views

urlpatterns = [
    path("<uuid:attachment_id>/content/", views.content, name="attachment-content"),
]
