"""The base class of all views."""

from __future__ import annotations

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.api.problems import Problem, ProblemType
from chat.models import User


class ApiView(APIView):
    """A view of the REST API, with a limit on the body and with headers that keep responses out of shared caches."""

    body_limit_bytes: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    """Limit on the announced length of a body."""
    beyond_body_limit: str = ""
    """A sentence that the error adds: what to do with a body that is too long."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Check the length of the body before anything reads it, then authenticate and throttle."""
        length = str(request.META.get("CONTENT_LENGTH") or "")
        # Convert only the first 18 digits, because Python refuses to convert thousands of digits.
        if length.isdecimal() and int(length[:18]) > self.body_limit_bytes:
            limit = f"{self.body_limit_bytes / 1024**2:.3g} MB"
            sentence = f"The body of this call may have {limit}. {self.beyond_body_limit}".rstrip()
            raise Problem(ProblemType.TOO_LARGE, sentence)
        super().initial(request, *args, **kwargs)

    def options(self, request: object, *args: object, **kwargs: object) -> Response:
        """Return no content. The header `Allow` lists the methods."""
        return Response(status=204)

    def finalize_response(self, request: Request, response: Response, *args: object, **kwargs: object) -> Response:
        """Return the response with its headers. Views may also return other responses of Django."""
        response = super().finalize_response(request, response, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "no-store")
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return response

    @property
    def caller(self) -> User:
        """The user who makes the call."""
        user = self.request.user
        assert isinstance(user, User)
        return user

    def require_asgi(self) -> None:
        """Raise Problem under WSGI, which has no event loop that outlives the request: an answer would be lost."""
        if not isinstance(self.request._request, ASGIRequest):
            sentence = "This needs the ASGI server: start Plotline with `python -m config.serve`."
            raise Problem(ProblemType.WRONG_SERVER, sentence)
