"""The page of the service that runs Python sessions: its state, and buttons that start and stop it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from chat.models import PythonSession
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.places import LocalService, ServiceStatus
from chat.python.sessions.places import current_place
from chat.vocabulary.sentences import translate_sentence


@dataclass(frozen=True, slots=True)
class ServiceView:
    """The state of the service, as the page shows it."""

    state: str
    error: str
    is_local: bool
    status: ServiceStatus | None = None
    """`None` if the service is remote or does not answer."""
    url: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
def kernel_service(request: HttpRequest) -> HttpResponse:
    """Show the service's state. POST with `command` `start` or `stop` changes it."""
    if not request.user.has_perm("chat.view_pythonsession"):
        raise PermissionDenied
    if request.method == "POST":
        _change(request, request.POST.get("command", ""))
        return redirect("admin-kernel-service")
    context = {
        **admin.site.each_context(request),
        "title": gettext("Python session service"),
        "service": _view(),
        "sessions": PythonSession.objects.alive().count(),
        "limit": settings.KERNELS_LIMIT,
        "may_change": request.user.has_perm("chat.end_pythonsession"),
    }
    return render(request, "admin/kernel_service.html", context)


def _view() -> ServiceView:
    place = current_place()
    if not isinstance(place, LocalService):
        return ServiceView("remote", "", is_local=False, url=settings.JUPYTER_GATEWAY_URL)
    try:
        status = place.status()
    except KernelsUnavailable as error:
        return ServiceView("unreachable", str(error), is_local=True)
    return ServiceView(status.state, status.error, is_local=True, status=status)


def _change(request: HttpRequest, command: str) -> None:
    if not request.user.has_perm("chat.end_pythonsession"):
        raise PermissionDenied
    place = current_place()
    if command not in ("start", "stop") or not isinstance(place, LocalService):
        messages.error(request, gettext("This service cannot be started or stopped from here."))
        return
    try:
        status = place.start() if command == "start" else place.stop()
    except KernelsUnavailable as error:
        messages.error(request, translate_sentence(error))
        return
    if status.error and status.state == "error":
        messages.error(request, translate_sentence(status.error))
    else:
        messages.success(request, gettext("The service is %(state)s.") % {"state": translate_sentence(status.state)})
