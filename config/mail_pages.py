"""Pages that need mail: the address of an account, and a new password for people who have forgotten theirs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps

from allauth.account import views as accounts
from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.cache import never_cache

from chat.models import User

View = Callable[..., HttpResponse]


def is_mail_set_up() -> bool:
    """Return whether Plotline can send mail."""
    return bool(settings.EMAIL_URL)


def with_mail(view: View) -> View:
    """Decorate a view: it responds 404 if mail is not set up, and browsers do not store its page.

    The URL of a page may contain a key.
    """

    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not is_mail_set_up():
            raise Http404
        return view(request, *args, **kwargs)

    return wrapped


def email(request: HttpRequest) -> HttpResponse:
    """Show or change the address of the person's account."""
    if "action_primary" in request.POST:
        # Plotline's page has no button for this action, which would make an unconfirmed address the account's.
        raise Http404
    if isinstance(request.user, User):
        adopt_given_address(request.user)
    response: HttpResponse = accounts.email(request)
    return response


def adopt_given_address(user: User) -> None:
    """Store the address that staff entered as confirmed in allauth.

    allauth would treat it as unconfirmed, and delete it when the person adds another.
    """
    address = user.email.lower()
    # A primary address that is not confirmed was entered by the person.
    is_known = Q(verified=True) | Q(email=address, primary=True)
    if not address or EmailAddress.objects.filter(is_known, user=user).exists():
        return
    is_taken = EmailAddress.objects.filter(email=address, verified=True).exists()
    values = {"verified": not is_taken, "primary": not is_taken}
    user.email = address
    # Two pages of the person may do this at once.
    with suppress(IntegrityError), transaction.atomic():
        EmailAddress.objects.update_or_create(user=user, email=address, defaults=values)
        user.save(update_fields=["email"])


urlpatterns = [
    path("email/", with_mail(email), name="account_email"),
    path("email/confirm/<str:key>/", with_mail(accounts.confirm_email), name="account_confirm_email"),
    path("password/reset/", with_mail(accounts.password_reset), name="account_reset_password"),
    path("password/reset/sent/", with_mail(accounts.password_reset_done), name="account_reset_password_done"),
    path(
        "password/reset/done/",
        with_mail(accounts.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    # allauth builds its links with exactly this pattern.
    re_path(
        r"^password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
        with_mail(accounts.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
]
