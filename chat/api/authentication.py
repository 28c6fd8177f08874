"""Who calls: the owner of a token, or of a session. A stream asks again now and then whether that still holds."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from chat.models import ApiToken


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The token's owner; None where no such header was sent. Raises AuthenticationFailed."""
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = ApiToken.objects.used(secret.strip())
        if token is None:
            raise AuthenticationFailed("This token lets nobody in: it is unknown, expired or revoked.")
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="Plotline"'


def still_there(request: Request, user: User) -> Callable[[], bool]:
    """Asks the database whether who made this request would still be let in."""
    token = request.auth
    if isinstance(token, ApiToken):
        token_id = token.pk
        return lambda: ApiToken.objects.usable().filter(pk=token_id).exists()
    session_key, user_id, password = request.session.session_key or "", user.pk, user.password

    def is_signed_in() -> bool:
        known = User.objects.filter(pk=user_id, is_active=True, password=password).exists()
        return known and Session.objects.filter(session_key=session_key, expire_date__gt=timezone.now()).exists()

    return is_signed_in
