"""Pages of settings that are columns of the account: profile, appearance, and defaults of new conversations."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from chat.models import Conversation, User
from chat.models.form_fields import SentencesForm
from chat.models.user import INSTRUCTION_LIMIT
from chat.people.access import SignedInRequest, conversations_of
from chat.people.account.forms import AppearanceForm, DefaultsForm, ProfileForm
from chat.providers.catalogue.choices import list_choices

SAVED = "Saved."

page_methods = require_http_methods(["GET", "HEAD", "POST"])


@login_required
@require_safe
def first_page(request: SignedInRequest) -> HttpResponse:
    """Redirect to the first page of the settings."""
    return redirect("account_profile")


@never_cache
@login_required
@page_methods
def profile(request: SignedInRequest) -> HttpResponse:
    """Show or save how the pages address the person."""
    form = ProfileForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _saved(request, form)
    return _page(request, "account/profile.html", form, is_mail_set_up=bool(settings.EMAIL_URL))


@never_cache
@login_required
@page_methods
def appearance(request: SignedInRequest) -> HttpResponse:
    """Show or save the colours and the language of the pages."""
    form = AppearanceForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _saved(request, form)
    return _page(
        request, "account/appearance.html", form, themes=User.Theme.choices, languages=[("", ""), *settings.LANGUAGES]
    )


@never_cache
@login_required
@page_methods
def defaults(request: SignedInRequest) -> HttpResponse:
    """Show or save the settings of new conversations and the person's own instruction."""
    user = request.user
    form = DefaultsForm(request.POST if request.method == "POST" else None, current_model=user.default_model)
    if form.is_valid():
        untouched = conversations_of(user).untouched(user.default_settings())
        with transaction.atomic():
            response = _saved(request, form)
            # An empty conversation that waits for its first question gets the new settings, too.
            untouched.update(**user.default_settings())
        return response
    # After an error, the form shows the refused input again.
    shown = {name: form.data.get(name, getattr(user, name)) for name in form.fields}
    return _page(
        request,
        "account/defaults.html",
        form,
        shown=shown,
        model_choices=list_choices(user.default_model),
        chosen={"model": shown["default_model"]},
        instruction_limit=INSTRUCTION_LIMIT,
        **Conversation.setting_choices(),
    )


def _saved(request: SignedInRequest, form: SentencesForm) -> HttpResponse:
    """Save the columns of the form, and show the page again."""
    for name, value in form.cleaned_data.items():
        setattr(request.user, name, value)
    request.user.save(update_fields=list(form.cleaned_data))
    messages.success(request, SAVED)
    return redirect(request.path)


def _page(request: SignedInRequest, template: str, form: SentencesForm, **context: object) -> HttpResponse:
    """Render a page of settings. If the form is invalid, the page has the sentence that explains why."""
    return render(request, template, {"error": form.sentence(), **context}, status=400 if form.is_bound else 200)
