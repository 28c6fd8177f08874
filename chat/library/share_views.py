"""Views of shares: the page and files that anybody with a link may read, and the pages on which owners manage links.

Every request for a page or a file of a share checks its token again. Browsers and proxies may not cache responses, so
that a revoked link shows no content.
"""

from __future__ import annotations

import uuid
from functools import wraps
from typing import ParamSpec

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from attachments.views import build_content_response
from chat.library.forms import ShareForm
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.shared_copy import copy_share
from chat.models import Conversation, Share, ShareRefused
from chat.page.queued_views import queued
from chat.page.readers import GroupPlace, guest_reader
from chat.page.transcript.shared_pages import index_of, shared_page
from chat.people.access import (
    NotFound,
    SignedInRequest,
    check_sharing,
    readable_share,
    revocable_share,
    shared_attachment,
    shares_of,
    writable_conversation,
)
from chat.people.login_redirects import login_required_post
from chat.people.quotas.pages import View, limited, limited_as_calls, refusal
from chat.people.quotas.throttles import CallThrottle, ShareThrottle, WriteThrottle

P = ParamSpec("P")

SHARES_PAGE_SIZE = 50

HEADERS = {
    # A header is used instead of robots.txt, because a crawler that may not fetch a page may still list its URL.
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    # A website that an answer links to must not learn the secret URL of the page.
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}


def _for_readers(view: View[HttpRequest, P]) -> View[HttpRequest, P]:
    """Decorate a view that needs no account: limit its requests, and add the headers of shares."""
    limited_view = require_safe(limited(ShareThrottle)(view))

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        response: HttpResponseBase = limited_view(request, *args, **kwargs)
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response

    return wrapped


@queued
@_for_readers
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """Render a page of the messages of a share. The first page counts as an opening, except for the owner."""
    share = readable_share(token)
    first, stop = _number(request, "from"), _number(request, "to")
    near = GroupPlace.parse(request.GET.get("at", ""))
    if near:
        first, stop = index_of(share, near.message_id), 0
    reader = guest_reader(lambda pk: reverse("shared-file", args=[token, pk]), near)
    page = shared_page(share, reader, first, stop)
    if not page.messages:  # The share has fewer messages, or the conversation has just been deleted.
        raise NotFound
    if (
        request.method == "GET"
        and not first
        and not stop
        and not near
        and request.user.pk != share.conversation.owner_id
    ):
        share.count_opening()
    return render(request, "chat/shared.html", {"share": share, "page": page})


@_for_readers
def shared_file(request: HttpRequest, token: str, attachment_id: uuid.UUID) -> HttpResponseBase:
    """Return the bytes of an attachment of a share."""
    share = readable_share(token)
    attachment = shared_attachment(share, attachment_id)
    return build_content_response(request, attachment, counted_for=("shares", attachment.owner_id))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limited(CallThrottle, WriteThrottle, methods=["POST"])
def shared_continue(request: SignedInRequest, token: str) -> HttpResponse:
    """Ask whether to copy the messages of a share; with POST, make the reader's own conversation of it.

    It is a separate page: on pages with the policy `no-referrer`, browsers send no origin with forms.
    """
    share = readable_share(token)
    if request.method != "POST":
        return render(request, "chat/shared_continue.html", {"share": share})
    try:
        return redirect("conversation", copy_share(share, owner_id=request.user.pk))
    except RefusedImport as error:
        return refusal(request, str(error), status=400)


@never_cache
@login_required
@require_safe
def shares(request: SignedInRequest) -> HttpResponse:
    """Render all links of the user, newest first."""
    skipped = _number(request, "after")
    rows = list(
        shares_of(request.user).select_related("conversation", "last_message")[skipped : skipped + SHARES_PAGE_SIZE + 1]
    )
    context = {
        "shares": rows[:SHARES_PAGE_SIZE],
        "end": skipped + SHARES_PAGE_SIZE if len(rows) > SHARES_PAGE_SIZE else None,
    }
    return render(request, "chat/shares.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limited_as_calls
def conversation_shares(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Render the links of a conversation, as a page or for the dialog; with POST, make one."""
    check_sharing()
    conversation = writable_conversation(request.user, conversation_id)
    if request.method != "POST":
        return _render_shares(request, conversation)
    form = ShareForm(request.POST)
    if not form.is_valid():
        return _render_shares(request, conversation, error=form.sentence())
    try:
        share = Share.objects.issue(conversation, expires_at=form.expires_at)
    except ShareRefused as error:
        return _render_shares(request, conversation, error=str(error))
    except Conversation.DoesNotExist:  # It has just been deleted in another tab.
        raise NotFound from None
    return _render_shares(request, conversation, created=share)


@login_required_post
def share_revoke(request: SignedInRequest, share_id: uuid.UUID) -> HttpResponse:
    """Revoke a link. From now on, its URL is answered with 404."""
    share = revocable_share(request.user, share_id)
    share.delete()
    if request.htmx:
        return _render_shares(request, share.conversation)
    return redirect("shares") if "all" in request.POST else redirect("conversation-shares", share.conversation_id)


def _render_shares(
    request: SignedInRequest, conversation: Conversation, *, created: Share | None = None, error: str = ""
) -> HttpResponse:
    shares = conversation.shares.select_related("last_message")
    context = {"conversation": conversation, "shares": shares, "created": created, "error": error}
    template = "chat/_shares.html" if request.htmx else "chat/shares.html"
    return render(request, template, context, status=400 if error else 200)


def _number(request: HttpRequest, name: str) -> int:
    """Return a number of the query string; 0 for anything else."""
    digits = request.GET.get(name, "")[:9]
    return int(digits) if digits.isdecimal() else 0


urlpatterns = [
    path("s/<slug:token>/", shared, name="shared"),
    path("s/<slug:token>/files/<uuid:attachment_id>/", shared_file, name="shared-file"),
    path("s/<slug:token>/continue/", shared_continue, name="shared-continue"),
    path("shares/", shares, name="shares"),
    path("shares/<uuid:share_id>/revoke/", share_revoke, name="share-revoke"),
    path("c/<uuid:conversation_id>/shares/", conversation_shares, name="conversation-shares"),
]
