"""Decorators for slow views: a view ends when its client disconnects, and long pages are rendered through a queue."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from allauth.account.adapter import get_adapter
from asgiref.sync import sync_to_async
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chat.models.database_thread import close_connection
from chat.page.render_queue import PEOPLE, STRANGERS, Place, QueueIsFull, RenderQueue
from chat.people.quotas.pages import View, refusal

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)
AsyncView = Callable[Concatenate[R, P], Coroutine[None, None, HttpResponseBase]]

RETRY_AFTER_S = 5
TOO_MANY = f"Too many pages are being loaded from here at once. Wait {RETRY_AFTER_S} seconds."


def queued(view: View[R, P]) -> AsyncView[R, P]:
    """Decorate a view so that each person, and each IP address of strangers, gets one page at a time.

    It must be the outermost decorator. The view ends early if its client disconnects (`render_queue.check_reader`).
    """

    @wraps(view)
    async def wrapped(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        queue, reader = await sync_to_async(_queue_of)(request)
        try:
            async with queue.place(reader, is_refusable=True) as place:
                return await sync_to_async(place.run)(_render, place, view, request, *args, **kwargs)
        except QueueIsFull:
            response = await sync_to_async(refusal)(request, TOO_MANY, status=503, retry_after_s=RETRY_AFTER_S)
            response.headers["Cache-Control"] = "no-store"
            return response

    return wrapped


def ended_with_client(view: View[R, P]) -> AsyncView[R, P]:
    """Decorate a view so that `render_queue.check_reader` raises ReaderLeft in it once its client has disconnected.

    It must be the outermost decorator.
    """

    @wraps(view)
    async def wrapped(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        place = Place(lambda: None)
        try:
            return await sync_to_async(place.run)(_render, place, view, request, *args, **kwargs)
        finally:
            place.leave()

    return wrapped


def _render(place: Place, view: View[R, P], request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
    try:
        return view(request, *args, **kwargs)
    finally:
        if place.is_left:
            # Django has ended the request already, so it does not close the connection of this thread.
            close_connection()


def _queue_of(request: HttpRequest) -> tuple[RenderQueue, Hashable]:
    """Return the queue of a request, and the key of its reader: a person, or all strangers at one IP address.

    The request's connection to the database is closed, so that requests that wait do not use up the pool.
    """
    user = request.user
    close_connection()
    if user.is_authenticated:
        return PEOPLE, user.pk
    address: str = get_adapter().get_client_ip(request)
    return STRANGERS, address
