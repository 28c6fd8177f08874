"""The palette of commands, which Ctrl+K opens on every page with the search form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.library.conversation_list import list_context
from chat.library.forms import ListForm
from chat.library.refusal_responses import refuse
from chat.models import Conversation
from chat.people.access import SignedInRequest, conversations_of, projects_of

RECENT, FOUND, PROJECTS = 5, 8, 5
"""Maximum number of recent conversations if nothing is searched, of results of a search, and of projects."""
ACTIONS = (
    (noop("New conversation"), "#new-conversation button"),
    (noop("Temporary conversation"), "form[action$='temporary/'] button"),
    (noop("Attach files"), "#composer [data-action=attach]"),
    (noop("Share this conversation"), "[data-action=share]"),
    (noop("Python session"), "[data-action=open-session]"),
    (noop("Conversation settings"), "[data-action=settings]"),
    (noop("Keyboard shortcuts"), "[data-action=shortcuts]"),
)
"""Buttons of the page that commands press: label and CSS selector."""
PAGES = (
    (noop("Graphs and images"), "graphs"),
    (noop("Projects"), "projects"),
    (noop("Import"), "conversation-import"),
    (noop("Shared links"), "shares"),
    (noop("Profile"), "account_profile"),
    (noop("Appearance"), "account_appearance"),
    (noop("New conversations"), "account_defaults"),
    (noop("Password"), "account_change_password"),
    (noop("Two-step login"), "mfa_index"),
    (noop("Logins"), "account_logins"),
    (noop("API tokens"), "account_tokens"),
    (noop("Usage"), "account_usage"),
    (noop("Your data"), "account_delete"),
    (noop("Log out"), "account_logout"),
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the palette: it opens a link, or presses a button of the page."""

    label: str
    url: str = ""
    selector: str = ""


@never_cache
@login_required
@require_safe
def commands(request: SignedInRequest) -> HttpResponse:
    """Render the dialog with its first commands, or for a search (`q`) the list of the matching ones."""
    form = ListForm(request.GET)
    if not form.is_valid():
        return refuse(form.sentence())
    q = form.cleaned_data["q"].strip()
    words = q.casefold().split()
    projects = projects_of(request.user).newest_first().only("name")
    for word in words:
        projects = projects.filter(name__icontains=word)
    context: dict[str, object] = {
        "searched": q,
        "open": form.cleaned_data["open"],
        "actions": [*_matching(words, (Command(gettext(label), selector=selector) for label, selector in ACTIONS))],
        "pages": [*_matching(words, _pages())],
        "projects": projects[:PROJECTS] if words else [],
    }
    if words:
        found = list_context(request, q=q)["found"]
        assert isinstance(found, list)
        context["found"] = found[:FOUND]
    else:
        # A conversation without a title, such as an empty one, is not offered.
        others = conversations_of(request.user).kept().exclude(title="").exclude(pk=form.cleaned_data["open"])
        context["recent"] = others.order_by("-updated_at").only("title")[:RECENT]
    return render(request, "chat/_command_list.html" if "q" in request.GET else "chat/_commands.html", context)


def _pages() -> Iterator[Command]:
    for label, name in PAGES:
        if name != "shares" or Conversation.is_sharing_allowed():
            yield Command(gettext(label), url=reverse(name))


def _matching(words: Sequence[str], all_commands: Iterable[Command]) -> Iterator[Command]:
    """Yield the commands whose labels contain every word."""
    return (one for one in all_commands if all(word in one.label.casefold() for word in words))


urlpatterns = [path("commands/", commands, name="commands")]
