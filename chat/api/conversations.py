"""Conversations and their messages."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from chat.access import NotFound, conversations_of, readable_conversation, writable_conversation
from chat.api.describing import describe
from chat.api.doors import ApiView
from chat.api.incoming import ConversationChanges, ConversationsQuery, MessagesQuery, NewConversation
from chat.api.outgoing import ConversationDetail, ConversationPage, MessagePage
from chat.api.problems import invalid
from chat.api.reading import live_turn_id, messages_in_view, usage_totals
from chat.api.shapes import conversation_json, match_json, message_json
from chat.catalogue.choices import check_choice
from chat.catalogue.setups import UnknownModel
from chat.exports.reading import Vanished
from chat.forms import PlaceField
from chat.models import Conversation
from chat.models.found import found
from chat.search.query import parse


class Conversations(ApiView):
    """A person's conversations."""

    @describe(
        "conversations-list",
        "List conversations",
        "Newest first, or with `q` those in which all words stand.",
        query=ConversationsQuery,
        answers={200: ConversationPage},
    )
    def get(self, request: Request) -> Response:
        """List."""
        asked = self.query(ConversationsQuery)
        searched: str = asked.get("q", "")
        terms = parse(searched)
        theirs = conversations_of(self.caller)
        for name in ("archived", "pinned"):
            if asked[name] is not None:
                theirs = theirs.filter(**{f"{name}_at__isnull": not asked[name]})
        page = (theirs.holding(terms) if searched else theirs).page(asked["limit"], asked.get("cursor"))
        results = [conversation_json(conversation) for conversation in page.conversations]
        if searched:
            matches = found(page.conversations, terms)
            results = [said | {"match": match_json(match)} for said, match in zip(results, matches, strict=True)]
        cursor = PlaceField.written(page.end) if page.end else None
        return Response({"results": results, "next": next_url(request, cursor)})

    @describe(
        "conversations-create",
        "Create a conversation",
        "An empty one.",
        body=NewConversation,
        answers={201: ConversationDetail},
        problems=(400, 413, 415, 422),
    )
    def post(self, request: Request) -> Response:
        """Create."""
        given = self.body(NewConversation)
        check_model(given)
        if given.get("title"):
            given["title_source"] = Conversation.TitleSource.USER
        created = Conversation.objects.create(owner_id=self.caller.pk, **given)
        return Response(detail_json(created), status=201, headers={"Location": f"{request.path}{created.pk}/"})


class OneConversation(ApiView):
    """One conversation."""

    @describe(
        "conversations-read",
        "Read a conversation",
        "Its settings and what it has used.",
        answers={200: ConversationDetail},
        problems=(404,),
        has_etag=True,
    )
    def get(self, request: Request, conversation_id: uuid.UUID) -> HttpResponseBase:
        """Read."""
        return self.tagged(detail_json(readable_conversation(self.caller, conversation_id)))

    @describe(
        "conversations-change",
        "Change a conversation",
        "Its settings; those that are not named stay.",
        body=ConversationChanges,
        answers={200: ConversationDetail},
        problems=(400, 404, 412, 413, 415, 422),
        has_if_match=True,
    )
    def patch(self, request: Request, conversation_id: uuid.UUID) -> HttpResponseBase:
        """Change."""
        conversation = writable_conversation(self.caller, conversation_id)
        given = self.body(ConversationChanges)
        if given.get("model", conversation.model) != conversation.model:
            check_model(given)
        with transaction.atomic():
            locked = Conversation.objects.select_for_update().filter(pk=conversation.pk).first()
            if locked is None:
                raise NotFound
            self.check_unchanged(detail_json(locked))
            if given:
                locked.change_settings(given)
        response = Response(said := detail_json(locked))
        return self.with_tag(response, said)

    @describe(
        "conversations-delete",
        "Delete a conversation",
        "With its messages, and with the files that only it shows. A live answer ends.",
        answers={204: None},
        problems=(404, 412),
        has_if_match=True,
    )
    def delete(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Delete."""
        conversation = writable_conversation(self.caller, conversation_id)
        self.check_unchanged(detail_json(conversation))
        conversation.delete_with_attachments()
        return Response(status=204)


class ConversationMessages(ApiView):
    """The messages in view."""

    @describe(
        "messages-list",
        "List messages",
        "Of a conversation, in their order; of several versions those in view. A live answer is told as far as it"
        " has come.",
        query=MessagesQuery,
        answers={200: MessagePage},
        problems=(400, 404),
    )
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """List."""
        conversation = readable_conversation(self.caller, conversation_id)
        asked = self.query(MessagesQuery)
        try:
            messages, following = messages_in_view(conversation, start=asked.get("cursor", 0), limit=asked["limit"])
        except Vanished:
            raise NotFound from None
        cursor = None if following is None else str(following)
        return Response({"results": [message_json(told) for told in messages], "next": next_url(request, cursor)})


def detail_json(conversation: Conversation) -> dict[str, Any]:
    """A conversation with what it has used; two queries."""
    live = live_turn_id(conversation)
    return {
        **conversation_json(conversation),
        "live_turn_id": None if live is None else str(live),
        "usage": usage_totals(conversation),
    }


def check_model(given: dict[str, Any]) -> None:
    """Raises Problem for a model that nobody may choose."""
    if given.get("model"):
        try:
            check_choice(given["model"])
        except UnknownModel as unknown:
            raise invalid("refused", model=str(unknown)) from None


def next_url(request: Request, cursor: str | None) -> str | None:
    """The address of the page that goes on from there."""
    if cursor is None:
        return None
    return f"{request.path}?{urlencode({**request.query_params.dict(), 'cursor': cursor})}"
