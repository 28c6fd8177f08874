"""What every view here is: bounded, authenticated, throttled, and spoken to in JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.api.fields import Strict
from chat.api.problems import Problem, invalid


class ApiView(APIView):
    """A view of the REST API."""

    metadata_class = None
    request: Request
    body_limit_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    """What a body may have, by what it announces; the server ends longer ones."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as the framework's
        """Weigh the body before anything reads it; then who asks, and how often."""
        length = str(request.META.get("CONTENT_LENGTH") or "")
        # Cut, because a number may be sent that Python refuses to read.
        if length.isdecimal() and int(length[:18]) > self.body_limit_bytes:
            limit = f"{self.body_limit_bytes / 1024**2:.3g} MB"
            raise Problem("too-large", f"The body of this call may have {limit}.")
        super().initial(request, *args, **kwargs)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]  # noqa: ANN401
        """Which methods there are, in `Allow`."""
        return HttpResponse(status=204)

    def finalize_response(  # type: ignore[override]  # it passes other responses on
        self,
        request: Request,
        response: HttpResponseBase,
        *args: Any,  # noqa: ANN401 - as the framework's
        **kwargs: Any,  # noqa: ANN401
    ) -> HttpResponseBase:
        """Nobody else may be given what one person was answered."""
        finished: HttpResponseBase = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type]
        finished.headers.setdefault("Cache-Control", "no-store")
        patch_vary_headers(finished, ["Authorization", "Cookie"])
        return finished

    @property
    def caller(self) -> User:
        """Who calls."""
        user = self.request.user
        assert isinstance(user, User)
        return user

    def body(self, kind: type[Strict]) -> dict[str, Any]:
        """The body, parsed. Raises ValidationError."""
        return _parsed(kind(data=self.request.data))

    def query(self, kind: type[Strict]) -> dict[str, Any]:
        """The parameters of the address, parsed. Raises ValidationError."""
        return _parsed(kind(data=self.request.query_params.dict()))

    def need_server(self) -> None:
        """Refuse where no event loop outlives the request: an answer that began here would be lost."""
        if not isinstance(self.request._request, ASGIRequest):
            raise Problem("wrong-server", "This needs the ASGI server: start Plotline with `python -m config.serve`.")

    def tagged(self, said: dict[str, Any]) -> HttpResponseBase:
        """JSON with an ETag; 304 for whoever has it. Raises Problem where `If-Match` names something else."""
        self.check_unchanged(said)
        known = get_conditional_response(self.request._request, etag=etag(said))
        return self.with_tag(Response(said) if known is None else known, said)

    def with_tag(self, response: HttpResponseBase, said: dict[str, Any]) -> HttpResponseBase:
        """The response with the ETag of what it says."""
        response.headers["ETag"] = etag(said)
        response.headers["Cache-Control"] = "private, no-cache"
        return response

    def check_unchanged(self, said: dict[str, Any]) -> None:
        """Raises Problem where `If-Match` names something else."""
        answer = get_conditional_response(self.request._request, etag=etag(said), response=HttpResponse())
        if answer is not None and answer.status_code == 412:
            raise Problem("changed", "It has changed since you read it. Read it again.")


def etag(said: dict[str, Any]) -> str:
    """Of JSON: two that say the same have the same."""
    return f'"{hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]}"'


def _parsed(serializer: Strict) -> dict[str, Any]:
    if not isinstance(serializer.initial_data, dict):
        raise invalid(body="The body must be a JSON object.")
    serializer.is_valid(raise_exception=True)
    data: dict[str, Any] = dict(serializer.validated_data)
    return data
