"""Sign-up and login: an optional closed sign-up, and an admin login with the limits and steps of the normal login."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import quote

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import EmailConfirmationHMAC, Login
from allauth.account.utils import get_next_redirect_url
from allauth.core import context as current
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.ratelimit import RateLimitUsage
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.db import IntegrityError, transaction
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from chat.api.token_pages import offer_revocation
from chat.models import User
from chat.people.access import AnyUser
from chat.people.quotas.pages import refusal
from config import former_names
from config.attempts import count_attempt, count_code, normalize_name
from config.known_browsers import find_browser
from config.mail_links import build_link
from config.notices import send_notice
from config.second_step import CODE_ACCEPTED
from config.second_step_codes import claim_code, find_authenticator

logger = logging.getLogger(__name__)

ACCOUNT_LIMITED = "account_limited"
"""Code of the error after too many failed logins to an account."""

ADMIN = "/admin/"


def is_signup_open() -> bool:
    """Return whether visitors may create an account."""
    return bool(settings.ALLOW_SIGNUP)


class AccountAdapter(DefaultAccountAdapter):
    """allauth's default adapter, with limits by name and address, and a sign-up that the operator can close."""

    error_messages: ClassVar = {
        **DefaultAccountAdapter.error_messages,
        ACCOUNT_LIMITED: gettext_lazy(
            "Too many logins to this account have failed today. Log in with a browser in which you have logged in to it"
            " before, or give a code of your authenticator app together with the password. Or try again tomorrow."
        ),
    }
    _account_attempt: RateLimitUsage | None = None

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address by which a client is limited.

        For IPv6 it is the /64 network, because one client has all of it.
        """
        address = ipaddress.ip_address(super().get_client_ip(request))
        if isinstance(address, ipaddress.IPv4Address):
            return str(address)
        return str(address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: object) -> str:
        """Return the key by which failed logins are counted: name and address together.

        So failed logins at one address do not lock out a person at another.

        A known browser counts by itself. allauth's key has the Host header, in which a client can write any port.
        """
        name = str(credentials.get("username", ""))
        browser = find_browser(request, User.objects.named(name))
        return f"{normalize_name(name)} {browser or self.get_client_ip(request)}"

    def pre_authenticate(self, request: HttpRequest, **credentials: object) -> None:
        """Count an attempt for address and account. Raise ValidationError if there were too many for the address.

        If there were too many for the account, raise it unless a code came, which `authenticate` checks.
        """
        super().pre_authenticate(request, **credentials)
        name = str(credentials.get("username", ""))
        self._account_attempt = count_attempt(request, "login_account", normalize_name(name), User.objects.named(name))
        if self._account_attempt is None and not request.POST.get("code"):
            raise self.validation_error(ACCOUNT_LIMITED)

    def authenticate(self, request: HttpRequest, **credentials: object) -> User | None:
        """Return the user if the credentials are right. Raise ValidationError if there were too many attempts."""
        user: User | None = super().authenticate(request, **credentials)
        if self._account_attempt is None:
            if not self._accept_code(request, str(credentials.get("username", "")), user):
                raise self.validation_error(ACCOUNT_LIMITED)
            super()._rollback_login_failed_rl_usage()
        elif user:
            self._account_attempt.rollback()
        if user and getattr(request, former_names.SESSION_KEY, False):
            request.session[former_names.SESSION_KEY] = True
        return user

    def _rollback_login_failed_rl_usage(self) -> None:
        """Do not count the attempt of a right password, unless the account is limited.

        allauth calls this before the code is checked. If only wrong passwords counted, the count would reveal the right
        one.
        """
        if self._account_attempt is not None:
            super()._rollback_login_failed_rl_usage()

    def _accept_code(self, request: HttpRequest, name: str, user: User | None) -> bool:
        """Return whether a valid code came with the right password. `user`: `None` if the password is wrong.

        The work is the same for a wrong and a right password. Only with a right one does the code count for the limit
        of the account, so strangers cannot use up this limit.
        """
        named = User.objects.named(name)
        address = self.get_client_ip(request)
        attempt = count_code(request, user) if user else count_attempt(request, "second_step", address, named)
        code = request.POST["code"]
        authenticator = find_authenticator(user or named, code)
        if not (user and attempt and authenticator and claim_code(authenticator, code)):
            return False
        attempt.rollback()
        setattr(request, CODE_ACCEPTED, user.pk)
        return True

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Return the name in the form that accounts store. Raises ValidationError if it is taken or not allowed."""
        name: str = super().clean_username(User.normalize_username(username), shallow)
        if not shallow and User.objects.named(name):
            raise self.validation_error("username_taken")
        return name

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether sign-up is open. allauth calls this before it shows the form and before it accepts it."""
        return is_signup_open()

    def save_user(self, request: HttpRequest, user: User, form: BaseForm, commit: bool = True) -> User:
        """Save a new account. If its name has just been taken, raise ImmediateHttpResponse with a page that says so."""
        try:
            with transaction.atomic():
                saved: User = super().save_user(request, user, form, commit)
        except IntegrityError:
            # The form was checked before. Another sign-up has stored the name since.
            sentence = "A user with that username already exists."
            raise ImmediateHttpResponse(refusal(request, sentence, status=409)) from None
        return saved

    def send_mail(self, template_prefix: str, email: str, context: dict[str, object]) -> None:
        """Send a mail. If the mail server does not take it, raise ImmediateHttpResponse with a page that says this."""
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:
            # The text of the error may contain the address.
            logger.warning("a mail could not be sent: %s", type(error).__name__)
            sentence = "The mail could not be sent, because the mail server does not take it. Try again later."
            response = refusal(current.request, sentence, status=503)
            raise ImmediateHttpResponse(response) from None

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: Mapping[str, object] | None = None,
        email: str | None = None,
    ) -> None:
        """Mail a notice about a change of the account to the person, if mail is set up. See `config.notices`."""
        if settings.EMAIL_URL:
            send_notice(self.request, template_prefix.rsplit("/", 1)[-1], user, context or {}, email)

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link in a mail that leads to a new password."""
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return build_link(self.request, path.replace("UID-KEY", quote(key)))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: EmailConfirmationHMAC) -> str:
        """Return the link in a mail that confirms an address."""
        return build_link(request, reverse("account_confirm_email", args=[emailconfirmation.key]))

    def post_login(self, request: HttpRequest, user: User, **kwargs: object) -> HttpResponse:
        """Return the redirect after a login.

        If the account is to be deleted, it leads to the page where the person can keep it. After a login with a former
        name, it leads to the page that shows the new one.
        """
        response: HttpResponse = super().post_login(request, user, **kwargs)
        if user.deletion_at:
            return redirect("account_delete")
        if request.session.pop(former_names.SESSION_KEY, False):
            return redirect("account_profile")
        return offer_revocation(request, user, response)

    def get_login_stages(self) -> list[str]:
        """Return the classes of the steps after the password, by dotted path, with Plotline's second step."""
        stages: list[str] = super().get_login_stages()
        own = {"allauth.mfa.stages.AuthenticateStage": "config.second_step.SecondStepStage"}
        return [own.get(stage, stage) for stage in stages]

    def get_reauthentication_methods(self, user: AnyUser) -> list[dict[str, str]]:
        """Return the pages that confirm who is logged in. With two-step login, a password alone is not enough."""
        methods: list[dict[str, str]] = super().get_reauthentication_methods(user)
        return [method for method in methods if method["id"] == "mfa_reauthenticate"] or methods


def too_many_attempts(request: HttpRequest) -> HttpResponse:
    """Return the page after too many requests from one address. Most limits of `ACCOUNT_RATE_LIMITS` are per minute."""
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
