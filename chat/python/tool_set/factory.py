"""Makes the tool set of the Python session for turns. `settings.TOOL_SETS` names `python_tools`."""

from __future__ import annotations

import tomllib
import uuid
from collections.abc import Collection, Sequence
from pathlib import Path

from attachments.models import Attachment
from chat.answering.code_tools import TableNote
from chat.messages.tool_sets import results_need_release
from chat.models import PythonSession, Turn
from chat.models.plain_sql import select_rows
from chat.python.sessions.files import is_kept_in_session, labels_of
from chat.python.sessions.places import TURNED_OFF, is_enabled
from chat.python.table_readings.live_readings import reading_for_turn
from chat.python.table_readings.model_notes import table_note
from chat.python.table_readings.stored_readings import stored_readings
from chat.python.table_readings.table_files import can_hold_table
from chat.python.tool_set.declarations import RUN_PYTHON
from chat.python.tool_set.engine_rules import choose_engine, reason_to_move
from chat.python.tool_set.tool_set import PythonSessionTools
from chat.vocabulary.file_labels import native_name
from chat.vocabulary.parts import Engine

READING_LIMIT_S = 20.0
"""Maximum time that a turn waits for the readings of its tables. They are begun when files are uploaded."""
IN_SESSION = "[The file {name} ({size:,} bytes) is in the working directory of the Python session, as “{label}”.]"


class PythonTools:
    """Makes the tool sets of turns, and implements `CodeTools`."""

    function = RUN_PYTHON
    own_code_reason = "You ran this code in the Python session."
    too_large = "The files are too large to be sent to the model's service, so code runs in the Python session."
    instruction = "python_session"
    choose_engine = staticmethod(choose_engine)
    reason_to_move = staticmethod(reason_to_move)
    takes_file = staticmethod(is_kept_in_session)

    def __init__(self) -> None:
        """Read the default instructions from `instructions.toml`."""
        texts = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8"))
        self.instructions = {name: text.strip() for name, text in texts.items()}

    def __call__(self, turn: Turn) -> PythonSessionTools | None:
        """Return the tool set for a turn; `None` if its code may not run in the session."""
        return PythonSessionTools(turn) if turn.engine == Engine.SESSION or turn.offers_session else None

    def obstacle(self) -> str:
        """Return a sentence if this server has no Python sessions, else an empty text."""
        return "" if is_enabled() else TURNED_OFF

    def with_state(self, conversation_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
        """Return the conversations that have a running session. Runs one query."""
        running = select_rows(
            PythonSession,
            "conversation_id IN %s AND state = %s",
            [*conversation_ids],
            PythonSession.State.RUNNING.value,
            columns="id, conversation_id",
        )
        return {session.conversation_id for session in running if session.conversation_id}

    def file_notes(self, files: Sequence[Attachment], *, is_private: bool) -> dict[uuid.UUID, str]:
        """Return a sentence about each file that is only in the session, with the name by which code finds it."""
        labels = labels_of(files)
        return {
            file.pk: IN_SESSION.format(name=file.name, size=file.size_bytes, label=labels[file.pk])
            for file in files
            if is_private or is_kept_in_session(file)
        }

    async def read_tables(self, files: Sequence[Attachment], earlier: Sequence[Attachment]) -> None:
        """Wait at most `READING_LIMIT_S` until all these tables are read, so that requests describe them."""
        await reading_for_turn(files, READING_LIMIT_S, earlier)

    def table_notes(self, files: Sequence[Attachment], turn: Turn) -> dict[uuid.UUID, TableNote]:
        """Return the notes about tables whose reading is stored, with the names by which code finds the files."""
        is_native, is_private = turn.engine == Engine.NATIVE, turn.private_data
        labels = {pk: native_name(label) if is_native else label for pk, label in labels_of(files).items()}
        tables = [file for file in files if can_hold_table(file)]
        # If a person must release results first, leave out notes of files that only the session has: they quote cells.
        needs_release = results_need_release(turn.conversation) and not is_private
        told = [file for file in tables if not (needs_release and is_kept_in_session(file))]
        readings = stored_readings({file.pk for file in told}) if told else {}
        return {
            file.pk: table_note(readings[file.pk], file, labels[file.pk], is_private=is_private)
            for file in told
            if file.pk in readings
        }


python_tools = PythonTools()
