"""The overview page: charts of usage, cost, failures and uploads for operators."""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from chat.admin.statistics.charts import build_charts
from chat.admin.statistics.queries import read_overview
from chat.people.account.number_format import format_dollars
from chat.vocabulary.number_text import group_thousands

PERIODS_DAYS = (7, 30, 90)
DEFAULT_DAYS = 30


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Render the page. The URL parameter `days` is one of `PERIODS_DAYS`; any other value means `DEFAULT_DAYS`."""
    if not request.user.has_perm("chat.view_overview"):
        raise PermissionDenied
    requested = request.GET.get("days", "")
    days = next((days for days in PERIODS_DAYS if requested == str(days)), DEFAULT_DAYS)
    statistics = read_overview(days, timezone.now())
    total = statistics.total_usage
    context = {
        **admin.site.each_context(request),
        "title": gettext("Overview"),
        "overview": statistics,
        "charts": build_charts(statistics),
        "periods": PERIODS_DAYS,
        "period": days,
        "turns": group_thousands(total.turns),
        "cost": format_dollars(total.cost),
        "tokens": group_thousands(total.tokens),
        "estimated": group_thousands(total.estimated_tokens) if total.estimated_tokens else "",
    }
    return render(request, "admin/overview.html", context)
