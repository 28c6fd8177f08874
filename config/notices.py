"""Mails about changes that could let somebody else take over the account."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, override

from chat.models import User
from chat.people.account.user_agents import describe
from config import after_response
from config.mail_links import build_link


def send_notice(
    request: HttpRequest, event: str, user: User, details: Mapping[str, object], email: str | None = None
) -> None:
    """Have a mail sent after the response, in the language of the person.

    `event`: allauth's name of the change, such as `password_changed`. `email`: the address, if it is not the one that
    the account has now. A new address gets the mail as well as the old one.
    """
    present = EmailAddress.objects.get_primary_email(user) or user.email
    addresses = {email or present or details.get("deleted_email"), details.get("to_email")} - {None, ""}
    values = {
        **details,
        "event": event,
        "user": user,
        "at": timezone.now(),
        "device": describe(request.headers.get("User-Agent", "")),
        "logins_url": build_link(request, reverse("account_logins")),
        "reset_url": build_link(request, reverse("account_reset_password")),
    }
    language = user.language or get_language()

    def send() -> None:
        with context.request_context(request), override(language):
            for address in sorted(map(str, addresses)):
                # `AccountAdapter.send_mail` has logged why a mail could not be sent. The change was made all the same.
                with suppress(ImmediateHttpResponse):
                    get_adapter().send_mail("account/email/notice", address, values)

    if addresses:
        after_response.run_after_response(send)
