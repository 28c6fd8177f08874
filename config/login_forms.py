"""Forms of the login. They are stricter than allauth's: codes work once, and mail goes to confirmed addresses."""

from __future__ import annotations

from contextlib import suppress

from allauth.account import forms
from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from django.core.exceptions import ValidationError
from django.forms import CharField, TextInput
from django.http import HttpRequest
from django.utils.translation import get_language, gettext, override

from chat.models import User
from config import after_response
from config.attempts import count_attempt, count_code
from config.login import ACCOUNT_LIMITED
from config.second_step_codes import claim_code, find_authenticator


class LoginForm(forms.LoginForm):
    """The first step. The first field has the focus, because there is nothing else to do on the page.

    While the account is limited for unknown browsers, there is a field for a code, too. `AccountAdapter` checks it
    together with the password, so that nobody learns which of them was wrong.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Set the focus and the label in the product's style."""
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True
        self.fields["remember"].label = gettext("Remember me")

    def clean_login(self) -> str:
        """Return the name as the account has it. The person may have typed letters of another width or Unicode form."""
        name: str = super().clean_login()
        user = User.objects.named(name)
        # Keep a former name as it was typed. In another case, it may be the name of another account.
        if user is None or user.username == name or User.objects.filter(former_username=name).exists():
            return name
        return user.username

    def clean(self) -> dict[str, object]:
        """Return the data. Raise ValidationError for a wrong name, password or code, and after too many of them."""
        try:
            data: dict[str, object] = super().clean()
        except ValidationError as error:
            if error.code == ACCOUNT_LIMITED:
                widget = TextInput(attrs={"autocomplete": "one-time-code", "maxlength": 20})
                self.fields["code"] = CharField(required=False, label=gettext("Code"), widget=widget)
                self.order_fields(["login", "password", "code", "remember"])
            raise
        return data


class CodeOnceForm(BaseAuthenticateForm):
    """Accepts each code once (`config.second_step_codes`), and limits wrong ones for the account.

    allauth's limit would not know the browser: whoever has stolen the password could lock out the person.
    """

    def clean_code(self) -> str:
        """Return the code. Raise ValidationError if it is wrong or was used before, and after too many wrong ones."""
        attempt = count_code(context.request, self.user)
        if attempt is None:
            raise get_account_adapter().validation_error("too_many_login_attempts")
        code: str = self.cleaned_data["code"]
        authenticator = find_authenticator(self.user, code)
        if authenticator is None or not claim_code(authenticator, code):
            raise get_adapter().validation_error("incorrect_code")
        attempt.rollback()
        authenticator.user = self.user
        self.authenticator = authenticator
        return code


class SecondStepForm(CodeOnceForm, AuthenticateForm):
    """The second step of a login."""


class SecondStepConfirmationForm(CodeOnceForm, ReauthenticateForm):
    """The confirmation of who is logged in."""


class ConfirmedResetForm(forms.ResetPasswordForm):
    """Asks for a link to a new password. allauth would also mail it to an address that nobody has confirmed."""

    users: list[User]

    def clean_email(self) -> str:
        """Return the address. `_send` looks for its accounts, because the time of a look-up here could reveal them."""
        address: str = self.cleaned_data["email"]
        return address

    def save(self, request: HttpRequest, **kwargs: object) -> str:
        """Have the link mailed after the response, and return the address.

        The response takes the same time for every address. Otherwise anybody could learn whose addresses are known.
        """
        language = get_language()
        after_response.run_after_response(lambda: self._send(request, language, **kwargs))
        address: str = self.cleaned_data["email"]
        return address

    def _send(self, request: HttpRequest, language: str | None, **kwargs: object) -> None:
        """Mail a link to the accounts whose address was confirmed, or entered by staff."""
        address = super().clean_email()
        rows = EmailAddress.objects.filter(user__in=self.users, email__iexact=address, verified=True)
        confirmed = set(rows.values_list("user_id", flat=True))
        self.users = [
            user
            for user in self.users
            if (user.pk in confirmed or user.email.lower() == address.lower()) and is_mail_allowed(request, user)
        ]
        # `AccountAdapter.send_mail` has logged why a mail could not be sent. There is no page that could show it.
        with context.request_context(request), override(language), suppress(ImmediateHttpResponse):
            super().save(request, **kwargs)


def is_mail_allowed(request: HttpRequest, user: User) -> bool:
    """Count a mail with a link to a new password. Return whether it may be sent.

    Strangers can use up what is sent for an account on one day, but not keep the person out: the mails that they caused
    have arrived at the person's address, with links that are valid for three days. Links become invalid by a login, a
    new password or a new address. Then the count begins anew. A browser that is known for the account has its own.
    """
    account = f"user {user.pk} {user.last_login} {user.password} {user.email}"
    return count_attempt(request, "reset_mail", account, user) is not None
