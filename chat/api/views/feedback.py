"""Calls about feedback on answers."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.answering.turns.feedback import Thumb, rate
from chat.api.problems import Problem, ProblemType
from chat.api.schema import problem_responses
from chat.api.serializers.feedback import FeedbackSerializer, RatingSerializer
from chat.api.views.base import ApiView
from chat.models import Conversation, FeedbackNotAllowed
from chat.page.message_views import Rating
from chat.people.access import NotFound, writable_message


class MessageFeedback(ApiView):
    """What the caller thinks of an answer."""

    @extend_schema(
        operation_id="feedback-set",
        summary="Rate an answer",
        request=RatingSerializer,
        responses={200: FeedbackSerializer, **problem_responses(ProblemType.NOT_RATABLE)},
    )
    def put(self, request: Request, message_id: uuid.UUID) -> Response:
        """Store a rating in place of an earlier one. Open pages show it at once."""
        rating = self._rate(message_id, Thumb(**RatingSerializer.parse(request.data)))
        return Response(FeedbackSerializer(rating).data)

    @extend_schema(
        operation_id="feedback-delete",
        summary="Remove a rating",
        responses={204: None},
    )
    def delete(self, request: Request, message_id: uuid.UUID) -> Response:
        """Remove the rating of an answer, if there is one."""
        self._rate(message_id, None)
        return Response(status=204)

    def _rate(self, message_id: uuid.UUID, thumb: Thumb | None) -> Rating:
        try:
            return rate(writable_message(self.caller, message_id), self.caller, thumb)
        except FeedbackNotAllowed as refusal:
            raise Problem(ProblemType.NOT_RATABLE, str(refusal)) from None
        except Conversation.DoesNotExist:
            raise NotFound from None
