"""Authentication by API token, and the check that a token or session is still valid."""

from __future__ import annotations

from collections.abc import Callable

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from chat.models import ApiToken, LoginSession, User

JWT_PREFIX = "eyJ"
"""Every JSON Web Token begins with this, `{"` in base64. Tokens of Plotline do not."""


class BearerAuthentication(BaseAuthentication):
    """Authenticates by the header `Authorization: Bearer <token>`, or else `X-API-Key: <token>`.

    The second header is for servers behind a proxy that uses the first one itself: for a password (Basic), or for the
    JSON Web Token of a login (OpenID Connect).
    """

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the owner and the token; `None` without a token. Raises AuthenticationFailed if it is not valid."""
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or secret.lstrip().startswith(JWT_PREFIX):
            if "X-API-Key" not in request.headers:
                return None
            secret = request.headers["X-API-Key"]
        token = ApiToken.objects.authenticate(secret.strip())
        if token is None:
            raise AuthenticationFailed("This token is not valid: it is unknown, expired or revoked.")
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        """Return the `WWW-Authenticate` header of a response with status 401."""
        return 'Bearer realm="Plotline"'


def credentials_check(request: Request, user: User) -> Callable[[], bool]:
    """Return a function that asks the database whether the token or session of a request is still valid."""
    token = request.auth
    if isinstance(token, ApiToken):
        token_id = token.pk
        return lambda: ApiToken.objects.usable().filter(pk=token_id).exists()
    session_key, user_id, password = request.session.session_key or "", user.pk, user.password

    def is_signed_in() -> bool:
        # The stored password is compared, because a new password ends all sessions.
        is_same_user = User.objects.filter(pk=user_id, is_active=True, password=password).exists()
        sessions = LoginSession.objects.current().filter(pk=session_key)
        return is_same_user and sessions.exists()

    return is_signed_in
