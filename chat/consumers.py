"""The socket door of a conversation: authorise at the handshake, relay frames, take actions.

Each socket keeps its place (revision, turn, seq) and a window of frames that the page has not acknowledged. A gap,
a full window or a joining in the middle is answered with a snapshot read from the database, and following goes on
from there. No input closes the socket: what cannot be taken is answered with a sentence.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs

from channels.consumer import get_handler_name
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError
from django.http import parse_cookie

from chat.access import NotFound, readable_conversation, signed_in, writable_conversation
from chat.forms import EditForm, SendForm, VersionForm
from chat.fragments import EMPTY, beside_swaps, error_html, frame, message_html, partial, transcript_html
from chat.models import Conversation
from chat.turns import broadcast, watch
from chat.turns.branches import SwitchRefused
from chat.turns.broadcast import Frame
from chat.turns.deciding import StartRefused
from chat.turns.following import REFUSED_LIMIT, WINDOW_FRAMES, Pace, Place, Window
from chat.turns.runner import start_turn, stop_turn, switch_version
from chat.turns.spending import conversation_usage
from chat.turns.starting import Ask, Continuation, Edit, Version
from chat.turns.transcript import Snapshot, is_current, snapshot

CLOSE_GONE = 4404
CLOSE_TOO_SLOW = 1013
CLOSE_TOO_FAST = 1008

NO_CONVERSATION = "This conversation is gone."
RETRY_PAUSE_S = 1.0

logger = logging.getLogger(__name__)

_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="snapshot")
"""Apart from Django's shared thread: a long transcript must not hold up other sockets' handshakes."""

_sockets: Counter[int] = Counter()
"""Open sockets of this process, by user."""


class ConversationConsumer(AsyncWebsocketConsumer):
    """One tab's socket."""

    #: No layer of that name: `broadcast` follows the layer for the whole process, and survives its failures.
    channel_layer_alias = "none"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's own
        """Serve one socket; however that ends, nothing of it is left behind."""
        self._pump_task: asyncio.Task[None] | None = None
        self._is_counted = self._is_following = False
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._is_counted:
                _sockets[self.user.pk] -= 1
            if self._pump_task:
                self._pump_task.cancel()
            if self._is_following:
                broadcast.unsubscribe(self.conversation_id, self)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle one event of the socket.

        Channels looks after database connections before each, on another thread; here each query does so for itself,
        and most messages are acknowledgements, which ask nothing.
        """
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        """Accept only someone who may read the conversation; everyone else is refused at the handshake."""
        self.session_key = _session_key_in(self.scope["headers"])
        self.conversation_id: uuid.UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        self._frames: deque[Frame] = deque()
        self._work = asyncio.Event()
        self._window = Window()
        self._pace = Pace()
        self._place = Place(_revision_in(self.scope["query_string"]))
        self._is_behind = False
        # Before it is read how things stand: what happens meanwhile waits in `_frames`.
        self._is_following = True
        broadcast.subscribe(self.conversation_id, self)
        try:
            enter = database_sync_to_async(_enter)
            user, is_current = await enter(self.session_key, self.conversation_id, self._place.revision)
        except NotFound:
            await self.close()
            return
        self.user = user
        if _sockets[self.user.pk] >= settings.SOCKETS_LIMIT:
            await self.close()
            return
        _sockets[self.user.pk] += 1
        self._is_counted = True
        await self.accept()
        self._is_behind = self._is_behind or not is_current
        self._pump_task = asyncio.get_running_loop().create_task(self._pump())
        watch.ensure_watching()
        self._work.set()

    # --- following ------------------------------------------------------------------------------------------------

    def deliver(self, frame: Frame) -> None:
        """Take a frame of this conversation; called by `broadcast`, never waits."""
        if not frame.text:
            if self._is_behind or frame.revision == self._place.revision:
                return
            self._is_behind = True
        elif len(self._frames) >= WINDOW_FRAMES:
            self._frames.clear()
            self._is_behind = True
        else:
            # Also while a snapshot is read: it may have been read just before this frame was stored.
            self._frames.append(frame)
        self._work.set()

    async def _pump(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            try:
                await self._bring_up_to_date()
            except Exception:
                # The database may be away for a moment; the page must not stay behind for ever.
                logger.exception("a page of conversation %s could not be brought up to date", self.conversation_id)
                self._is_behind = True
                await asyncio.sleep(RETRY_PAUSE_S)
                self._work.set()

    async def _bring_up_to_date(self) -> None:
        while (self._is_behind or self._frames) and not self._window.is_full:
            if self._is_behind:
                await self._catch_up()
            else:
                await self._relay(self._frames.popleft())

    async def _relay(self, next_frame: Frame) -> None:
        if next_frame.is_aside:
            await self._answer(next_frame.text)
            return
        if self._place.has_seen(next_frame):
            return
        if not self._place.follows(next_frame):
            self._is_behind = True
            return
        await self._push(next_frame.text, Place(next_frame.revision, next_frame.turn_id, next_frame.seq))

    async def _catch_up(self) -> None:
        # Frames that come while it is read follow it, or are in it, or show a gap again.
        self._frames.clear()
        self._is_behind = False
        read = database_sync_to_async(_read, thread_sensitive=False, executor=_readers)
        try:
            now, text = await read(self.conversation_id, self._place.revision)
        except Conversation.DoesNotExist:
            await self.end(CLOSE_GONE, NO_CONVERSATION)
            return
        live = now.live
        await self._push(text, Place(now.revision, str(live.turn_id) if live else "", live.seq if live else 0))

    async def _push(self, text: str, place: Place) -> None:
        """Send a frame, if it is not empty; the page is at `place` only once that has worked."""
        if text:
            if await self._is_sent_away():
                return
            self._window.add(place.turn_id, place.seq, len(text))
            await self.send(text_data=text)
        self._place = place

    async def _is_sent_away(self) -> bool:
        """Whether this client takes nothing of what it is sent; then its socket is closed."""
        is_ignored = self._window.is_ignored
        if is_ignored:
            await self.close(CLOSE_TOO_SLOW)
        return is_ignored

    async def end(self, code: int, sentence: str) -> None:
        """Say why, and close: the right to read this conversation is gone."""
        if self._pump_task is None:
            # Not let in yet: the handshake looks for itself.
            return
        await self._complain(sentence)
        await self.close(code)

    # --- actions --------------------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One JSON object with an `action`; hx-ws sends a form's fields as its `body`."""
        if not self._pace.allows():
            # One of them is told so, the others cost nothing; whoever goes on for long is sent away.
            if self._pace.refused == 1:
                await self._complain("This is too fast. Wait a second.")
            elif self._pace.refused > REFUSED_LIMIT:
                await self.close(CLOSE_TOO_FAST)
            return
        try:
            message = json.loads(text_data or "")
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict) and "action" not in message and isinstance(message.get("body"), dict):
            message = message["body"]
        if not isinstance(message, dict) or not isinstance(message.get("action"), str):
            await self._complain("This message was not understood: it must be a JSON object with an action.")
            return
        action = ACTIONS.get(message["action"])
        if action is None:
            await self._complain(f"There is no such action; there are {', '.join(ACTIONS)}.")
            return
        try:
            await action(self, message)
        except NotFound as absent:
            await self._complain(str(absent))
        except Conversation.DoesNotExist:
            # Deleted between the check and the lock.
            await self._complain(NO_CONVERSATION)
        except (StartRefused, SwitchRefused) as refusal:
            await self._complain(str(refusal))
        except DatabaseError:
            logger.exception("an action in conversation %s failed", self.conversation_id)
            await self._complain("The server's database does not answer just now. Nothing was sent; try again soon.")

    async def _send_text(self, message: dict[str, Any]) -> None:
        await self._ask(SendForm(message))

    async def _edit(self, message: dict[str, Any]) -> None:
        await self._ask(EditForm(message))

    async def _ask(self, form: SendForm) -> None:
        if not form.is_valid():
            await self._complain(form.sentence())
            return
        data = form.cleaned_data

        place = self.user, self.conversation_id, data["text"], data["attachments"]
        chosen = {name: data[name] for name in ("client_id", "model")} | {"code_mode": data["code_execution"]}
        if edited := data.get("message_id"):
            await start_turn(Edit(*place, message_id=edited, **chosen))
        else:
            await start_turn(Ask(*place, **chosen))
        accepted = {"accepted": data["client_id"]} if data["client_id"] else {}
        await self._answer(frame(partial("composer-error", "innerHTML", EMPTY), **accepted))

    def _authorise(self) -> uuid.UUID:
        return writable_conversation(self.user, self.conversation_id).pk

    async def _continue(self, message: dict[str, Any]) -> None:
        without_tools = message.get("code_execution") == "off"
        await start_turn(Continuation(self.user, self.conversation_id, without_tools=without_tools))
        await self._clear_complaint()

    async def _regenerate(self, message: dict[str, Any]) -> None:
        form = VersionForm(message, is_required=False)
        if not form.is_valid():
            await self._complain(form.sentence())
            return
        await start_turn(Version(self.user, self.conversation_id, form.cleaned_data["message_id"]))
        await self._clear_complaint()

    async def _switch(self, message: dict[str, Any]) -> None:
        form = VersionForm(message)
        if not form.is_valid():
            await self._complain(form.sentence())
            return
        await switch_version(self._authorise, form.cleaned_data["message_id"])
        await self._clear_complaint()

    async def _stop(self, message: dict[str, Any]) -> None:
        await stop_turn(await database_sync_to_async(self._authorise)())

    async def _acknowledge(self, message: dict[str, Any]) -> None:
        turn_id, seq = message.get("turn"), message.get("seq")
        if (turn_id is None or isinstance(turn_id, str)) and isinstance(seq, int):
            self._window.acknowledge(turn_id or "", seq)
            self._work.set()

    async def _clear_complaint(self) -> None:
        await self._answer(frame(partial("composer-error", "innerHTML", EMPTY)))

    async def _complain(self, sentence: str) -> None:
        await self._answer(frame(partial("composer-error", "innerHTML", error_html(sentence))))

    async def _answer(self, text: str) -> None:
        """To this socket alone, or beside the transcript."""
        if not await self._is_sent_away():
            self._window.beside_bytes += len(text)
            await self.send(text_data=text)


ACTIONS: dict[str, Callable[[ConversationConsumer, dict[str, Any]], Awaitable[None]]] = {
    "send": ConversationConsumer._send_text,
    "stop": ConversationConsumer._stop,
    "regenerate": ConversationConsumer._regenerate,
    "edit": ConversationConsumer._edit,
    "switch": ConversationConsumer._switch,
    "continue": ConversationConsumer._continue,
    "ack": ConversationConsumer._acknowledge,
}


def _revision_in(query_string: bytes) -> int | None:
    """The revision that the page was rendered at."""
    value = parse_qs(query_string.decode("latin-1")).get("revision", [""])[0]
    return int(value) if value.isdecimal() and len(value) < 16 else None


def _session_key_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The session that a handshake's cookie names; empty where there is none."""
    cookies = parse_cookie("; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie"))
    return cookies.get(settings.SESSION_COOKIE_NAME, "")


def _enter(
    session_key: str, conversation_id: uuid.UUID, known_revision: int | None
) -> tuple[AbstractBaseUser | AnonymousUser, bool]:
    """Who it is, and whether a page that knows this revision is up to date.

    Raises NotFound where they may not read it. Everything in one crossing to the database's thread, which is why no
    middleware has looked for the user before.
    """
    user = signed_in(session_key)
    readable_conversation(user, conversation_id)
    return user, is_current(conversation_id, known_revision)


def _read(conversation_id: uuid.UUID, known_revision: int | None) -> tuple[Snapshot, str]:
    """A snapshot, and the frame that brings a page up to it; raises Conversation.DoesNotExist."""
    now = snapshot(conversation_id, known_revision=known_revision)
    return now, _snapshot_frame(conversation_id, now, known_revision)


def _snapshot_frame(conversation_id: uuid.UUID, now: Snapshot, known_revision: int | None) -> str:
    """Brings a page up to `now`: the live article where its shape is known, else the whole transcript."""
    if now.revision != known_revision:
        content = partial("transcript", "innerMorph", transcript_html(now.messages))
        content += beside_swaps(Conversation.objects.get(pk=conversation_id), conversation_usage(conversation_id))
    elif now.live:
        content = partial(f"message-{now.live.message_id}", "outerMorph", message_html(now.messages[0]))
    else:
        return ""
    if now.live:
        return frame(content, turn=str(now.live.turn_id), seq=now.live.seq)
    return frame(content, turn="", seq=0)
