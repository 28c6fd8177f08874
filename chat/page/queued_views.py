"""A decorator for views that render long pages: they wait for their turn in the queue of this process."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from allauth.account.adapter import get_adapter
from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from chat.page.render_queue import QUEUE, QueueIsFull, ReaderLeft
from chat.people.quotas.pages import View, refusal

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)
AsyncView = Callable[Concatenate[R, P], Coroutine[None, None, HttpResponseBase]]

RETRY_AFTER_S = 5
TOO_MANY = f"Too many pages are being loaded from here at once. Wait {RETRY_AFTER_S} seconds."
LEFT_STATUS = 499
"""The status of a response that nobody gets."""


def queued(view: View[R, P]) -> AsyncView[R, P]:
    """Decorate a view so that each person, and each address without an account, renders one page at a time.

    It is the outermost decorator. The view ends early if its client disconnects (`render_queue.check_reader`).
    """

    @wraps(view)
    async def wrapped(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        reader = await sync_to_async(reader_of)(request)
        try:
            async with QUEUE.place(reader, is_refusable=True) as place:
                return await sync_to_async(place.run)(view, request, *args, **kwargs)
        except QueueIsFull:
            response = await sync_to_async(refusal)(request, TOO_MANY, status=503, retry_after_s=RETRY_AFTER_S)
            response.headers["Cache-Control"] = "no-store"
            return response
        except ReaderLeft:
            return HttpResponse(status=LEFT_STATUS)

    return wrapped


def reader_of(request: HttpRequest) -> Hashable:
    """Return whom the queue takes for one reader: a person, or all who come from one address without an account."""
    if request.user.is_authenticated:
        return request.user.pk
    address: str = get_adapter().get_client_ip(request)
    return address
