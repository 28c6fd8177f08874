"""The answer to a request that names a host which is not one of `ALLOWED_HOSTS`."""

from __future__ import annotations

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request, override
from django.utils.translation import gettext as _
from django.views.defaults import bad_request


def refuse_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say what to set, in plain text: pages need the host. Other bad requests are answered as Django does."""
    if not isinstance(exception, DisallowedHost):
        return bad_request(request, exception)
    # The middleware that chooses the language comes later.
    with override(get_language_from_request(request)):
        sentence = _(
            "This server does not know the host name by which it was asked. Whoever runs it can add the name to"
            " ALLOWED_HOSTS, and a proxy in front must pass Host on."
        )
    return HttpResponse(f"{sentence}\n", status=400, content_type="text/plain; charset=utf-8")
