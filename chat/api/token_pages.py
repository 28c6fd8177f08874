"""The account pages that list API tokens, create one, and revoke one or all, also after a reset of the password."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

from allauth.account import app_settings
from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.account.signals import password_reset
from allauth.core.exceptions import ReauthenticationRequired
from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from chat.models import ApiToken, User
from chat.models.form_fields import PlainTextField, SentencesForm
from chat.models.tokens import TooManyTokens
from chat.people.access import NotFound, SignedInRequest
from chat.people.login_redirects import login_required_post
from chat.people.login_sessions import is_login_within

RESET_KEY = "password_was_reset_of"
"""Session key for the id of the user who has reset the password in this browser."""
LIFETIMES = {"30": "30 days", "90": "90 days", "365": "a year", "": "for ever"}
"""Days, or an empty text -> label."""


class NewTokenForm(SentencesForm):
    """The fields of a new token."""

    name = PlainTextField(
        max_length=100,
        error_messages={
            "required": "Give the token a name, so that you know later what it is for.",
            "max_length": "A name can have at most 100 characters.",
        },
    )
    days = forms.ChoiceField(
        choices=list(LIFETIMES.items()),
        required=False,
        error_messages={"invalid_choice": "Choose how long the token works."},
    )

    @property
    def lifetime(self) -> timedelta | None:
        """How long the token is valid; `None` if it never expires."""
        days: str = self.cleaned_data["days"]
        return timedelta(days=int(days)) if days else None


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables("secret")
def tokens(request: SignedInRequest) -> HttpResponse:
    """List the user's tokens; with POST, create one. Its secret is shown in this response and never again.

    Raise ReauthenticationRequired if `needs_confirmation` is true. allauth's middleware then asks for the password, or
    for a code if the account has two-step login, and repeats the request.
    """
    error = secret = ""
    if request.method == "POST":
        form = NewTokenForm(request.POST)
        if form.is_valid():
            if needs_confirmation(request):
                raise ReauthenticationRequired
            try:
                _, secret = ApiToken.objects.issue(request.user.pk, name=form.cleaned_data["name"], life=form.lifetime)
            except TooManyTokens as refusal:
                error = str(refusal)
        else:
            error = form.sentence()
    context = {
        "tokens": ApiToken.objects.filter(owner=request.user),
        "has_usable": ApiToken.objects.usable().filter(owner=request.user).exists(),
        "secret": secret,
        "error": error,
        "needs_confirmation": needs_confirmation(request),
        "lifetimes": LIFETIMES.items(),
    }
    return render(request, "account/tokens.html", context, status=400 if error else 200)


def needs_confirmation(request: SignedInRequest) -> bool:
    """Return whether the person must confirm who they are before a token is created.

    A token stays valid after the session has ended and after a new password, so an unattended browser must not be
    enough to create one. A login or a confirmation within `ACCOUNT_REAUTHENTICATION_TIMEOUT` (5 minutes) is enough.
    allauth alone counts only confirmations, so it would ask people who have just logged in.
    """
    limit = timedelta(seconds=app_settings.REAUTHENTICATION_TIMEOUT)
    is_required = is_reauthentication_required(request, app="allauth.account")
    return is_required and not is_login_within(request.session, limit)


@login_required_post
def token_revoke(request: SignedInRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    token = ApiToken.objects.filter(owner=request.user, pk=token_id).first()
    if token is None:
        raise NotFound
    token.revoke()
    return redirect("account_tokens")


@login_required_post
def token_revoke_all(request: SignedInRequest) -> HttpResponse:
    """Revoke all tokens of the user. A new password alone does not revoke them."""
    ApiToken.objects.usable().filter(owner=request.user).update(revoked_at=timezone.now())
    return redirect(_next_page(request) or "account_tokens")


@receiver(password_reset)
def remember_reset(sender: object, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Store in the session that the person has reset the password by mail. `offer_revocation` reads it at the login."""
    request.session[RESET_KEY] = user.pk


def offer_revocation(request: HttpRequest, user: User, response: HttpResponse) -> HttpResponse:
    """Return the redirect after a login: to `tokens_after_reset` if the person has reset the password and has tokens.

    That page comes after the login, because a link in a mail alone does not prove who it is if two-step login is on.
    `response`: the usual redirect, which is returned otherwise.
    """
    was_reset = request.session.pop(RESET_KEY, None) == user.pk
    if not was_reset or not ApiToken.objects.usable().filter(owner=user).exists():
        return response
    return redirect(f"{reverse('account_tokens_after_reset')}?{urlencode({'next': response.headers['Location']})}")


@never_cache
@login_required
@require_safe
def tokens_after_reset(request: SignedInRequest) -> HttpResponse:
    """List the usable tokens of the user, with a button that revokes them all."""
    context = {
        "tokens": ApiToken.objects.usable().filter(owner=request.user),
        "next": _next_page(request) or settings.LOGIN_REDIRECT_URL,
    }
    return render(request, "account/tokens_after_reset.html", context)


def _next_page(request: HttpRequest) -> str:
    """Return the URL in `next`, if it is on this site; otherwise empty."""
    url = request.POST.get("next") or request.GET.get("next", "")
    return url if url_has_allowed_host_and_scheme(url, {request.get_host()}, request.is_secure()) else ""
