"""The login check of views that only take POST."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from chat.people.access import SignedInRequest

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]


def login_required_post(view: View[P]) -> View[P]:
    """Decorate a view that only takes POST so that it requires a login.

    A person who is not logged in is sent to the login, and then back to the page with the form, because the view's own
    URL shows no page.
    """
    post_view = require_POST(view)

    @wraps(view)
    def wrapped(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(_referring_path(request))
        return post_view(request, *args, **kwargs)

    return wrapped


def _referring_path(request: HttpRequest) -> str:
    """Return the path and query of the page of this site that sent the request; otherwise the path of the home page."""
    referrer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referrer, {request.get_host()}, require_https=request.is_secure()):
        return "/"
    url = urlsplit(referrer)
    return f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
