"""URLs of pages."""

from __future__ import annotations

from django.urls import URLPattern, path
from django.http import HttpRequest, HttpResponse

urlpatterns: list[URLPattern] = [path("c/<uuid:pk>/", lambda request, pk: HttpResponse(), name="conversation")]
