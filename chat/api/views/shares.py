"""Calls about shares: links to conversations as they are when the link is made."""

from __future__ import annotations

import uuid

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.pagination import page_response
from chat.api.problems import Problem, ProblemType, refused
from chat.api.schema import problem_responses
from chat.api.serializers.shares import NewShareSerializer, SharePageSerializer, ShareSerializer
from chat.api.views.base import ApiView
from chat.models import Conversation, Share, ShareRefused
from chat.people.access import NotFound, check_sharing, revocable_share, writable_conversation


class ConversationShares(ApiView):
    """The shares of one conversation."""

    @extend_schema(
        operation_id="shares-list",
        summary="List the links of a conversation",
        tags=["shares"],
        responses=SharePageSerializer,
    )
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Return all links, newest first. There are so few that one page holds them."""
        check_sharing()
        conversation = writable_conversation(self.caller, conversation_id)
        return page_response(request, [ShareSerializer(share).data for share in conversation.shares.all()], None)

    @extend_schema(
        operation_id="shares-create",
        summary="Share a conversation",
        tags=["shares"],
        request=NewShareSerializer,
        responses={201: ShareSerializer, **problem_responses(ProblemType.NOT_SHARABLE, ProblemType.REFUSED)},
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Make a link with which anybody can read what the conversation shows now, with its graphs and files."""
        check_sharing()
        conversation = writable_conversation(self.caller, conversation_id)
        expires_at = NewShareSerializer.parse(request.data).get("expires_at")
        if expires_at is not None and expires_at <= timezone.now():
            raise refused("expires_at", "This must be a time in the future.")
        try:
            share = Share.objects.issue(conversation, expires_at=expires_at)
        except ShareRefused as refusal:
            raise Problem(ProblemType.NOT_SHARABLE, str(refusal)) from None
        except Conversation.DoesNotExist:
            raise NotFound from None
        return Response(ShareSerializer(share).data, status=201)


class ShareDetail(ApiView):
    """One link."""

    @extend_schema(
        operation_id="shares-delete",
        summary="Revoke a link",
        tags=["shares"],
        responses={204: None},
    )
    def delete(self, request: Request, share_id: uuid.UUID) -> Response:
        """Revoke a link. From now on it leads nowhere."""
        revocable_share(self.caller, share_id).delete()
        return Response(status=204)
