"""Two-step login: stored secrets are encrypted with SECRET_KEY, and a login that waits for its code can end."""

from __future__ import annotations

import base64
import hashlib
import secrets

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

CODE_ACCEPTED = "code_accepted_of"
"""Attribute of a request of the first step: the id of the user whose code was accepted with the password."""

SECRET_BYTES = 20
"""Length in bytes of the secret that an authenticator app holds. As text, it is written in Base32."""


def _cipher() -> Fernet:
    key = hashlib.sha256(f"plotline two-step login {settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


class SecondStepAdapter(DefaultMFAAdapter):
    """allauth's default adapter, with encryption: a copy of the database does not reveal the second step."""

    def encrypt(self, text: str) -> str:
        """Return the encrypted text, which is stored."""
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return the stored text. With another SECRET_KEY the result is a random secret, so that no code is correct.

        An empty text would be a secret, too: anybody could compute its codes.
        """
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


class SetUpView(ActivateTOTPView):
    """allauth's page on which a person turns two-step login on.

    If two browsers do so at once, the second one gets an error.
    """

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        """Show the page, or turn two-step login on, unless another browser has done so."""
        if request.method == "POST" and is_mfa_enabled(request.user, [Authenticator.Type.TOTP]):
            return self._refuse(request)
        try:
            response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        except IntegrityError:
            return self._refuse(request)
        return response

    def _refuse(self, request: HttpRequest) -> HttpResponse:
        sentence = gettext(
            "Two-step login was turned on in another browser meanwhile. The key that you have seen here does not work:"
            " use the other one, and remove this one from your app."
        )
        messages.error(request, sentence)
        return redirect("mfa_index")


class SecondStepStage(AuthenticateStage):
    """allauth's second step of a login, which ends if the password of the first step is no longer valid.

    allauth lets a login wait for its code for 15 minutes. A new password ends the sessions of a user, but this session
    belongs to no user yet, so the login itself remembers which password was accepted.
    """

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """If a code is needed, store with the login which password was accepted. Called after the first step.

        `AccountAdapter` has checked a code together with the password, if the account is limited.
        """
        if getattr(self.request, CODE_ACCEPTED, None) == self.login.user.pk:
            return None, True
        response, goes_on = super().handle()
        if response is not None:
            self.state["password"] = self.login.user.get_session_auth_hash()
        return response, goes_on

    def exit(self) -> HttpResponse:
        """Return the response to a correct code.

        If the password was changed since the first step, end the login and ask for the new password.
        """
        is_current = constant_time_compare(self.state.get("password", ""), self.login.user.get_session_auth_hash())
        if not is_current:
            messages.error(self.request, "Your password was changed during this login. Log in with the new one.")
        response: HttpResponse = super().exit() if is_current else self.abort()
        return response
