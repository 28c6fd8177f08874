"""The overview: charts of how the product is used and how it is, for its operators."""

from __future__ import annotations

import os
import socket

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from chat.overview.charts import charts, dollars, whole
from chat.overview.reading import read_overview

PERIODS_DAYS = (7, 30, 90)
DEFAULT_DAYS = 30


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The page; `?days=` is one of PERIODS_DAYS."""
    if not request.user.has_perm("chat.view_overview"):
        raise PermissionDenied
    asked = request.GET.get("days", "")
    days = next((days for days in PERIODS_DAYS if asked == str(days)), DEFAULT_DAYS)
    found = read_overview(days, timezone.now())
    context = {
        **admin.site.each_context(request),
        "title": "Overview",
        "overview": found,
        "charts": charts(found),
        "periods": PERIODS_DAYS,
        "period": days,
        "turns": whole(found.total.turns),
        "cost": dollars(found.total.cost),
        "tokens": whole(found.total.tokens),
        "process": f"{socket.gethostname()}, process {os.getpid()}",
    }
    return render(request, "admin/overview.html", context)
