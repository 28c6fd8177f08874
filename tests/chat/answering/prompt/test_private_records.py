"""Which earlier answers go back to a model in a private conversation."""

from __future__ import annotations

import pytest

from attachments.models import Attachment
from chat.answering.prompt.private_records import is_left_out, without_data
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Message, Turn
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Refusal,
    Role,
    Text,
)

TABLE = Attachment(name="t.csv", mime_type="text/csv")
CALLED: list[Part] = [FunctionCall("f", {}, "c"), FunctionResponse("f", {}, "c", refusal=Refusal.PRIVATE)]


def question(*files: Attachment) -> MessageRecord:
    placed = [PlacedAttachment(file, index, None) for index, file in enumerate(files)]
    return MessageRecord(Message(role=Role.USER, text="go"), attachments=placed)


def answer(*parts: Part, is_private: bool = False, engine: str = "") -> MessageRecord:
    return MessageRecord(Message(role=Role.MODEL), Turn(private_data=is_private, engine=engine), parts=[*parts])


def left_out(*records: MessageRecord, project_files: tuple[Attachment, ...] = ()) -> list[bool]:
    return [is_left_out(record) for record in without_data(records, project_files) if record.turn]


def test_earlier_answers_are_left_out_of_private_requests_after_data_was_attached() -> None:
    text = answer(Text("It is 3."))
    assert left_out(question(), text, question(TABLE), text, question(), text) == [False, True, True]
    assert left_out(question(), text, project_files=(TABLE,)) == [True]
    # The model of this answer got the state of the session, which may hold variables of other versions.
    assert left_out(question(), answer(Text("It is 3."), engine="session")) == [True]


@pytest.mark.parametrize(
    "part", [CodeExecutionResult("1"), FunctionResponse("f"), Display({"text/plain": "1"}), InlineData("image/png")]
)
def test_earlier_answers_with_results_of_code_or_functions_are_left_out_of_private_requests(part: Part) -> None:
    assert left_out(question(), answer(Text("It is 3."), part), question(), answer(Text("So 3."))) == [True, True]


def test_private_answers_are_sent_back_if_their_results_were_filtered() -> None:
    assert left_out(question(TABLE), answer(*CALLED, Text("It is 3."), is_private=True)) == [False]
    assert left_out(question(TABLE), answer(CodeExecutionResult("1"), is_private=True)) == [True]
    shown = CodeExecutionResult("1", made_by="c")
    assert left_out(question(TABLE), answer(*CALLED, shown, is_private=True)) == [False]
