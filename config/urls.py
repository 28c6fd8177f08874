"""Mounts each capability's URLs."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("attachments/", include("attachments.urls")),
    path("", include("chat.urls")),
]
