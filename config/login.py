"""Sign-up and login: an optional closed sign-up, and an admin login with the limits and steps of the normal login."""

from __future__ import annotations

import logging

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.core import context as current
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.db import IntegrityError, transaction
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from chat.models import User
from chat.people.access import AnyUser
from chat.people.quotas.pages import refusal
from config import former_names

logger = logging.getLogger(__name__)

ADMIN = "/admin/"


def is_signup_open() -> bool:
    """Return whether visitors may create an account."""
    return bool(settings.ALLOW_SIGNUP)


class AccountAdapter(DefaultAccountAdapter):
    """allauth's default adapter, with limits by name and address, and a sign-up that the operator can close."""

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: object) -> str:
        """Count failed logins by name and address together, so that nobody can lock out a person at another address."""
        return f"{super()._get_login_attempts_cache_key(request, **credentials)} {self.get_client_ip(request)}"

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether sign-up is open. allauth calls this before it shows the form and before it accepts it."""
        return is_signup_open()

    def save_user(self, request: HttpRequest, user: User, form: BaseForm, commit: bool = True) -> User:
        """Save a new account. Raise ImmediateHttpResponse with a page that says so if its name was taken meanwhile."""
        try:
            with transaction.atomic():
                saved: User = super().save_user(request, user, form, commit)
        except IntegrityError:
            # The form was checked before. Another sign-up has stored the name since.
            sentence = "A user with that username already exists."
            raise ImmediateHttpResponse(refusal(request, sentence, status=409)) from None
        return saved

    def send_mail(self, template_prefix: str, email: str, context: dict[str, object]) -> None:
        """Send a mail. Raise ImmediateHttpResponse with a page that says so if the mail server does not take it."""
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:
            # The text of the error may contain the address.
            logger.warning("a mail could not be sent: %s", type(error).__name__)
            sentence = "The mail could not be sent, because the mail server does not take it. Try again later."
            response = refusal(current.request, sentence, status=503)
            raise ImmediateHttpResponse(response) from None

    def post_login(self, request: HttpRequest, user: User, **kwargs: object) -> HttpResponse:
        """Return the redirect after a login.

        It leads to a page that can keep an account which is to be deleted, or that tells a renamed person the new name.
        """
        response: HttpResponse = super().post_login(request, user, **kwargs)
        if user.deletion_at:
            return redirect("account_delete")
        return redirect("account_profile") if request.session.pop(former_names.SESSION_KEY, False) else response

    def get_login_stages(self) -> list[str]:
        """Return the classes of the steps after the password, by dotted path, with our own second step."""
        stages: list[str] = super().get_login_stages()
        own = {"allauth.mfa.stages.AuthenticateStage": "config.second_step.SecondStepStage"}
        return [own.get(stage, stage) for stage in stages]

    def get_reauthentication_methods(self, user: AnyUser) -> list[dict[str, str]]:
        """Return the pages that confirm who is logged in. With two-step login, a password alone is not enough."""
        methods: list[dict[str, str]] = super().get_reauthentication_methods(user)
        return [method for method in methods if method["id"] == "mfa_reauthenticate"] or methods


def too_many_attempts(request: HttpRequest) -> HttpResponse:
    """Return the page after too many sign-ups or logins from one address. allauth's limits are for each minute."""
    sentence = "There were too many attempts from this address. Wait a minute, then try again."
    return refusal(request, sentence, status=429, retry_after_s=60)


class AdminLoginForm(AdminAuthenticationForm):
    """The admin's login form, authenticated by allauth.

    allauth counts failed logins for each address and user name, so the admin cannot be used to bypass those limits. Who
    has set up two-step login goes on to the second step of the normal login.
    """

    def clean(self) -> dict[str, object]:
        """Return the form's data.

        Raise ValidationError for a wrong name or password, for a user who is not staff, and after too many attempts.
        Raise ImmediateHttpResponse, which allauth's middleware returns, if a second step is needed.
        """
        username, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if username and password:
            self.user_cache = get_adapter(self.request).authenticate(self.request, username=username, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
            if is_mfa_enabled(self.user_cache):
                login = Login(user=self.user_cache, redirect_url=get_next_redirect_url(self.request) or ADMIN)
                credentials = {"username": username}
                raise ImmediateHttpResponse(perform_password_login(self.request, credentials, login))
            if self.request is not None and self.request.session.pop(former_names.SESSION_KEY, False):
                sentence = gettext("Your username is now “%(name)s”.") % {"name": self.user_cache.get_username()}
                messages.info(self.request, sentence)
        return self.cleaned_data
