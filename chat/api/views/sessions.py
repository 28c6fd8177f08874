"""Calls about the Python session of a conversation."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator

from asgiref.sync import async_to_sync
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.content_disposition import content_disposition
from attachments.validation import BINARY
from chat.api.problems import Problem, ProblemType, unavailable
from chat.api.schema import problem_responses
from chat.api.serializers.sessions import KeepSerializer, PythonSessionSerializer, SessionState
from chat.api.views.base import ApiView
from chat.models import PythonSession
from chat.models.database_thread import close_connection
from chat.people.access import readable_conversation, writable_conversation
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.python.sessions import control, lifetime
from chat.python.sessions.branch import can_replay, has_run_other_version
from chat.python.sessions.downloads import open_file
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.rows import find_session
from chat.python.sessions.session_kernel import NotRunning, restart

NOT_RUNNING = "No Python session is running in this conversation."
FILE_ENDED = "“{name}” is gone: it ended with the Python session. Only files that were kept stay."
NO_FILE = "The Python session has no file “{name}” any more: it was started again since, or code removed the file."
FILE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class ConversationSession(ApiView):
    """The Python session of one conversation."""

    @extend_schema(operation_id="session-read", summary="Read the Python session", responses=PythonSessionSerializer)
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Return the state of the session, its variables and its files, as they were after the last code."""
        return _session_response(readable_conversation(self.caller, conversation_id).pk)


class SessionInterrupt(ApiView):
    """Interrupts the code that runs in a session."""

    @extend_schema(
        operation_id="session-interrupt",
        summary="Interrupt the code that runs",
        request=None,
        responses={
            200: PythonSessionSerializer,
            **problem_responses(ProblemType.NOT_RUNNING, ProblemType.UNAVAILABLE, ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Interrupt the code that runs now. The variables stay, and an answer that waits for the code goes on."""
        conversation = writable_conversation(self.caller, conversation_id)
        self.require_asgi()
        session = find_session(conversation.pk)
        try:
            is_interrupted = session is not None and async_to_sync(control.interrupt)(session)
        except SessionUnavailable as error:
            raise unavailable(str(error)) from None
        if not is_interrupted:
            raise Problem(ProblemType.NOT_RUNNING, NOT_RUNNING)
        return _session_response(conversation.pk)


class SessionRestart(ApiView):
    """A new kernel for a session."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="session-restart",
        summary="Restart the Python session",
        request=None,
        responses={
            200: PythonSessionSerializer,
            **problem_responses(ProblemType.UNAVAILABLE, ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """End the session with its variables and files, and start an empty one. Code that runs ends."""
        conversation = writable_conversation(self.caller, conversation_id)
        self.require_asgi()
        try:
            async_to_sync(restart)(conversation.pk, conversation.owner_id)
        except SessionUnavailable as error:
            raise unavailable(str(error)) from None
        return _session_response(conversation.pk)


class SessionClose(ApiView):
    """The end of a session."""

    @extend_schema(
        operation_id="session-close",
        summary="End the Python session",
        request=None,
        responses={
            200: PythonSessionSerializer,
            **problem_responses(ProblemType.NOT_RUNNING, ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """End the session with its variables and files. Code that runs ends. The next code starts a new session."""
        conversation = writable_conversation(self.caller, conversation_id)
        self.require_asgi()
        session = find_session(conversation.pk)
        if session is None or not async_to_sync(control.end)(session, control.ENDED_BY_OWNER):
            raise Problem(ProblemType.NOT_RUNNING, NOT_RUNNING)
        return _session_response(conversation.pk)


class SessionKeep(ApiView):
    """A session that lives without use."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="session-keep",
        summary="Keep the Python session for a day",
        request=KeepSerializer,
        responses={200: PythonSessionSerializer, **problem_responses(ProblemType.NOT_RUNNING, ProblemType.NOT_KEPT)},
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Keep the session for 24 hours from now, also if it is not used. With `keep` false, stop keeping it.

        One person may keep one session, and a server a quarter of those that may live at once.
        """
        conversation = writable_conversation(self.caller, conversation_id)
        change = lifetime.keep if KeepSerializer.parse(request.data)["keep"] else lifetime.stop_keeping
        session = find_session(conversation.pk)
        try:
            is_running = session is not None and change(session)
        except lifetime.KeepRefused as refusal:
            raise Problem(ProblemType.NOT_KEPT, str(refusal)) from None
        if not is_running:
            raise Problem(ProblemType.NOT_RUNNING, NOT_RUNNING)
        return _session_response(conversation.pk)


class SessionFile(ApiView):
    """A file that code has written."""

    @extend_schema(
        operation_id="session-file",
        summary="Download a file of the Python session",
        responses={
            (200, BINARY): OpenApiTypes.BINARY,
            **problem_responses(ProblemType.UNAVAILABLE, ProblemType.WRONG_SERVER),
        },
    )
    def get(self, request: Request, conversation_id: uuid.UUID, name: str) -> HttpResponseBase:
        """Return the bytes of a file in the working directory, as a download."""
        conversation = readable_conversation(self.caller, conversation_id)
        self.require_asgi()
        headers = {**FILE_HEADERS, "Content-Disposition": content_disposition(name.rpartition("/")[2])}
        try:
            content = async_to_sync(_open)(
                conversation.pk, conversation.owner_id, name, is_head=request.method == "HEAD"
            )
        except (FileNotFoundError, NotRunning) as error:
            raise Problem(ProblemType.ABSENT, lost_file_sentence(error, name)) from None
        except SessionUnavailable as error:
            raise unavailable(str(error)) from None
        # Otherwise this thread would hold its database connection for as long as the download takes.
        close_connection()
        if content is None:
            return HttpResponse(content_type=BINARY, headers=headers)
        return StreamingHttpResponse(content, content_type=BINARY, headers=headers)


async def _open(
    conversation_id: uuid.UUID, owner_id: int, name: str, *, is_head: bool
) -> AsyncGenerator[bytes, None] | None:
    content = await open_file(conversation_id, owner_id, name)
    if not is_head:
        return content
    await content.aclose()
    return None


def lost_file_sentence(error: FileNotFoundError | NotRunning, name: str) -> str:
    """Return the sentence that says why a file cannot be read from the session any more."""
    return (FILE_ENDED if isinstance(error, NotRunning) else NO_FILE).format(name=name)


def _session_response(conversation_id: uuid.UUID) -> Response:
    session = find_session(conversation_id) or PythonSession()
    state = SessionState(conversation_id, session, has_run_other_version(session), can_replay(session))
    return Response(PythonSessionSerializer(state).data)
