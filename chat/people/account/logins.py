"""The page that lists a person's logins, and the views that end them."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.account.signals import password_changed, password_reset, password_set
from django.contrib.auth.decorators import login_required
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.models import LoginSession, User
from chat.people.access import NotFound, SignedInRequest
from chat.people.account.user_agents import Device, describe
from chat.people.login_redirects import login_required_post


@dataclass(frozen=True, slots=True)
class Login:
    """One line of the page: a login."""

    session: LoginSession
    device: Device
    is_current: bool


@never_cache
@login_required
@require_safe
def logins(request: SignedInRequest) -> HttpResponse:
    """List the browsers in which the user is logged in, the present one first."""
    key = request.session.session_key
    sessions = LoginSession.objects.all().usable_by(request.user)
    found = [Login(session, describe(session.user_agent), session.pk == key) for session in sessions]
    found.sort(key=lambda login: not login.is_current)
    return render(request, "account/logins.html", {"logins": found, "has_others": len(found) > 1})


@login_required_post
def login_end(request: SignedInRequest, login_id: str) -> HttpResponse:
    """Log one browser of the user out. Its open pages notice that within seconds."""
    session = next((one for one in LoginSession.objects.filter(user=request.user) if one.public_id == login_id), None)
    if session is None:
        raise NotFound
    session.delete()
    return redirect("account_logins")


@login_required_post
def logins_end(request: SignedInRequest) -> HttpResponse:
    """Log all other browsers of the user out."""
    LoginSession.objects.all().end(request.user, but=request.session.session_key)
    return redirect("account_logins")


@receiver([password_changed, password_reset, password_set])
def end_other_logins(sender: object, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Delete the other sessions of a user who has set a new password."""
    LoginSession.objects.all().end(user, but=request.session.session_key)
