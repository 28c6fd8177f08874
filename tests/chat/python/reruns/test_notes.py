"""Notes of the server in stored output."""

from __future__ import annotations

from chat.python.reruns.notes import without_notes
from chat.python.sessions.files import NOT_PLACED
from chat.python.sessions.limits import PERSON_HAS_ALL, SERVER_IS_FULL
from chat.python.sessions.run import STARTED_ANEW
from chat.python.sessions.session_kernel import IS_BUSY
from chat.python.tool_set.outputs import OutputParts
from chat.vocabulary.parts import CodeExecutionResult

NOTES = (
    IS_BUSY,
    SERVER_IS_FULL.format(limit=8),
    PERSON_HAS_ALL.format(limit=2),
    STARTED_ANEW.format(note="It was [idle]."),
    NOT_PLACED.format(label="a [1].csv", error="Storage does not answer."),
)


def test_notes_of_the_server_are_removed_from_an_output_but_not_printed_lines_like_them() -> None:
    outputs = OutputParts()
    for note in NOTES:
        outputs.add_note(note)
    [part] = outputs.take()
    assert isinstance(part, CodeExecutionResult)
    printed = f"[1, 2]\n[{IS_BUSY}]\n"
    assert without_notes(part.long_text + printed) == printed
