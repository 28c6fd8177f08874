"""Turns: begin one, look at it, follow it, stop it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from chat.access import NotFound, attachments_of, writable_conversation
from chat.api.authentication import still_there
from chat.api.conversations import check_model
from chat.api.describing import SEQ_LIMIT, EventStreamRenderer, describe
from chat.api.doors import ApiView
from chat.api.incoming import Question
from chat.api.outgoing import StartedTurn, TurnItem
from chat.api.problems import Problem, invalid
from chat.api.reading import live_turn_id, turn_of
from chat.api.shapes import started_json, turn_json
from chat.api.streaming import open_streams, reader_of, stream, too_many_sentence
from chat.api.throttles import CallThrottle, WriteThrottle
from chat.forms import CLIENT_ID_LIMIT, SendForm
from chat.models import Conversation, Message, MessageAttachment
from chat.turns.deciding import Chosen, StartRefused
from chat.turns.runner import start_turn, stop_turn
from chat.turns.starting import Ask
from chat.turns.starting import StartedTurn as Started

STREAM_RETRY_S = 10


class ConversationTurns(ApiView):
    """The turns of a conversation."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @describe(
        "turns-create",
        "Ask",
        "Stores the question and begins to answer it; the answer goes on whether or not anybody follows it. A repeated"
        " `Idempotency-Key` gives the turn that it began before.",
        body=Question,
        answers={202: StartedTurn},
        problems=(400, 404, 409, 413, 415, 422, 503),
        has_idempotency_key=True,
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Begin."""
        conversation = writable_conversation(self.caller, conversation_id)
        given = self.body(Question)
        check_model(given)
        form = SendForm({**given, "client_id": _key(request)})
        if not form.is_valid():
            raise invalid(text=form.sentence())
        self.need_server()
        asked = form.cleaned_data

        try:
            attachments_of(self.caller, asked["attachments"])
        except NotFound:
            raise invalid("refused", attachments="An attached file is not known here.") from None
        ask = Ask(
            self.caller,
            conversation.pk,
            asked["text"],
            asked["attachments"],
            client_id=asked["client_id"],
            code_mode=asked["code_execution"],
            model=asked["model"],
        )
        try:
            # On the server's own event loop, where the answer's task stays when this request is over.
            started = async_to_sync(start_turn)(ask)
        except StartRefused as refusal:
            raise _conflict(conversation, refusal) from None
        _check_same_question(started, asked)
        said = started_json(started.turn)
        return Response(said, status=202, headers={"Location": said["events_url"].removesuffix("events/")})


class OneTurn(ApiView):
    """One turn."""

    @describe("turns-read", "Read a turn", "Its state.", answers={200: TurnItem}, problems=(404,))
    def get(self, request: Request, turn_id: uuid.UUID) -> Response:
        """Read."""
        return Response(turn_json(turn_of(self.caller, turn_id)))


class TurnStop(ApiView):
    """Its end, before it would come."""

    @describe(
        "turns-stop",
        "Stop a turn",
        "What came is kept. 202: it ends in a moment; 200: it had ended already.",
        answers={200: TurnItem, 202: TurnItem},
        problems=(404,),
    )
    def post(self, request: Request, turn_id: uuid.UUID) -> Response:
        """Stop."""
        turn = turn_of(self.caller, turn_id)
        is_live = turn.is_live and async_to_sync(stop_turn)(turn.conversation_id, turn.pk)
        return Response(turn_json(turn), status=202 if is_live else 200)


class TurnEvents(ApiView):
    """What happens in it, as it happens."""

    renderer_classes = (EventStreamRenderer,)

    @describe(
        "turns-events",
        "Follow a turn",
        "`text/event-stream`: everything so far, then what comes, and `done` last; also of turns that ended long ago.",
        answers={200: None, 204: None},
        problems=(400, 404, 410, 503),
        has_last_event_id=True,
    )
    def get(self, request: Request, turn_id: uuid.UUID) -> HttpResponseBase:
        """Follow."""
        turn = turn_of(self.caller, turn_id)
        self.need_server()
        after = _last_event_id(request)
        if open_streams(self.caller.pk) >= settings.SOCKETS_LIMIT:
            raise Problem("too-fast", too_many_sentence(), headers={"Retry-After": str(STREAM_RETRY_S)})
        reader = reader_of(turn, after)
        if reader is None:
            raise Problem("forgotten", "These steps are not kept any more. Begin again without Last-Event-ID.")
        if request.method == "HEAD":
            return _event_stream(None)
        if reader.has_nothing_left():
            # What tells a browser's EventSource not to come back.
            return HttpResponse(status=204)
        user = self.caller
        is_there = still_there(request, user)

        def may_read() -> bool:
            try:
                return is_there() and bool(turn_of(user, turn_id))
            except NotFound:
                return False

        response = _event_stream(stream(turn, reader, user.pk, may_read))
        # This thread's connection would otherwise be held for as long as somebody follows.
        close_old_connections()
        return response


def _event_stream(content: AsyncIterator[bytes] | None) -> HttpResponseBase:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if content is None:
        return HttpResponse(content_type=EventStreamRenderer.media_type, headers=headers)
    return StreamingHttpResponse(content, content_type=EventStreamRenderer.media_type, headers=headers)


def _key(request: Request) -> str:
    """The `Idempotency-Key`, or nothing."""
    key = request.headers.get("Idempotency-Key", "").strip()
    if len(key) > CLIENT_ID_LIMIT:
        raise Problem("malformed", f"An Idempotency-Key can have at most {CLIENT_ID_LIMIT} characters.")
    return key


def _last_event_id(request: Request) -> int:
    """The number of the last event that the reader has; -1: none."""
    value = request.headers.get("Last-Event-ID", "").strip()
    if not value:
        return -1
    if not (value.isascii() and value.isdecimal() and len(value) <= 10) or int(value) > SEQ_LIMIT:
        raise Problem("malformed", "Last-Event-ID is the id of an event: a whole number.")
    return int(value)


def _conflict(conversation: Conversation, refusal: StartRefused) -> Problem:
    live = live_turn_id(conversation)
    return Problem("turn-live", str(refusal), turn=str(live)) if live else Problem("conflict", str(refusal))


def _check_same_question(started: Started, asked: Mapping[str, Any]) -> None:
    """Raises Problem where a key that began a turn before comes with another question, or is to be answered otherwise.

    `asked`: as `SendForm` has it.
    """
    if started.is_new:
        return
    turn = started.turn
    text = Message.objects.filter(pk=turn.user_message_id).values_list("text", flat=True).first()
    places = MessageAttachment.objects.filter(message_id=turn.user_message_id).order_by("index")
    files = list(places.values_list("attachment_id", flat=True))
    chosen = Chosen(asked["code_execution"], asked["model"]).as_json()
    if (text, files, turn.chosen) != (asked["text"], asked["attachments"], chosen):
        raise Problem("key-reused", "This Idempotency-Key was sent with another question before.")
