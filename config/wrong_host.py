"""The response to a request whose Host header is not in `ALLOWED_HOSTS`."""

from __future__ import annotations

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request, override
from django.utils.translation import gettext as _
from django.views.defaults import bad_request


def refuse_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a plain text that says which setting to change. Pages need a valid host.

    Other bad requests get Django's response.
    """
    if not isinstance(exception, DisallowedHost):
        return bad_request(request, exception)
    # The middleware that chooses the language of pages has not run yet.
    with override(get_language_from_request(request)):
        sentence = _(
            "This server does not know the host name by which it was asked. Whoever runs it can add the name to"
            " ALLOWED_HOSTS, and a proxy in front must pass Host on."
        )
    return HttpResponse(f"{sentence}\n", status=400, content_type="text/plain; charset=utf-8")
