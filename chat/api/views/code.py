"""Calls that run code in the Python session: the caller's own code, and a block of an answer again."""

from __future__ import annotations

import uuid

from asgiref.sync import async_to_sync
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import RunCode
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.start_rules import StartRefused
from chat.api.problems import Problem, ProblemType
from chat.api.schema import problem_responses
from chat.api.serializers.code import OwnCodeSerializer, ReplaySerializer, RerunSerializer, VerdictSerializer
from chat.api.serializers.turns import StartedTurnSerializer
from chat.api.views.base import ApiView
from chat.api.views.turns import IDEMPOTENCY_KEY, conflict, idempotency_key
from chat.models import Message
from chat.people.access import writable_conversation, writable_message
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.python.reruns.earlier_blocks import BlockVerdict, summary
from chat.python.reruns.live import stop_rerun
from chat.python.reruns.recorded_outputs import RerunRefused
from chat.python.reruns.rerun import rerun, run_everything
from chat.python.reruns.verdicts import Comparison
from chat.vocabulary.fences import fence_code
from chat.vocabulary.sentences import translate_sentence


class SessionRun(ApiView):
    """The caller's own code in the Python session of a conversation."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="session-run",
        summary="Run code",
        tags=["session"],
        request=OwnCodeSerializer,
        parameters=[IDEMPOTENCY_KEY],
        responses={
            202: StartedTurnSerializer,
            **problem_responses(
                ProblemType.CONFLICT,
                ProblemType.TURN_LIVE,
                ProblemType.KEY_REUSED,
                ProblemType.QUOTA,
                ProblemType.UNAVAILABLE,
                ProblemType.WRONG_SERVER,
            ),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Store the code as a message of the user, and run it. Its output is stored as the answer.

        No model is asked. The next answer's model sees the code and its output.
        """
        conversation = writable_conversation(self.caller, conversation_id)
        code: str = OwnCodeSerializer.parse(request.data)["code"]
        self.require_asgi()
        start = RunCode(self.caller, conversation.pk, code, client_id=idempotency_key(request))
        try:
            started = async_to_sync(start_turn)(start)
        except StartRefused as refusal:
            raise conflict(conversation, refusal) from None
        if not started.is_new:
            _check_same_code(started, code)
        body = StartedTurnSerializer(started.turn).data
        return Response(body, status=202, headers={"Location": body["events_url"].removesuffix("events/")})


class PartRerun(ApiView):
    """A block of code of an answer, to be run again."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="parts-rerun",
        summary="Run a block of code again",
        tags=["session"],
        request=RerunSerializer,
        responses={
            200: VerdictSerializer,
            **problem_responses(ProblemType.CONFLICT, ProblemType.QUOTA, ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, message_id: uuid.UUID, index: int) -> Response:
        """Run the code of a part in the Python session, and compare what it gives with what it gave before.

        The response comes when the code has ended. Meanwhile open pages show its output. The verdict is stored, and
        shown there too. The code runs on if the caller goes away.
        """
        message = writable_message(self.caller, message_id)
        from_start = RerunSerializer.parse(request.data)["from_start"]
        self.require_asgi()
        try:
            comparison = async_to_sync(rerun)(message, index, from_start=from_start)
        except RerunRefused as refusal:
            raise Problem(ProblemType.CONFLICT, str(refusal)) from None
        return Response(_verdict(comparison))


class SessionReplay(ApiView):
    """All code of a conversation, to be run again."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="session-replay",
        summary="Run all code again",
        tags=["session"],
        request=None,
        responses={
            200: ReplaySerializer,
            **problem_responses(ProblemType.CONFLICT, ProblemType.QUOTA, ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Restart the session, and run all code of the shown messages again, which restores the variables.

        Code that was stopped, or ran out of time, is left out. Each block gets a verdict. The verdict of all is the
        worst of them.
        """
        conversation = writable_conversation(self.caller, conversation_id)
        self.require_asgi()
        try:
            verdicts = async_to_sync(run_everything)(conversation.pk)
        except RerunRefused as refusal:
            raise Problem(ProblemType.CONFLICT, str(refusal)) from None
        return Response({**_verdict(summary(verdicts)), "blocks": [_block(one) for one in verdicts]})


class PartRerunStop(ApiView):
    """The end of a block of code that runs again, at the caller's request."""

    @extend_schema(
        operation_id="parts-rerun-stop",
        summary="Stop a block of code that runs again",
        tags=["session"],
        request=None,
        responses={
            202: OpenApiResponse(description="The code is interrupted. Its verdict is `stopped`."),
            204: OpenApiResponse(description="The code does not run."),
            **problem_responses(ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, message_id: uuid.UUID, index: int) -> Response:
        """Interrupt the code of a part that runs again. Nothing happens if it does not run."""
        message = writable_message(self.caller, message_id)
        self.require_asgi()
        is_running = async_to_sync(stop_rerun)(message, index)
        return Response(status=202 if is_running else 204)


def _verdict(comparison: Comparison) -> dict[str, str]:
    body = VerdictSerializer(comparison).data
    # Pages announce the sentence in their language; programs get English.
    return {**body, "detail": translate_sentence(body["detail"])}


def _block(one: BlockVerdict) -> dict[str, object]:
    return {"message_id": one.message_id, "index": one.index, **_verdict(one.comparison)}


def _check_same_code(started: PlannedTurn, code: str) -> None:
    """Raise Problem if the `Idempotency-Key` of an earlier turn was sent again with other code."""
    text = Message.objects.filter(pk=started.turn.user_message_id).values_list("text", flat=True).first()
    if text != fence_code(code):
        raise Problem(ProblemType.KEY_REUSED, "This Idempotency-Key was sent with something else before.")
