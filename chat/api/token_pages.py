"""The account page of API tokens: it lists them, creates one, and revokes one."""

from __future__ import annotations

from datetime import timedelta

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from chat.access import NotFound, SignedInRequest
from chat.form_fields import PlainTextField
from chat.forms import SentencesForm
from chat.models import ApiToken
from chat.models.tokens import TooManyTokens

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
    """List the user's tokens; with POST, create one. Its secret is shown in this response and never again."""
    error = secret = ""
    if request.method == "POST":
        form = NewTokenForm(request.POST)
        if form.is_valid():
            try:
                _, secret = ApiToken.objects.issue(request.user.pk, name=form.cleaned_data["name"], life=form.lifetime)
            except TooManyTokens as refusal:
                error = str(refusal)
        else:
            error = form.sentence()
    context = {
        "tokens": ApiToken.objects.filter(owner=request.user),
        "secret": secret,
        "error": error,
        "lifetimes": LIFETIMES.items(),
    }
    return render(request, "account/tokens.html", context, status=400 if error else 200)


@login_required
@require_POST
def token_revoke(request: SignedInRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    token = ApiToken.objects.filter(owner=request.user, pk=token_id).first()
    if token is None:
        raise NotFound
    token.revoke()
    return redirect("account_tokens")
