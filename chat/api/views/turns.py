"""Calls about turns: start, read, follow, approve and stop one."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.answering.turns.resume import CodeRefused, DecisionRefused
from chat.answering.turns.runner import decide, start_turn, stop_turn
from chat.answering.turns.start import Ask
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.start_rules import ModelRefused, StartRefused, TurnChoices
from chat.api.authentication import credentials_check
from chat.api.event_stream import open_stream_count, stream_events, too_many_sentence
from chat.api.problems import Problem, ProblemType, refused
from chat.api.queries import live_turn_id
from chat.api.schema import problem_responses
from chat.api.serializers.turns import (
    DecisionSerializer,
    DecisionVerb,
    QuestionSerializer,
    StartedTurnSerializer,
    TurnSerializer,
)
from chat.api.stored_events import BEFORE_FIRST, open_events
from chat.api.turn_events import EVENT_DOCS, SEQ_LIMIT
from chat.api.views.base import ApiView
from chat.api.views.conversations import check_model
from chat.library.forms import CLIENT_ID_LIMIT
from chat.messages.approval import ApprovalDecision
from chat.models import Conversation, Message, MessageAttachment
from chat.models.database_thread import close_connection
from chat.people.access import NotFound, attachments_of, readable_turn, writable_conversation, writable_turn
from chat.people.quotas.throttles import CallThrottle, WriteThrottle

EVENT_STREAM = "text/event-stream"
STREAM_RETRY_S = 10
EVENT_SCHEMA = {
    "type": "object",
    "description": "One event of the stream. `data` is JSON.",
    "properties": {name: {"type": "string"} for name in ("event", "id", "data", "retry")},
}

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": CLIENT_ID_LIMIT},
    OpenApiParameter.HEADER,
    description="Chosen by the client for each question. Sent twice, it starts one turn.",
)
LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    {"type": "integer", "minimum": 0, "maximum": SEQ_LIMIT},
    OpenApiParameter.HEADER,
    description="The `id` of the last event that the client has. The stream begins after it.",
)


class ConversationTurns(ApiView):
    """The turns of one conversation."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="turns-create",
        summary="Ask",
        tags=["turns"],
        request=QuestionSerializer,
        parameters=[IDEMPOTENCY_KEY],
        responses={
            202: StartedTurnSerializer,
            **problem_responses(
                ProblemType.CONFLICT,
                ProblemType.TURN_LIVE,
                ProblemType.REFUSED,
                ProblemType.KEY_REUSED,
                ProblemType.QUOTA,
                ProblemType.UNAVAILABLE,
                ProblemType.WRONG_SERVER,
            ),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Store a question and start to answer it. The answer goes on whether or not a client follows it.

        A repeated `Idempotency-Key` returns the turn that it has started before.
        """
        conversation = writable_conversation(self.caller, conversation_id)
        ask = self._ask(conversation, QuestionSerializer.parse(request.data))
        self.require_asgi()
        try:
            # This runs on the server's event loop, so the answer's task continues after the end of this request.
            started = async_to_sync(start_turn)(ask)
        except ModelRefused as refusal:
            raise refused("model", str(refusal)) from None
        except StartRefused as refusal:
            raise conflict(conversation, refusal) from None
        if not started.is_new:
            _check_same_question(started, ask)
        body = StartedTurnSerializer(started.turn).data
        return Response(body, status=202, headers={"Location": body["events_url"].removesuffix("events/")})

    def _ask(self, conversation: Conversation, question: Mapping[str, Any]) -> Ask:
        """Return the request that starts the turn. Raises Problem if the model or an attachment cannot be used."""
        client_id = idempotency_key(self.request)
        model = question.get("model", "")
        # If this key has started a turn before, that turn is returned, even if its model or a file is gone by now.
        if not (client_id and conversation.turns.filter(client_id=client_id).exists()):
            check_model(model)
            try:
                attachments_of(self.caller, question["attachments"])
            except NotFound:
                raise refused("attachments", "An attached file is not known here.") from None
        return Ask(
            self.caller,
            conversation.pk,
            question["text"],
            question["attachments"],
            client_id=client_id,
            code_mode=question.get("code_execution", ""),
            model=model,
        )


class TurnDetail(ApiView):
    """One turn."""

    @extend_schema(operation_id="turns-read", summary="Read a turn", responses=TurnSerializer)
    def get(self, request: Request, turn_id: uuid.UUID) -> Response:
        """Return the state of a turn."""
        return Response(TurnSerializer(readable_turn(self.caller, turn_id)).data)


class TurnStop(ApiView):
    """The end of one turn at the caller's request."""

    @extend_schema(
        operation_id="turns-stop",
        summary="Stop a turn",
        request=None,
        responses={200: TurnSerializer, 202: TurnSerializer},
    )
    def post(self, request: Request, turn_id: uuid.UUID) -> Response:
        """Stop a turn. The text received so far is saved.

        The status is 202 if the turn will end in a moment, and 200 if it had ended before.
        """
        turn = readable_turn(self.caller, turn_id)
        is_live = turn.is_live and async_to_sync(stop_turn)(turn.conversation_id, turn.pk)
        return Response(TurnSerializer(turn).data, status=202 if is_live else 200)


class TurnApproval(ApiView):
    """A person's decision about a function call, or about the result of one."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="turns-decide",
        summary="Decide about a function call",
        request=DecisionSerializer,
        responses={
            200: TurnSerializer,
            202: TurnSerializer,
            **problem_responses(
                ProblemType.INVALID, ProblemType.NOT_WAITING, ProblemType.UNAVAILABLE, ProblemType.WRONG_SERVER
            ),
        },
    )
    def post(self, request: Request, turn_id: uuid.UUID) -> Response:
        """Decide about the `approval` of a waiting turn, which then goes on.

        The status is 202. It is 200 if exactly this decision was made before, so a call may be repeated.
        """
        writable_turn(self.caller, turn_id)
        fields = DecisionSerializer.parse(request.data)
        self.require_asgi()
        is_approved = fields["decision"] == DecisionVerb.RUN
        code = fields.get("code") if is_approved else None
        decision = ApprovalDecision(fields["id"], is_approved, code, decided_by=self.caller.pk)
        try:
            # This runs on the server's event loop, so the answer's task continues after the end of this request.
            is_new = async_to_sync(decide)(lambda: writable_turn(self.caller, turn_id).pk, decision)
        except DecisionRefused as refusal:
            raise Problem(ProblemType.NOT_WAITING, str(refusal)) from None
        except CodeRefused as refusal:
            raise Problem(ProblemType.INVALID, str(refusal), errors={"code": [str(refusal)]}) from None
        turn = writable_turn(self.caller, turn_id)
        return Response(TurnSerializer(turn).data, status=202 if is_new else 200)


class TurnEvents(ApiView):
    """The event stream of one turn."""

    @extend_schema(
        operation_id="turns-events",
        summary="Follow a turn",
        description=(
            "Return an event stream: all events so far, then each event when it happens. The stream of a turn that has"
            " ended holds all its events. The status is 204 if `Last-Event-ID` names the last event. The `data` of an"
            " event are JSON, its `id` is its number.\n\n"
            + "\n".join(f"- `{name}` `{data}`: {meaning}" for name, data, meaning in EVENT_DOCS)
        ),
        parameters=[LAST_EVENT_ID],
        responses={
            (200, EVENT_STREAM): EVENT_SCHEMA,
            204: None,
            **problem_responses(ProblemType.MALFORMED, ProblemType.FORGOTTEN, ProblemType.WRONG_SERVER),
        },
    )
    def get(self, request: Request, turn_id: uuid.UUID) -> HttpResponseBase:
        """Return the event stream."""
        turn, user = readable_turn(self.caller, turn_id), self.caller
        self.require_asgi()
        if open_stream_count(user.pk) >= settings.SOCKETS_LIMIT:
            raise Problem(ProblemType.TOO_FAST, too_many_sentence(), headers={"Retry-After": str(STREAM_RETRY_S)})
        events = open_events(turn, _last_event_id(request))
        if events is None:
            sentence = "These steps are not kept any more. Begin again without Last-Event-ID."
            raise Problem(ProblemType.FORGOTTEN, sentence)
        if request.method == "HEAD":
            return _event_stream(None)
        if events.is_at_end():
            # This status tells a browser's EventSource not to connect again.
            return HttpResponse(status=204)
        has_valid_credentials = credentials_check(request, user)

        def may_read() -> bool:
            try:
                return has_valid_credentials() and bool(readable_turn(user, turn_id))
            except NotFound:
                return False

        response = _event_stream(stream_events(turn, events, user.pk, may_read))
        # Otherwise this thread would hold its database connection for as long as the stream is open.
        close_connection()
        return response


def _event_stream(content: AsyncIterator[bytes] | None) -> HttpResponseBase:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if content is None:
        return HttpResponse(content_type=EVENT_STREAM, headers=headers)
    return StreamingHttpResponse(content, content_type=EVENT_STREAM, headers=headers)


def idempotency_key(request: Request) -> str:
    """Return the header `Idempotency-Key`; empty if there is none. Raises Problem if it is too long."""
    key = request.headers.get("Idempotency-Key", "").strip()
    if len(key) > CLIENT_ID_LIMIT:
        raise Problem(ProblemType.MALFORMED, f"An Idempotency-Key can have at most {CLIENT_ID_LIMIT} characters.")
    return key


def _last_event_id(request: Request) -> int:
    """Return the header `Last-Event-ID`; BEFORE_FIRST if there is none. Raises Problem if it is no event number."""
    value = request.headers.get("Last-Event-ID", "").strip()
    if not value:
        return BEFORE_FIRST
    if not (value.isascii() and value.isdecimal() and len(value) <= 10) or int(value) > SEQ_LIMIT:
        raise Problem(ProblemType.MALFORMED, "Last-Event-ID is the id of an event: a whole number.")
    return int(value)


def conflict(conversation: Conversation, refusal: StartRefused) -> Problem:
    turn_id = live_turn_id(conversation)
    if turn_id is None:
        return Problem(ProblemType.CONFLICT, str(refusal))
    return Problem(ProblemType.TURN_LIVE, str(refusal), turn=str(turn_id))


def _check_same_question(started: PlannedTurn, ask: Ask) -> None:
    """Raise Problem if the `Idempotency-Key` of an earlier turn was sent with another question or other choices."""
    turn = started.turn
    text = Message.objects.filter(pk=turn.user_message_id).values_list("text", flat=True).first()
    links = MessageAttachment.objects.filter(message_id=turn.user_message_id).order_by("index")
    attachment_ids = list(links.values_list("attachment_id", flat=True))
    chosen = TurnChoices(ask.code_mode, ask.model).as_json()
    if (text, attachment_ids, turn.chosen) != (ask.text, ask.attachment_ids, chosen):
        raise Problem(ProblemType.KEY_REUSED, "This Idempotency-Key was sent with another question before.")
