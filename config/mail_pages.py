"""Pages that need mail: the address of an account, and a new password for people who have forgotten theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.account import views as accounts
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, re_path

View = Callable[..., HttpResponse]


def is_mail_set_up() -> bool:
    """Return whether Plotline can send mail."""
    return bool(settings.EMAIL_URL)


def with_mail(view: View) -> View:
    """Decorate a view, which does not exist if no mail is sent."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not is_mail_set_up():
            raise Http404
        return view(request, *args, **kwargs)

    return wrapped


urlpatterns = [
    path("email/", with_mail(accounts.email), name="account_email"),
    path("email/confirm/<str:key>/", with_mail(accounts.confirm_email), name="account_confirm_email"),
    path("password/reset/", with_mail(accounts.password_reset), name="account_reset_password"),
    path("password/reset/sent/", with_mail(accounts.password_reset_done), name="account_reset_password_done"),
    path(
        "password/reset/done/",
        with_mail(accounts.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    # allauth fills in exactly this pattern.
    re_path(
        r"^password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
        with_mail(accounts.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
]
