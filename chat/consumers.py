"""The socket of a conversation's page.

The handshake checks who may read the conversation. Then the socket sends updates of the page (`relay.follower`) and
handles the page's actions. Invalid input is answered with an error message. Only a client that sends far too many
messages is disconnected.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import parse_qs

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import translation

from chat.answering.turns.draining import Draining
from chat.answering.turns.resume import CodeRefused, DecisionRefused
from chat.answering.turns.runner import decide, start_turn, stop_turn, switch_version
from chat.answering.turns.start import Ask, Continue, Edit, Regenerate
from chat.answering.turns.start_rules import StartRefused
from chat.answering.turns.versions import SwitchRefused
from chat.library.forms import ApprovalForm, EditForm, MessageForm, SendForm, WindowForm
from chat.messages.approval import ApprovalDecision
from chat.models import Conversation, User
from chat.page.fragments import EMPTY, error_html, partial, socket_message
from chat.page.relay.follower import CLOSE_RESTARTING, DELETED, Follower
from chat.page.relay.rate_limiter import ANSWERED_LIMIT, REFUSED_LIMIT, RateLimiter
from chat.page.transcript.snapshot import is_current
from chat.page.transcript.window import Window
from chat.people.access import NotFound, readable_conversation, turn_to_decide, writable_conversation
from chat.people.quotas.resources import QuotaExceeded
from chat.vocabulary.parts import JSONObject

CLOSE_TOO_FAST = 4429
"""Close code for a client that sends too fast. Autobahn rejects codes below 3000; applications have those from 4000."""

TOO_FAST = "This is too fast. Wait a second."
NOT_UNDERSTOOD = "This message was not understood: it must be a JSON object with an action."
DATABASE_UNAVAILABLE = "The server's database does not answer just now. Nothing was sent; try again soon."

logger = logging.getLogger(__name__)

_open_sockets: Counter[int] = Counter()
"""Id of a user -> number of open sockets in this process."""


class ConversationConsumer(AsyncWebsocketConsumer):
    """The socket of one page."""

    #: No channel layer has this name, so Channels opens none for each socket: `relay.broadcast` has one for all.
    channel_layer_alias = "none"

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one socket, and release its resources in every case.

        Channels calls `disconnect` only if the client has disconnected.
        """
        self._follower: Follower | None = None
        self._is_counted = False
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._is_counted:
                _open_sockets[self.user.pk] -= 1
            if self._follower:
                self._follower.stop()

    async def connect(self) -> None:
        """Accept a user who may read the conversation and has fewer than `SOCKETS_LIMIT` sockets in this process."""
        self.user: User = self.scope["user"]
        self.conversation_id: uuid.UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        self._rate = RateLimiter()
        # This sets the language of this task and of all tasks that it starts, such as the follower's.
        translation.activate(self.user.shown_language if self.user.is_authenticated else settings.LANGUAGE_CODE)
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        revision = _known_revision(query)
        session_key = self.scope["session"].session_key or ""
        # The follower subscribes before the state is read, so that no frame is lost in between.
        self._follower = Follower(
            self, self.conversation_id, user=self.user, session_key=session_key, revision=revision
        )
        try:
            is_up_to_date = await database_sync_to_async(_enter)(self.user, self.conversation_id, revision)
        except NotFound:
            await self.close()
            return
        if _open_sockets[self.user.pk] >= settings.SOCKETS_LIMIT:
            await self.close()
            return
        _open_sockets[self.user.pk] += 1
        self._is_counted = True
        await self.accept()
        self._follower.start(is_outdated=not is_up_to_date, waits_for_window="expects" in query)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle one JSON object with an `action`. hx-ws sends the fields of a form as its `body`."""
        if not self._rate.allows():
            # Answer the first refused message, and up to `ANSWERED_LIMIT` those with a `client_id`, whose sender waits
            # for an answer. Disconnect a client that continues to send.
            if self._rate.refused > REFUSED_LIMIT:
                await self.close(CLOSE_TOO_FAST)
            elif self._rate.refused == 1 or (
                self._rate.refused <= ANSWERED_LIMIT and '"client_id"' in (text_data or "")
            ):
                await self._refuse(_parsed(text_data) or {}, TOO_FAST)
            return
        message = _parsed(text_data)
        if message is None:
            await self.complain(NOT_UNDERSTOOD)
            return
        action = ACTIONS.get(str(message["action"]))
        if action is None:
            await self.complain(f"There is no such action; there are {', '.join(ACTIONS)}.")
            return
        if self._follower and action is not ConversationConsumer._set_window:
            self._follower.stop_waiting()
        try:
            await action(self, message)
        except Conversation.DoesNotExist:
            # The conversation was deleted between the check and the lock.
            await self._refuse(message, DELETED)
        except Draining as refusal:
            # No error for a message with a client_id: the page sends it again on its next connection.
            if not message.get("client_id"):
                await self._refuse(message, str(refusal))
            await self.close(CLOSE_RESTARTING)
        except (NotFound, StartRefused, SwitchRefused, DecisionRefused, CodeRefused, QuotaExceeded) as refusal:
            await self._refuse(message, str(refusal))
        except (DatabaseError, InterfaceError):
            logger.exception("an action in conversation %s failed", self.conversation_id)
            await self._refuse(message, DATABASE_UNAVAILABLE)

    # --- actions --------------------------------------------------------------------------------------------------

    async def _ask(self, message: JSONObject) -> None:
        form = EditForm(message) if message["action"] == "edit" else SendForm(message)
        if not form.is_valid():
            await self._refuse(message, form.sentence())
            return
        data = form.cleaned_data
        question = self.user, self.conversation_id, data["text"], data["attachments"]
        chosen = {"client_id": data["client_id"], "model": data["model"], "code_mode": data["code_execution"]}
        if self._follower:
            self._follower.follow_end()
        if edited := data.get("message_id"):
            await start_turn(Edit(*question, message_id=edited, **chosen))
        else:
            await start_turn(Ask(*question, **chosen))
        await self._clear_complaint(**({"accepted": data["client_id"]} if data["client_id"] else {}))

    async def _continue(self, message: JSONObject) -> None:
        without_tools = message.get("code_execution") == "off"
        await start_turn(Continue(self.user, self.conversation_id, without_tools=without_tools))
        await self._clear_complaint()

    async def _regenerate(self, message: JSONObject) -> None:
        form = MessageForm(message, is_required=False)
        if not form.is_valid():
            await self.complain(form.sentence())
            return
        await start_turn(Regenerate(self.user, self.conversation_id, form.cleaned_data["message_id"]))
        await self._clear_complaint()

    async def _switch(self, message: JSONObject) -> None:
        form = MessageForm(message)
        if not form.is_valid():
            await self.complain(form.sentence())
            return
        if self._follower:
            # The chosen version must stay on the page, although many messages may follow it.
            self._follower.keep_in_view(form.cleaned_data["message_id"])
        await switch_version(self._authorise, form.cleaned_data["message_id"])
        await self._clear_complaint()

    async def _stop(self, message: JSONObject) -> None:
        """Stop the answer that is being written. With a `message_id`, only that answer, and not one that came after."""
        form = MessageForm(message, is_required=False)
        if not form.is_valid():
            await self.complain(form.sentence())
            return
        conversation_id = await database_sync_to_async(self._authorise)()
        await stop_turn(conversation_id, message_id=form.cleaned_data["message_id"])

    async def _decide(self, message: JSONObject) -> None:
        is_approved = message["action"] == "approve"
        form = ApprovalForm(message if is_approved else {**message, "code": None})
        if not form.is_valid():
            await self._refuse(message, form.sentence())
            return
        data = form.cleaned_data
        decision = ApprovalDecision(data["call_id"], is_approved, data["code"], decided_by=self.user.pk)
        shown = data["message_id"]
        await decide(lambda: turn_to_decide(self.user, self.conversation_id, shown).pk, decision)
        await self._clear_complaint()

    async def _acknowledge(self, message: JSONObject) -> None:
        turn_id, seq = message.get("turn"), message.get("seq")
        if self._follower and isinstance(turn_id, str | None) and isinstance(seq, int):
            self._follower.acknowledge(turn_id or "", seq)

    async def _set_window(self, message: JSONObject) -> None:
        """Store the window that the page holds. A page sends it when its socket opens."""
        form = WindowForm(message)
        if not form.is_valid():
            await self.complain(form.sentence())
        elif self._follower:
            data = form.cleaned_data
            self._follower.set_window(Window(data["first"], data["last"]), data["message_id"])

    async def _extend(self, message: JSONObject) -> None:
        if self._follower:
            self._follower.extend("earlier" if message["action"] == "earlier" else "later")

    def _authorise(self) -> uuid.UUID:
        return writable_conversation(self.user, self.conversation_id).pk

    # --- answers to this page alone -------------------------------------------------------------------------------

    async def complain(self, sentence: str) -> None:
        """Show a sentence above the composer of this page, in the user's language."""
        # Another task, with another language, may call this for all sockets of a user.
        with translation.override(self.user.shown_language):
            text = socket_message(partial("composer-error", "innerHTML", error_html(sentence)))
        await self._answer(text)

    async def _refuse(self, message: JSONObject, sentence: str) -> None:
        """Show an error with the id of the refused message, so that the page knows which message was refused."""
        name = message.get("client_id") or message.get("call_id")
        fields = {"rejected": name} if isinstance(name, str) else {}
        await self._answer(socket_message(partial("composer-error", "innerHTML", error_html(sentence)), **fields))

    async def _clear_complaint(self, **fields: str) -> None:
        await self._answer(socket_message(partial("composer-error", "innerHTML", EMPTY), **fields))

    async def _answer(self, text: str) -> None:
        if self._follower:
            await self._follower.send_unordered(text)


ACTIONS: dict[str, Callable[[ConversationConsumer, JSONObject], Awaitable[None]]] = {
    "send": ConversationConsumer._ask,
    "stop": ConversationConsumer._stop,
    "regenerate": ConversationConsumer._regenerate,
    "edit": ConversationConsumer._ask,
    "switch": ConversationConsumer._switch,
    "continue": ConversationConsumer._continue,
    "approve": ConversationConsumer._decide,
    "deny": ConversationConsumer._decide,
    "window": ConversationConsumer._set_window,
    "earlier": ConversationConsumer._extend,
    "later": ConversationConsumer._extend,
    "ack": ConversationConsumer._acknowledge,
}


def _parsed(text: str | None) -> JSONObject | None:
    """Return the JSON object of a socket message; `None` if it is no object with an `action`."""
    try:
        message = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    if isinstance(message, dict) and "action" not in message:
        message = message.get("body")
    return message if isinstance(message, dict) and isinstance(message.get("action"), str) else None


def _known_revision(query: Mapping[str, Sequence[str]]) -> int | None:
    """Return the conversation's revision at which the page was rendered."""
    value = query.get("revision", [""])[0]
    return int(value) if value.isdecimal() and len(value) < 16 else None


def _enter(user: User, conversation_id: uuid.UUID, known_revision: int | None) -> bool:
    """Return whether a page at this revision is current. Raises NotFound if the user may not read the conversation."""
    readable_conversation(user, conversation_id)
    return is_current(conversation_id, known_revision)
