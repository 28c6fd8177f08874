"""Calls about the numbers of answers."""

from __future__ import annotations

import uuid

from asgiref.sync import async_to_sync
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.problems import ProblemType
from chat.api.schema import problem_responses
from chat.api.serializers.numbers import NumberSerializer
from chat.api.serializers.tables import TablePendingSerializer
from chat.api.views.base import ApiView
from chat.api.views.tables import POLL_AFTER_S, RETRY_AFTER
from chat.messages.background_ledgers import begin
from chat.messages.number_ledgers import find_ledger
from chat.people.access import NotFound, writable_message
from chat.vocabulary.parts import Role


class MessageNumbers(ApiView):
    """The numbers of an answer."""

    @extend_schema(
        operation_id="messages-numbers",
        summary="Read where the numbers of an answer come from",
        parameters=[RETRY_AFTER],
        responses={
            200: NumberSerializer(many=True),
            202: OpenApiResponse(
                TablePendingSerializer, "The numbers are being traced, or the answer is being written."
            ),
            **problem_responses(ProblemType.WRONG_SERVER),
        },
    )
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        """Return each number in the text of an answer with its source: an output, a table, the question, or code.

        They are traced when an answer ends, and of earlier and imported answers when this is first called. Until then
        the status is 202: call again.
        """
        message = writable_message(self.caller, message_id)
        if message.role != Role.MODEL:
            raise NotFound
        ledger = find_ledger(message.pk)
        if ledger is not None:
            return Response(ledger.numbers)
        self.require_asgi()
        if message.turn is None or not message.turn.is_live:
            async_to_sync(begin)(message.pk)
        return Response({"state": "reading"}, status=202, headers={"Retry-After": str(POLL_AFTER_S)})
