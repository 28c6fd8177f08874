"""Rating answers."""

from __future__ import annotations

import uuid

from rest_framework.request import Request
from rest_framework.response import Response

from chat.access import NotFound, writable_message
from chat.api.describing import describe
from chat.api.doors import ApiView
from chat.api.incoming import FeedbackChange
from chat.api.outgoing import FeedbackItem
from chat.api.problems import Problem
from chat.fragments import Rating
from chat.models import Conversation, NoFeedbackHere
from chat.turns.rating import Thumb, rate


class MessageFeedback(ApiView):
    """What the caller thinks of an answer."""

    @describe(
        "feedback-set",
        "Rate an answer",
        "In place of what was said of it before. Open pages show it at once. 409: it is no answer, or is still being"
        " written.",
        body=FeedbackChange,
        answers={200: FeedbackItem},
        problems=(400, 404, 409, 413, 415),
    )
    def put(self, request: Request, message_id: uuid.UUID) -> Response:
        """Rate."""
        given = self.body(FeedbackChange)
        rating = self._rate(message_id, Thumb(given["is_good"], given.get("reason", "")))
        return Response({"is_good": rating.is_good, "reason": rating.reason})

    @describe(
        "feedback-delete",
        "Take a rating back",
        "Harmless where there is none.",
        answers={204: None},
        problems=(404,),
    )
    def delete(self, request: Request, message_id: uuid.UUID) -> Response:
        """Take back."""
        self._rate(message_id, None)
        return Response(status=204)

    def _rate(self, message_id: uuid.UUID, thumb: Thumb | None) -> Rating:
        try:
            return rate(writable_message(self.caller, message_id), self.caller, thumb)
        except NoFeedbackHere as refusal:
            raise Problem("not-ratable", str(refusal)) from None
        except Conversation.DoesNotExist:
            raise NotFound from None
