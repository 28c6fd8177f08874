"""Forms of the login. They are stricter than allauth's: codes work once, and mail goes to confirmed addresses."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from allauth.account import forms
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.mfa.utils import decrypt
from django.db import connection
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import get_language, gettext, override

from chat.models import User

logger = logging.getLogger(__name__)

RESPONSE_TIME_S = 1.0
"""Seconds after which a response has been sent, with a large margin."""


class LoginForm(forms.LoginForm):
    """The first step. The first field has the focus, because there is nothing else to do on the page."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Set the focus and the label in the product's style."""
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True
        self.fields["remember"].label = gettext("Remember me")


class CodeOnceForm(BaseAuthenticateForm):
    """Accepts each code of an app once, and none that is older than the last accepted one.

    allauth remembers accepted codes in the memory of one process, and for a shorter time than they are valid. The
    database remembers them for all processes.
    """

    authenticator: Authenticator

    def clean_code(self) -> str:
        """Return the code. Raise ValidationError if it is wrong or was accepted before."""
        code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not claim_code(self.authenticator, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class SecondStepForm(CodeOnceForm, AuthenticateForm):
    """The second step of a login."""


class SecondStepConfirmationForm(CodeOnceForm, ReauthenticateForm):
    """The confirmation of who is logged in."""


def claim_code(authenticator: Authenticator, code: str) -> bool:
    """Store the time step of a correct code. Return False if the code, or a later one, was accepted before."""
    secret = decrypt(authenticator.data["secret"])
    values = {step: format_hotp_value(hotp_value(secret, step)) for step in yield_hotp_counters_from_time()}
    step = next((step for step, value in values.items() if compare_user_code(actual=code, expected=value)), None)
    if step is None:
        # Its time has ended since allauth checked it.
        return False
    is_newer = Q(data__last_step__isnull=True) | Q(data__last_step__lt=step)
    rows = Authenticator.objects.filter(is_newer, pk=authenticator.pk)
    return bool(rows.update(data={**authenticator.data, "last_step": step}))


class ConfirmedResetForm(forms.ResetPasswordForm):
    """Asks for a link to a new password. allauth would also mail it to an address that nobody has confirmed."""

    users: list[User]

    def clean_email(self) -> str:
        """Return the address. `save` looks for its accounts, because a look-up would also take time."""
        address: str = self.cleaned_data["email"]
        return address

    def save(self, request: HttpRequest, **kwargs: object) -> str:
        """Have the link mailed after the response, and return the address.

        The response takes the same time for every address. Otherwise anybody could learn whose addresses are known.
        """
        language = get_language()
        run_after_response(lambda: self._send(request, language, **kwargs))
        address: str = self.cleaned_data["email"]
        return address

    def _send(self, request: HttpRequest, language: str | None, **kwargs: object) -> None:
        """Mail a link to the accounts that have confirmed the address, or got it from staff."""
        address = super().clean_email()
        rows = EmailAddress.objects.filter(user__in=self.users, email__iexact=address, verified=True)
        confirmed = set(rows.values_list("user_id", flat=True))
        self.users = [user for user in self.users if user.pk in confirmed or user.email.lower() == address.lower()]
        # `AccountAdapter.send_mail` has logged why a mail could not be sent. There is no page that could show it.
        with context.request_context(request), override(language), suppress(ImmediateHttpResponse):
            super().save(request, **kwargs)


def run_after_response(action: Callable[[], None]) -> None:
    """Call a function in a thread. An error is logged.

    The thread waits until the response has been sent, because its work would delay the response. It is not a daemon, so
    a process that ends waits for it.
    """
    timer = threading.Timer(RESPONSE_TIME_S, _run_and_close, [action])
    timer.daemon = False
    timer.start()


def _run_and_close(action: Callable[[], None]) -> None:
    try:
        action()
    except Exception:
        logger.exception("an action after a response failed")
    finally:
        connection.close()
