"""Calls about conversations and their messages."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.conditional_requests import check_if_match, conditional_response, etag_of, with_etag
from chat.api.pagination import encode_cursor, page_response
from chat.api.problems import ProblemType, refused
from chat.api.queries import fitting_conversations, shown_messages
from chat.api.schema import ETAG, IF_MATCH, IF_NONE_MATCH, problem_responses
from chat.api.serializers.conversations import (
    ConversationChangesSerializer,
    ConversationDetailSerializer,
    ConversationPageSerializer,
    ConversationsQuerySerializer,
    ListedConversationSerializer,
    NewConversationSerializer,
    SearchMatchSerializer,
)
from chat.api.serializers.messages import MessagePageSerializer, MessageSerializer, MessagesQuerySerializer
from chat.api.views.base import ApiView
from chat.library.new_conversations import create_conversation
from chat.messages.records import Deleted
from chat.models import Conversation, Project, ProjectRefused, User, temporary_conversations
from chat.models.deletion import delete_conversation
from chat.models.full_text.query import parse
from chat.models.projects import lock_project, move_conversation
from chat.models.ranked_search import search_page
from chat.models.search_results import load_search_results
from chat.people.access import (
    NotFound,
    conversations_of,
    readable_conversation,
    writable_conversation,
    writable_project,
)
from chat.providers.catalogue.choices import check_choice
from chat.providers.catalogue.setups import UnknownModel


class Conversations(ApiView):
    """The caller's conversations."""

    @extend_schema(
        operation_id="conversations-list",
        summary="List conversations",
        parameters=[ConversationsQuerySerializer],
        responses=ConversationPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """Return conversations, newest first. With `q`, those that contain all words, the best matches first."""
        query = ConversationsQuerySerializer.parse(request.query_params.dict())
        conversations = conversations_of(self.caller).kept()
        for name in ("archived", "pinned"):
            if name in query:
                conversations = conversations.filter(**{f"{name}_at__isnull": not query[name]})
        if "project" in query:
            conversations = conversations.filter(project=query["project"])
        terms, limit, cursor = parse(query["q"]), query["limit"], query.get("cursor")
        searched = search_page(conversations, terms, self.caller.pk, limit, cursor) if query["q"] else None
        page = fitting_conversations(searched or conversations.page(limit, cursor))
        results = [ListedConversationSerializer(conversation).data for conversation in page.conversations]
        if query["q"]:
            for json, match in zip(results, load_search_results(page.conversations, terms), strict=True):
                json["match"] = SearchMatchSerializer(match).data
        return page_response(request, results, encode_cursor(page.end) if page.end else None)

    @extend_schema(
        operation_id="conversations-create",
        summary="Create a conversation",
        request=NewConversationSerializer,
        responses={201: ConversationDetailSerializer, **problem_responses(ProblemType.REFUSED, ProblemType.QUOTA)},
    )
    def post(self, request: Request) -> Response:
        """Create an empty conversation."""
        fields = NewConversationSerializer.parse(request.data)
        check_model(fields.get("model", ""))
        if fields.get("title"):
            fields["title_source"] = Conversation.TitleSource.USER
        if fields.pop("is_temporary", False):
            fields["temporary_seen_at"] = timezone.now()
        with transaction.atomic():
            project = _lock_project(self.caller, fields.pop("project", None))
            if project and "temporary_seen_at" in fields:
                raise refused("project", "A temporary conversation cannot be in a project.")
            conversation = create_conversation(self.caller.pk, project, **fields)
        body = ConversationDetailSerializer(conversation).data
        return Response(body, status=201, headers={"Location": f"{request.path}{conversation.pk}/"})


class ConversationDetail(ApiView):
    """One conversation."""

    @extend_schema(
        operation_id="conversations-read",
        summary="Read a conversation",
        parameters=[IF_NONE_MATCH, ETAG],
        responses={200: ConversationDetailSerializer, 304: None, **problem_responses(ProblemType.CHANGED)},
    )
    def get(self, request: Request, conversation_id: uuid.UUID) -> HttpResponseBase:
        """Return a conversation's settings and what it has used."""
        conversation = readable_conversation(self.caller, conversation_id)
        return conditional_response(request, ConversationDetailSerializer(conversation).data)

    @extend_schema(
        operation_id="conversations-change",
        summary="Change a conversation",
        request=ConversationChangesSerializer,
        parameters=[IF_MATCH, ETAG],
        responses={
            200: ConversationDetailSerializer,
            **problem_responses(ProblemType.CHANGED, ProblemType.REFUSED),
        },
    )
    def patch(self, request: Request, conversation_id: uuid.UUID) -> HttpResponseBase:
        """Change the settings that the body names. The others keep their values."""
        conversation = writable_conversation(self.caller, conversation_id)
        changes = ConversationChangesSerializer.parse(request.data)
        if changes.get("model", conversation.model) != conversation.model:
            check_model(changes["model"])
        with transaction.atomic():
            # Lock the project before the conversation, as the deletion of a project does. So the two cannot deadlock.
            is_moved, project = "project" in changes, _lock_project(self.caller, changes.pop("project", None))
            locked = Conversation.objects.select_for_update().filter(pk=conversation.pk).first()
            if locked is None:
                raise NotFound
            check_if_match(request, ConversationDetailSerializer(locked).data)
            _change_lifetime(locked, changes.pop("is_temporary", locked.is_temporary))
            if is_moved:
                _move(locked, project)
            if changes:
                locked.change_settings(changes)
        body = ConversationDetailSerializer(locked).data
        return with_etag(Response(body), etag_of(body))

    @extend_schema(
        operation_id="conversations-delete",
        summary="Delete a conversation",
        parameters=[IF_MATCH],
        responses={204: None, **problem_responses(ProblemType.CHANGED)},
    )
    def delete(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Delete a conversation with its messages and with the files that only it shows. A live answer ends."""
        conversation = writable_conversation(self.caller, conversation_id)
        check_if_match(request, ConversationDetailSerializer(conversation).data)
        delete_conversation(conversation)
        return Response(status=204)


class ConversationMessages(ApiView):
    """The shown messages of one conversation."""

    @extend_schema(
        operation_id="messages-list",
        summary="List messages",
        parameters=[MessagesQuerySerializer],
        responses=MessagePageSerializer,
    )
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Return messages in the conversation's order. A live answer is returned as far as it has been received."""
        conversation = readable_conversation(self.caller, conversation_id)
        query = MessagesQuerySerializer.parse(request.query_params.dict())
        try:
            records, next_index = shown_messages(conversation, first_index=query["cursor"], limit=query["limit"])
        except Deleted:
            raise NotFound from None
        results = [MessageSerializer(record).data for record in records]
        return page_response(request, results, None if next_index is None else str(next_index))


def _change_lifetime(conversation: Conversation, is_temporary: bool) -> None:
    """Keep a temporary conversation if `is_temporary` is false.

    Raises NotFound if it was deleted, and Problem if a kept conversation is to become temporary.
    """
    if is_temporary == conversation.is_temporary:
        return
    if is_temporary:
        raise refused("is_temporary", "Only a new conversation can be temporary.")
    if not temporary_conversations.keep(conversation):
        raise NotFound
    conversation.temporary_seen_at = None


def _lock_project(caller: User, project_id: uuid.UUID | None) -> Project | None:
    """Return a project of the caller, which is locked until the transaction ends.

    Raises the same Problem for a project that does not exist and for one of another user.
    """
    if project_id is None:
        return None
    try:
        return lock_project(writable_project(caller, project_id))
    except (NotFound, Project.DoesNotExist):
        raise refused("project", "There is no project with this id.") from None


def _move(conversation: Conversation, project: Project | None) -> None:
    """Put a conversation into a project, or take it out. Raises Problem if the project cannot take it."""
    try:
        move_conversation(conversation, project)
    except ProjectRefused as refusal:
        raise refused("project", str(refusal)) from None


def check_model(name: str) -> None:
    """Raise Problem for a model that users may not choose. An empty name means the default model and is allowed."""
    try:
        if name:
            check_choice(name)
    except UnknownModel as unknown:
        raise refused("model", str(unknown)) from None
