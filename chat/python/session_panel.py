"""The panel of the Python session beside a transcript: `#session-state`."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from chat.models import Conversation, PythonSession, Turn
from chat.page.rendering.jinja import render
from chat.python.sessions.branch import can_replay, has_run_other_version
from chat.python.sessions.lifetime import seconds_left
from chat.python.sessions.places import TURNED_OFF, is_enabled
from chat.python.table_readings.placed_tables import placed_expressions
from chat.vocabulary.parts import JSONObject

State = PythonSession.State

NOT_STARTED = "No session yet. It starts when code runs in it."
SENTENCES = {
    State.STOPPED: "Not running.",
    State.STARTING: "Starting…",
    State.STOPPING: "Ending…",
    State.ERROR: "It could not be started.",
}


@dataclass(frozen=True, slots=True)
class VariableView:
    """One variable of the session."""

    name: str
    type: str
    size: str
    """The shape of the value, or its size in memory."""
    preview: str


@dataclass(frozen=True, slots=True)
class FileView:
    """One file in the working directory."""

    name: str
    size_bytes: int
    url: str
    read_as: str = ""
    """Code that reads the file's table as the preview shows it; empty for files without a preview."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """The state of a session, as the panel shows it."""

    state: str
    sentence: str
    note: str = ""
    execution_count: int = 0
    is_busy: bool = False
    is_other_branch: bool = False
    can_replay: bool = False
    """Whether variables of the shown code are lost. Running all code again would restore them."""
    seconds_left: int | None = None
    """Seconds until the unused session ends. `None`: the session has no kernel, or runs code."""
    is_kept: bool = False
    variables: Sequence[VariableView] = ()
    files: Sequence[FileView] = ()


def panel_html(conversation_id: uuid.UUID) -> SafeString:
    """Render the panel's state."""
    conversation = Conversation.objects.only("nightly", "pinned_at").filter(pk=conversation_id).first()
    session = PythonSession.objects.filter(conversation=conversation_id).first()
    return render("chat/_session", {"session": _view(conversation_id, session), "conversation": conversation})


def _view(conversation_id: uuid.UUID, session: PythonSession | None) -> SessionView:
    if session is None:
        return SessionView(State.STOPPED, NOT_STARTED if is_enabled() else TURNED_OFF)
    is_busy = session.is_busy
    return SessionView(
        state=session.state,
        sentence=_sentence(session, is_busy=is_busy),
        note=session.note,
        execution_count=session.execution_count,
        is_busy=is_busy,
        is_other_branch=has_run_other_version(session),
        can_replay=can_replay(session),
        seconds_left=seconds_left(session),
        is_kept=session.is_kept,
        variables=[_variable(variable) for variable in session.variables],
        files=_files(session),
    )


def _sentence(session: PythonSession, *, is_busy: bool) -> str:
    if session.state != State.RUNNING:
        return SENTENCES[State(session.state)]
    if not is_busy:
        return "Ready." + _since(session.started_at)
    is_own = Turn.objects.live_of_everyone().filter(message=session.last_message_id, chosen__own_code=True).exists()
    return ("Your code is running." if is_own else "Code is running.") + _since(session.started_at)


def _since(started_at: datetime | None) -> str:
    if started_at is None:
        return ""
    if timezone.now() - started_at < timedelta(minutes=1):
        return " Started just now."
    return f" Started {timesince(started_at, depth=1)} ago."


def _variable(variable: JSONObject) -> VariableView:
    shape, size_bytes = variable.get("shape"), variable.get("size_bytes")
    size = ""
    if isinstance(shape, list) and shape:
        size = " × ".join(f"{length:,}" for length in shape)
    elif isinstance(size_bytes, int):
        size = filesizeformat(size_bytes)
    return VariableView(str(variable["name"]), str(variable["type"]), size, str(variable.get("preview", "")))


def _files(session: PythonSession) -> list[FileView]:
    code = placed_expressions(session.placed_files) if session.files else {}
    return [_file(session.conversation_id, file, code) for file in session.files]


def _file(conversation_id: uuid.UUID | None, file: JSONObject, code: Mapping[str, str]) -> FileView:
    name, size_bytes = str(file["name"]), file["size_bytes"]
    url = reverse("api-session-file", args=[conversation_id, name])
    return FileView(name, size_bytes if isinstance(size_bytes, int) else 0, url, code.get(name, ""))
