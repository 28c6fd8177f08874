"""Deletion of one's own account: it is planned on a page, and carried out some days later unless the person
cancels it.
"""

from __future__ import annotations

from datetime import timedelta

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from chat.models import LoginSession, User
from chat.models.superusers import is_last_superuser, lock_superusers
from chat.people.access import SignedInRequest
from chat.people.login_redirects import login_required_post


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_delete(request: SignedInRequest) -> HttpResponse:
    """Explain the deletion, or plan it and log the person out everywhere. API tokens stop working at once.

    Raises ReauthenticationRequired: allauth's middleware then asks for the password or a code, and continues after
    that.
    """
    user = request.user
    is_needed = is_last_superuser(user)
    if request.method == "POST" and not is_needed:
        raise_if_reauthentication_required(request, app="allauth.mfa")
        is_needed = not plan_deletion(user)
        if not is_needed:
            deletion_at = user.deletion_at
            logout(request)
            return render(request, "account/deletion_planned.html", {"deletion_at": deletion_at})
    context = {"days": settings.ACCOUNT_DELETION_DAYS, "is_needed": is_needed}
    return render(request, "account/delete.html", context, status=400 if request.method == "POST" else 200)


@login_required_post
def account_keep(request: SignedInRequest) -> HttpResponse:
    """Cancel the planned deletion. It cannot be cancelled any more once it is due."""
    keep_account(request.user)
    return redirect("account_delete")


def plan_deletion(user: User) -> bool:
    """Plan the deletion of an account and end its logins. Return False if it is the last superuser."""
    with transaction.atomic():
        if user.is_superuser:
            lock_superusers()
            if is_last_superuser(user):
                return False
        if user.deletion_at is None:
            user.deletion_at = timezone.now() + timedelta(days=settings.ACCOUNT_DELETION_DAYS)
            user.save(update_fields=["deletion_at"])
        LoginSession.objects.all().end(user)
        return True


def keep_account(user: User) -> None:
    """Cancel a planned deletion, unless it is due.

    The account must also be active. The deletion may begin, and deactivate the account, while this statement waits for
    the row. `Now()` is then still the time at which the statement began.
    """
    User.objects.filter(pk=user.pk, is_active=True, deletion_at__gt=Now()).update(deletion_at=None)
